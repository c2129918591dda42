import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DeviceReport } from '@portcullis/contract/agent-protocol'
import { plainKeyboard, storageStick, unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../agent/test/harness.ts'
import { startPeer } from '../../agent/test/peer.ts'
import { bundleAgent } from '../../scripts/bundle-agent.mjs'
import { createWineRoot, type WineRoot, whyNoWine } from '../../scripts/wine/root.ts'

/** Serves orders to the guest, one per request. */
const startOrders = async () => {
  const waiting: object[] = []
  const server = createServer((_, response) => response.end(JSON.stringify(waiting.shift() ?? {})))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    plug: (plug: DeviceReport) => void waiting.push({ plug }),
    close: () => server.close(),
  }
}

describe(
  'an armed agent for Windows under Wine, with a stand-in for the calls that change devices',
  unless(whyNoWine()),
  () => {
    let root: WineRoot
    beforeAll(async () => {
      root = await createWineRoot()
      const { outputFiles } = await bundleAgent({
        entry: 'e2e/windows/guest/armed-agent.ts',
        outfile: 'agent.cjs',
        releaseKey: null,
        write: false,
      })
      root.add('agent.cjs', outputFiles?.[0]?.text ?? '')
      const key = 'HKLM\\Software\\Microsoft\\Windows NT\\CurrentVersion'
      root.run(`wine reg add '${key}' /v UBR /t REG_DWORD /d 3000 /f; wine reg add '${key}' /v CurrentBuildNumber /d 22631 /f
wine reg add '${key}' /v EditionID /d Professional /f; wineserver -w`)
    }, 600_000)
    afterAll(() => root?.remove())

    it('is armed by a command, blocks a new device, allows it after an approval, and is freed', async () => {
      const peer = await startPeer({ nextCheckInSeconds: 1 })
      const orders = await startOrders()
      const keyboard = plainKeyboard({ portPath: '1-1' })
      const stick = storageStick({ portPath: '1-2', serial: '4C530001230615119999' })
      orders.plug(keyboard)
      const run = root.start(
        `wine /agent/node.exe 'Z:\\agent\\agent.cjs' ${orders.url} --server ${peer.url} --token ${peer.token} </dev/null >agent.txt 2>&1; cat agent.txt`,
      )
      onTestFinished(async () => {
        await run.stop()
        await peer.stop()
        orders.close()
      })
      const output = { text: '' }
      void run.done.then((text) => (output.text = text))
      const acked = async (id: string) => {
        await until(`outcome of ${id}`, () => peer.seen.acks.some((ack) => ack.commandId === id), 60_000)
        return peer.seen.acks.find((ack) => ack.commandId === id)
      }
      await until('the keyboard', () => peer.seen.checkIns.length > 0 && peer.only().devices.has('1-1'), 120_000)
      expect(peer.seen.enrols[0]?.facts).toMatchObject({ enforcement: 'before-install' })

      const armed = await acked(peer.order('configure', { mode: 'Armed', applyToPresent: false }))
      expect([armed?.outcome, armed?.message, output.text]).toEqual(['confirmed', '', ''])
      orders.plug(stick)
      await until('the block', () => peer.only().devices.get('1-2')?.enforced?.effect === 'block', 30_000)
      expect(peer.only().devices.get('1-2')?.authorized).toBe(false)
      expect(peer.only().devices.get('1-1')).toMatchObject({ authorized: true, enforced: { guard: 'present' } })

      const began = performance.now()
      peer.policy.rules = [{ id: 'stick', effect: 'allow', level: 'host', vid: '0781', pid: '5581' }]
      peer.policy.version++
      await acked(peer.order('policy', { version: peer.policy.version }))
      await until('the approval', () => peer.only().devices.get('1-2')?.authorized === true, 30_000)
      console.log(`an approval reached the device after ${Math.round(performance.now() - began)} ms`)

      expect(await acked(peer.order('configure', { mode: 'Free', applyToPresent: false }))).toMatchObject({
        outcome: 'confirmed',
      })
      expect(peer.seen.violations).toEqual([])
      await run.stop()
      const left = root.run(
        `wine reg query 'HKLM\\Software\\Policies\\Microsoft\\Windows\\DeviceInstall' /s; wine reg query 'HKLM\\Software\\PortcullisEnforcement' /s`,
      ).all
      expect(left).not.toContain('PORTCULLIS')
      expect(left).not.toContain('DenyRemovableDevices')
    }, 300_000)
  },
)
