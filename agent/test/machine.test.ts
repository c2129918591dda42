import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { plainKeyboard } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { AgentExit } from '../src/exit.ts'
import { completeMachine, isOtherMachine } from '../src/machine.ts'
import { startHost } from './enforcing.ts'
import { startAgent, until } from './harness.ts'

const ORIGINAL = 'b08dfa6083e7567a1921a715000001fc'
const COPY = 'c19efb7194f8678b2a32b826000002fc'

/** Starts an enrolled host with a machine ID. */
const startMachine = async () => {
  const host = await startHost({ devices: [plainKeyboard({ portPath: '1-1' })] })
  const setMachine = (id: string) => writeFileSync(join(host.etcRoot, 'machine-id'), `${id}\n`)
  const identity = () => JSON.parse(readFileSync(host.path('identity.json'), 'utf8'))
  setMachine(ORIGINAL)
  await host.restart()
  return { host, setMachine, identity }
}

describe('the machine of an identity', () => {
  it('differs if a hash that is known on both sides changed', () => {
    const both = { machineIdHash: 'a', smbiosHash: 'b' }
    const unknown = { machineIdHash: null, smbiosHash: null }
    expect(isOtherMachine(both, both)).toBe(false)
    expect(isOtherMachine(both, { ...both, smbiosHash: 'c' })).toBe(true)
    expect(isOtherMachine(both, { ...both, machineIdHash: 'c' })).toBe(true)
    expect(isOtherMachine(both, { ...both, machineIdHash: null })).toBe(false)
    expect(isOtherMachine({ ...both, smbiosHash: null }, { ...both, machineIdHash: 'c' })).toBe(true)
    expect(isOtherMachine(both, { machineIdHash: 'c', smbiosHash: null })).toBe(true)
    expect(isOtherMachine(both, { ...both, smbiosHash: null })).toBe(false)
    expect(isOtherMachine({ ...both, smbiosHash: null }, both)).toBe(false)
    expect(isOtherMachine(unknown, both)).toBe(false)
    expect(isOtherMachine(both, unknown)).toBe(false)
    expect(isOtherMachine(undefined, both)).toBe(false)
    // Version 0.2 stored the hash of the word that systemd writes into images.
    const image = { ...both, machineIdHash: createHash('sha256').update('portcullis:uninitialized').digest('hex') }
    expect(isOtherMachine(image, { ...both, machineIdHash: 'c' })).toBe(false)
    expect(completeMachine(image, both)).toEqual(both)
    expect(completeMachine({ ...both, smbiosHash: null }, { machineIdHash: 'x', smbiosHash: 'y' })).toEqual({
      machineIdHash: 'a',
      smbiosHash: 'y',
    })
  })

  it('is stored once it is known and keeps the identity over restarts', async () => {
    const { host, identity } = await startMachine()
    expect(identity().machine).toEqual({ machineIdHash: expect.stringMatching(/^[0-9a-f]{64}$/), smbiosHash: null })
    await host.restart()
    expect(host.peer.seen.enrols).toHaveLength(1)
  })

  it('makes a copy enrol again with a new key, in mode Free and without the changes of the original', async () => {
    const { host, setMachine, identity } = await startMachine()
    await host.arm()
    const original = identity()
    await host.stop()
    const change = { op: 'removed', portPath: '1-9', at: 1 }
    appendFileSync(host.path('spool.jsonl'), `${JSON.stringify({ kind: 'change', n: 1000, change })}\n`)
    setMachine(COPY)
    const before = host.peer.seen.checkIns.length
    host.begin()
    await until('enrolled again', () => host.peer.seen.enrols.length === 2)
    await until('free', () => host.tree.read('usb1', 'authorized_default') === '1')
    await until('checked in', () => host.peer.seen.checkIns.length > before)
    const [first, second] = host.peer.seen.enrols
    expect(second?.publicKey).not.toBe(first?.publicKey)
    expect(second?.machineIdHash).not.toBe(original.machine.machineIdHash)
    expect(identity().machine.machineIdHash).toBe(second?.machineIdHash)
    const bodies = host.peer.seen.checkIns.slice(before).map(({ body }) => JSON.stringify(body))
    expect(bodies.filter((body) => body.includes('"1-9"'))).toEqual([])
  })

  it('is another one if its machine ID was reset, although its hypervisor kept the UUID of its firmware', async () => {
    const { host, setMachine } = await startMachine()
    const dmi = join(host.tree.root, 'class/dmi/id')
    mkdirSync(dmi, { recursive: true })
    writeFileSync(join(dmi, 'product_uuid'), '4210ab3c-7d11-0d6f-9e1d-2b7c5f3a9e01\n')
    await host.restart()
    setMachine(COPY)
    await host.restart()
    const [first, second] = host.peer.seen.enrols
    expect([first?.smbiosHash, second?.smbiosHash]).toEqual([null, expect.stringMatching(/^[0-9a-f]{64}$/)])
    expect(second?.publicKey).not.toBe(first?.publicKey)
  })

  it('keeps a copy without a token from using the identity', async () => {
    const { host, setMachine, identity } = await startMachine()
    await host.stop()
    const original = identity()
    setMachine(COPY)
    const sessions = host.peer.seen.sessions.length
    const without = host.args.filter((arg) => arg !== '--token' && arg !== host.peer.token)
    const end = await startAgent(without).done
    expect(end).toBeInstanceOf(AgentExit)
    expect(end).toMatchObject({ code: 1, message: expect.stringContaining(`a copy of the host ${original.agentId}`) })
    expect(host.peer.seen.sessions).toHaveLength(sessions)
    expect(identity()).toEqual(original)
    // The original machine continues.
    setMachine(ORIGINAL)
    host.begin()
    await until('session', () => host.peer.seen.sessions.length > sessions)
    expect(host.peer.seen.enrols).toHaveLength(1)
    expect(existsSync(host.path('key.pem'))).toBe(true)
  })
})
