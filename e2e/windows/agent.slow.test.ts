import { HostFacts } from '@portcullis/contract/agent-protocol.ts'
import { plainKeyboard, storageStick, unless } from '@portcullis/domain/testing'
import { Value } from 'typebox/value'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../agent/test/harness.ts'
import { startPeer } from '../../agent/test/peer.ts'
import { bundleForWine } from '../../proof/kit/windows/bundle.ts'
import { fixtures, startOrders } from '../../proof/kit/windows/orders.ts'
import { bundleAgent } from '../../scripts/bundle-agent.mjs'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'

describe('the agent for Windows under Wine', unless(whyNoWine()), () => {
  let root: WineRoot
  beforeAll(async () => {
    root = await createWineRoot()
    const { outputFiles } = await bundleAgent({
      entry: 'agent/src/platform/windows/main.ts',
      outfile: 'agent.cjs',
      releaseKey: null,
      write: false,
    })
    root.add('agent.cjs', outputFiles?.[0]?.text ?? '')
    root.add('plug.cjs', await bundleForWine('e2e/windows/guest/plug.ts'))
  }, 600_000)
  afterAll(() => root?.remove())

  it('enrols, reports devices as they are attached and removed, and refuses to be armed', async () => {
    const peer = await startPeer({ nextCheckInSeconds: 1 })
    const orders = await startOrders()
    const keyboard = plainKeyboard({ portPath: '1-1' })
    const stick = storageStick({ portPath: '1-2', serial: '4C530001230615119999' })
    orders.send({ attach: fixtures(keyboard) })
    const run = root.start(`
wine /agent/node.exe 'Z:\\agent\\plug.cjs' ${orders.url} </dev/null >plug.txt 2>&1 &
wine /agent/node.exe 'Z:\\agent\\agent.cjs' --server ${peer.url} --token ${peer.token} </dev/null >agent.txt 2>&1
cat plug.txt agent.txt`)
    onTestFinished(async () => {
      await run.stop()
      await peer.stop()
      orders.close()
    })
    void run.done.then((output) => console.log(output))
    await until('the keyboard', () => peer.seen.checkIns.length > 0 && peer.only().devices.has('1-1'), 60_000)
    const { facts } = peer.seen.enrols[0] ?? {}
    expect(Value.Check(HostFacts, facts)).toBe(true)
    expect(facts).toMatchObject({ osName: expect.stringMatching(/^Windows/), enforcement: 'observe' })

    const began = performance.now()
    orders.send({ attach: fixtures(stick) })
    await until('the stick', () => peer.only().devices.has('1-2'))
    const arrivalMs = performance.now() - began
    console.log(`a stick was reported ${Math.round(arrivalMs)} ms after it was attached`)
    expect(peer.only().devices.get('1-2')?.serial).toBe(stick.serial)

    const id = peer.order('configure', { mode: 'Armed', applyToPresent: false })
    await until('the refusal', () => peer.seen.acks.some((ack) => ack.commandId === id))
    expect(peer.seen.acks.find((ack) => ack.commandId === id)).toMatchObject({ outcome: 'failed' })

    orders.send({ remove: fixtures(stick).map(({ instanceId }) => instanceId) })
    await until('its removal', () => !peer.only().devices.has('1-2'))
    expect(peer.seen.violations).toEqual([])
  }, 180_000)
})
