// Invariant: A host accepts a new command key only if its current key signed it.

import { generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { commandKeyRotationText } from '@portcullis/contract/agent-protocol.ts'
import { storageStick } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { rule, startHost } from './enforcing.ts'
import { until } from './harness.ts'

const stick = storageStick({ portPath: '1-1' })
const other = storageStick({ portPath: '1-2', serial: 'other' })
type Host = Awaited<ReturnType<typeof startHost>>
const held = (host: Host) =>
  JSON.parse(readFileSync(host.path('identity.json'), 'utf8')) as { commandKey: string; commandKeyNumber?: number }
/** Ends the session, so that the next check-in opens another one. */
const renew = async (host: Host) => {
  const before = host.peer.seen.sessions.length
  host.peer.expireSessions()
  await until('another session', () => host.peer.seen.sessions.length > before)
}
const armed = () => startHost({ devices: [stick], rules: [rule({ effect: 'deny', kinds: ['Mass Storage'] })] })

describe('rotation of the command key', () => {
  it('is stored durably at the next session, and an armed host stays armed', async () => {
    const host = await armed()
    expect(await host.arm()).toMatchObject({ outcome: 'confirmed' })
    const old = host.peer.rotate()
    await renew(host)
    await until('the new key', () => held(host).commandKey === host.peer.commandKey())
    expect(held(host).commandKeyNumber).toBe(1)
    expect(await host.change([])).toBeUndefined()
    // A command signed by the previous key is refused. The policy that the previous key signed stays valid.
    host.peer.command({ id: 'old', agentId: host.peer.only().id, kind: 'configure', counter: 9_999, mode: 'Free' }, old)
    await until('the refusal', () => host.errors().includes('command_refused'))
    await host.restart()
    host.tree.plug(other)
    await until('the other stick', () => host.reported('1-2') !== undefined)
    expect(host.tree.isAuthorized('1-2')).toBe(false)
    expect(host.errors()).not.toContain('policy_refused')
  })

  it('is applied in order by a host that was offline during several rotations', async () => {
    const host = await armed()
    expect(await host.arm()).toMatchObject({ outcome: 'confirmed' })
    await host.stop()
    for (let i = 0; i < 5; i++) host.peer.rotate()
    host.begin()
    await until('the newest key', () => held(host).commandKeyNumber === 5)
    expect(held(host).commandKey).toBe(host.peer.commandKey())
    // A former key signed the policy on disk, which stays in force.
    await host.restart()
    host.tree.plug(other)
    await until('the other stick', () => host.reported('1-2') !== undefined)
    expect([host.tree.isAuthorized('1-2'), host.errors().includes('policy_refused')]).toEqual([false, false])
    expect(await host.free()).toMatchObject({ outcome: 'confirmed' })
  })

  it('changes nothing if it is forged or leads to an earlier key', async () => {
    const host = await armed()
    expect(await host.arm()).toMatchObject({ outcome: 'confirmed' })
    const before = held(host).commandKey
    const { rotations } = host.peer
    const foreign = generateKeyPairSync('ed25519')
    const newKey = foreign.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
    const statement = { number: 1, oldKey: before, newKey, createdAt: '2026-11-22T17:00:00.000Z' }
    const signature = sign(null, Buffer.from(commandKeyRotationText(statement)), foreign.privateKey).toString('base64')
    // The peer sends these rotations, because it answers with all rotations after the key that the agent names.
    const genuine = host.peer.rotate()
    rotations[0] = { ...statement, signature }
    await renew(host)
    await until('the refusal', () => host.errors().includes('command_key_refused'))
    expect(held(host).commandKey).toBe(before)

    const good = { ...statement, newKey: host.peer.commandKey() }
    const signed = sign(null, Buffer.from(commandKeyRotationText(good)), genuine).toString('base64')
    rotations[0] = { ...good, signature: signed }
    await renew(host)
    await until('the new key', () => held(host).commandKeyNumber === 1)
    const now = held(host).commandKey
    // A rotation back to the first key has a lower number, although the key in force signed it.
    const back = { number: 1, oldKey: now, newKey: before, createdAt: '2026-11-22T17:00:00.000Z' }
    const inForce = host.peer.rotate()
    const backSignature = sign(null, Buffer.from(commandKeyRotationText(back)), inForce).toString('base64')
    rotations.splice(0, 2, { ...back, signature: backSignature })
    await renew(host)
    await until('the second refusal', () => host.errors().filter((code) => code === 'command_key_refused').length === 2)
    expect([held(host).commandKey, host.tree.isAuthorized('1-1')]).toEqual([now, false])
  })

  it('is optional: the agent works with a server that does not support it', async () => {
    const host = await startHost({ isBeforeRotations: true })
    expect(await host.order('collect-logs')).toMatchObject({ outcome: 'confirmed' })
  })
})

describe('a revocation', () => {
  type Forge = (host: Host) => object
  const foreignKey = generateKeyPairSync('ed25519').privateKey
  const lies: [string, Forge][] = [
    ['without a signature', () => ({})],
    ['signed by another key', (host) => ({ revocation: host.peer.revocationOf(host.peer.only(), {}, foreignKey) })],
    ['of another agent', (host) => ({ revocation: host.peer.revocationOf(host.peer.only(), { agentId: 'another' }) })],
    [
      'of another enrolment of the host',
      (host) => ({ revocation: host.peer.revocationOf(host.peer.only(), { publicKeyHash: 'a'.repeat(64) }) }),
    ],
    [
      'from before a command that came later',
      (host) => ({ revocation: host.peer.revocationOf(host.peer.only(), { counter: 1 }) }),
    ],
    [
      'whose text was changed',
      (host) => ({
        revocation: { ...host.peer.revocationOf(host.peer.only()), revokedAt: '2027-01-01T00:00:00.000Z' },
      }),
    ],
  ]
  it.each(lies)('%s keeps an armed host armed, and is reported', async (_, forge) => {
    const host = await armed()
    expect(await host.arm()).toMatchObject({ outcome: 'confirmed' })
    const genuine = host.peer.revocations.forge
    host.peer.revocations.forge = () => forge(host)
    host.peer.only().revoked = true
    const before = host.peer.seen.sessions.length
    await until('several questions', () => host.peer.seen.sessions.length > before + 3)
    host.tree.plug(other)
    await until('the other stick is blocked', () => host.tree.read('1-2', 'authorized') === '0')
    expect(host.tree.isAuthorized('1-1')).toBe(false)
    host.peer.only().revoked = false
    await until('the report', () => host.errors().includes('revocation_refused'))
    // The genuine revocation frees the host.
    host.peer.revocations.forge = genuine
    host.peer.only().revoked = true
    expect(await host.ended()).toMatchObject({ code: 3 })
    expect([host.tree.isAuthorized('1-1'), host.tree.isAuthorized('1-2')]).toEqual([true, true])
  })

  it('signed by a later command key is accepted after the rotations to that key', async () => {
    const host = await armed()
    expect(await host.arm()).toMatchObject({ outcome: 'confirmed' })
    host.peer.rotate()
    host.peer.rotate()
    host.peer.only().revoked = true
    expect(await host.ended()).toMatchObject({ code: 3 })
    expect(host.tree.isAuthorized('1-1')).toBe(true)
  })
})
