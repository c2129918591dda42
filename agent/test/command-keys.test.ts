import { generateKeyPairSync, sign } from 'node:crypto'
import { agentRevocationText, commandKeyRotationText } from '@portcullis/contract/agent-protocol.ts'
import { publicKeyHash } from '@portcullis/domain'
import { describe, expect, it } from 'vitest'
import { createCommandKeys, verifyKeptBy } from '../src/command-keys.ts'
import type { Identity } from '../src/state.ts'

const keyPair = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const text = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  return { text, sign: (message: string) => sign(null, Buffer.from(message), privateKey).toString('base64') }
}
type Pair = ReturnType<typeof keyPair>
const [k0, k1, k2, k3, foreign, own] = [keyPair(), keyPair(), keyPair(), keyPair(), keyPair(), keyPair()]
const rotation = (from: Pair, to: Pair, number: number, signer = from) => {
  const statement = { number, oldKey: from.text, newKey: to.text, createdAt: '2031-05-04T10:11:12.000Z' }
  return { ...statement, signature: signer.sign(commandKeyRotationText(statement)) }
}

const setUp = (identity: Partial<Identity> = {}, amendIdentity?: (change: Partial<Identity>) => void) => {
  const stored: Partial<Identity>[] = []
  const reports: [string, string][] = []
  const keys = createCommandKeys({
    identity: { agentId: 'a', commandKey: k0.text, ...identity },
    publicKey: own.text,
    state: { amendIdentity: amendIdentity ?? ((change) => void stored.push(change)) },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    reports: { add: (code, message) => void reports.push([code, message]) },
  })
  return { keys, stored, reports }
}

describe('the command key of a host', () => {
  it('verifies what it signed, and nothing else', () => {
    const { keys } = setUp()
    expect(keys.id()).toBe(publicKeyHash(k0.text))
    expect([keys.verify('text', k0.sign('text')), keys.verify('text', k1.sign('text'))]).toEqual([true, false])
  })

  it('follows rotations, stores each reached key and keeps the former ones for data on disk', () => {
    const { keys, stored, reports } = setUp({ formerCommandKeys: [foreign.text] })
    const rotations = [rotation(k0, k1, 1), rotation(k1, k2, 2), rotation(k2, k3, 3)]
    expect(keys.learn(rotations)).toBe(true)
    expect(stored).toEqual([
      { commandKey: k3.text, commandKeyNumber: 3, formerCommandKeys: [k2.text, k1.text, k0.text, foreign.text] },
    ])
    expect(keys.id()).toBe(publicKeyHash(k3.text))
    const verified = [k0, k1, k2, k3, foreign, own].map((key) => [
      keys.verify('text', key.sign('text')),
      keys.verifyKept('text', key.sign('text')),
    ])
    expect(verified).toEqual([
      [false, true],
      [false, true],
      [false, true],
      [true, true],
      [false, true],
      [false, false],
    ])
    expect(reports).toEqual([])
    // The key in force is the one that was reached.
    expect(keys.learn([rotation(k0, foreign, 3)])).toBe(false)
  })

  it('continues from the number of the key in force', () => {
    const { keys, reports } = setUp({ commandKeyNumber: 4 })
    expect(keys.learn([rotation(k0, k1, 4)])).toBe(false)
    expect(reports.map(([code]) => code)).toEqual(['command_key_refused'])
    expect(keys.learn([rotation(k0, k1, 5)])).toBe(true)
  })

  it('remembers 16 former keys', () => {
    const former = Array.from({ length: 16 }, keyPair)
    const { keys, stored } = setUp({ formerCommandKeys: former.map(({ text }) => text) })
    keys.learn([rotation(k0, k1, 1)])
    expect(stored[0]?.formerCommandKeys).toEqual([k0.text, ...former.slice(0, 15).map(({ text }) => text)])
    expect(keys.verifyKept('text', (former[15] ?? own).sign('text'))).toBe(false)
  })

  it('refuses and reports a forged rotation, and keeps a genuine one before it', () => {
    const { keys, reports, stored } = setUp()
    expect(keys.learn([rotation(k0, k1, 1), rotation(k1, foreign, 2, foreign)])).toBe(true)
    expect(stored).toEqual([{ commandKey: k1.text, commandKeyNumber: 1, formerCommandKeys: [k0.text] }])
    expect(reports).toEqual([
      ['command_key_refused', 'The agent refused a rotation of the command key because its signature does not verify.'],
    ])
  })

  it('is used even if it cannot be stored, and the failure is reported', () => {
    const { keys, reports } = setUp({}, () => {
      throw new Error('disk full')
    })
    expect(keys.learn([rotation(k0, k1, 1)])).toBe(true)
    expect(keys.verify('text', k1.sign('text'))).toBe(true)
    expect(reports).toEqual([['identity_write_failed', 'disk full']])
  })

  const good = rotation(k0, k1, 1)
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['an object', { 0: good, length: 1 }],
    ['null', [null]],
    ['half a number', [{ ...good, number: 1.5 }]],
    ['a string as number', [{ ...good, number: '1' }]],
    ['a key that is not a string', [{ ...good, newKey: 1 }]],
    ['a key in a list', [{ ...good, newKey: [k1.text] }]],
    ['a key with a line end', [{ ...good, newKey: `${k1.text}\n` }]],
    ['a key with a space', [{ ...good, newKey: ` ${k1.text}` }]],
    ['a long key', [{ ...good, newKey: 'A'.repeat(513) }]],
    ['a long key in force', [{ ...good, oldKey: 'A'.repeat(513) }]],
    ['a date with a line end', [{ ...good, createdAt: '2031\n' }]],
    ['a date with a space', [{ ...good, createdAt: ' 2031' }]],
    ['a long date', [{ ...good, createdAt: 'x'.repeat(65) }]],
    ['an empty date', [{ ...good, createdAt: '' }]],
    ['no signature', [{ ...good, signature: undefined }]],
    ['a long signature', [{ ...good, signature: 'A'.repeat(257) }]],
  ])('ignores %s instead of rotations without a report', (_, value) => {
    const { keys, stored, reports } = setUp()
    expect([keys.learn(value), stored, reports]).toEqual([false, [], []])
  })

  it('reads members of the greatest length', () => {
    const { keys, reports } = setUp({ commandKey: 'A'.repeat(512) })
    const longest = { ...good, oldKey: 'A'.repeat(512), createdAt: 'x'.repeat(64), signature: 'A'.repeat(256) }
    expect(keys.learn([longest])).toBe(false)
    // It was read, because it counts as forged.
    expect(reports).toHaveLength(1)
  })
})

describe('data on disk', () => {
  it('is verified by the key in force and the former ones', () => {
    const verify = verifyKeptBy({ commandKey: k0.text, formerCommandKeys: [k1.text] })
    expect([k0, k1, k2].map((key) => verify('text', key.sign('text')))).toEqual([true, true, false])
    expect(verifyKeptBy({ commandKey: k0.text })('text', k1.sign('text'))).toBe(false)
  })
})

describe('a revocation', () => {
  const revocation = (change: object = {}, signer = k0) => {
    const statement = {
      ...{ agentId: 'a', publicKeyHash: publicKeyHash(own.text), counter: 9, revokedAt: '2031-05-04T10:11:12.000Z' },
      ...change,
    }
    return { ...statement, signature: signer.sign(agentRevocationText(statement)) }
  }
  const { keys } = setUp()

  it('frees the host if the key in force or a later one signed it', () => {
    expect(keys.revocationFault({ revocation: revocation() }, 8)).toBeUndefined()
    const later = { revocation: revocation({}, k2), commandKeys: [rotation(k0, k1, 1), rotation(k1, k2, 2)] }
    expect(keys.revocationFault(later, 8)).toBeUndefined()
    // The rotations are not kept.
    expect(keys.verify('text', k2.sign('text'))).toBe(false)
  })

  it.each<[string, unknown, string]>([
    ['without a body', undefined, 'it is not signed'],
    ['without a statement', {}, 'it is not signed'],
    ['with another agent as a number', { revocation: { ...revocation(), agentId: 1 } }, 'it is not signed'],
    ['with a long agent', { revocation: revocation({ agentId: 'a'.repeat(129) }) }, 'it is not signed'],
    ['with a long hash', { revocation: revocation({ publicKeyHash: 'a'.repeat(65) }) }, 'it is not signed'],
    ['with half a counter', { revocation: revocation({ counter: 9.5 }) }, 'it is not signed'],
    ['with a date of two lines', { revocation: revocation({ revokedAt: 'a\nb' }) }, 'it is not signed'],
    ['with a long date', { revocation: revocation({ revokedAt: 'a'.repeat(65) }) }, 'it is not signed'],
    ['with a long signature', { revocation: { ...revocation(), signature: 'A'.repeat(257) } }, 'it is not signed'],
    [
      'of the longest texts',
      { revocation: revocation({ agentId: 'a'.repeat(128), revokedAt: 'a'.repeat(64) }) },
      'it is for another agent',
    ],
    ['of a foreign key', { revocation: revocation({}, foreign) }, 'its signature does not verify'],
    [
      'of a key that no rotation leads to',
      { revocation: revocation({}, k2), commandKeys: [rotation(k1, k2, 2)] },
      'its signature does not verify',
    ],
    ['of another agent', { revocation: revocation({ agentId: 'b' }) }, 'it is for another agent'],
    [
      'of another enrolment',
      { revocation: revocation({ publicKeyHash: publicKeyHash(k1.text) }) },
      'it is for another enrolment of this host',
    ],
    [
      'with the counter of the last command',
      { revocation: revocation({ counter: 8 }) },
      'its counter 8 is not higher than the last one (8)',
    ],
  ])('%s does not', (_, body, fault) => {
    expect(keys.revocationFault(body, 8)).toBe(fault)
  })
})
