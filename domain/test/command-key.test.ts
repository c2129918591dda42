import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { agentRevocationText, commandKeyRotationText } from '@portcullis/contract/agent-signed-texts.ts'
import type { AgentRevocation, CommandKeyRotation } from '@portcullis/contract/command-keys.ts'
import { describe, expect, it } from 'vitest'
import { followCommandKeys, isSignedBy, isSignedRevocation, publicKeyHash } from '../src/command-key.ts'

const textOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'der' }).toString('base64')
const keyPair = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { privateKey, text: textOf(publicKey) }
}
type Pair = ReturnType<typeof keyPair>
const signed = (key: Pair, text: string): string => sign(null, Buffer.from(text), key.privateKey).toString('base64')
const rotation = (from: Pair, to: { text: string }, number: number, signer = from): CommandKeyRotation => {
  const statement = { number, oldKey: from.text, newKey: to.text, createdAt: '2031-05-04T10:11:12.000Z' }
  return { ...statement, signature: signed(signer, commandKeyRotationText(statement)) }
}
const [k0, k1, k2, foreign] = [keyPair(), keyPair(), keyPair(), keyPair()]
const held = { key: k0.text, number: 0 }

describe('a signature of a command key', () => {
  it('is accepted only over the same text and by the same key', () => {
    const signature = signed(k0, 'text')
    expect(isSignedBy(k0.text, 'text', signature)).toBe(true)
    expect(isSignedBy(k0.text, 'texts', signature)).toBe(false)
    expect(isSignedBy(k1.text, 'text', signature)).toBe(false)
    expect(isSignedBy(k0.text, 'text', '')).toBe(false)
  })

  it('is refused if the key is of another kind or no key at all', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed448')
    expect(isSignedBy(textOf(publicKey), 'text', signed({ privateKey, text: '' }, 'text'))).toBe(false)
    expect(isSignedBy('AAAA', 'text', signed(k0, 'text'))).toBe(false)
    expect(isSignedBy(k0.text, 'text', undefined as unknown as string)).toBe(false)
  })

  it('is named by the SHA-256 of the key in hex', () => {
    expect(publicKeyHash(k0.text)).toBe(createHash('sha256').update(Buffer.from(k0.text, 'base64')).digest('hex'))
  })
})

describe('rotations of the command key', () => {
  it('lead from the key in force to later keys, oldest first', () => {
    expect(followCommandKeys(held, [rotation(k0, k1, 1), rotation(k1, k2, 4)])).toEqual({
      after: [
        { key: k1.text, number: 1 },
        { key: k2.text, number: 4 },
      ],
      isForged: false,
    })
  })

  it('of other keys are skipped and do not count as forged', () => {
    const rotations = [rotation(foreign, k2, 1), rotation(k0, k1, 1)]
    expect(followCommandKeys(held, rotations)).toEqual({ after: [{ key: k1.text, number: 1 }], isForged: false })
    expect(followCommandKeys(held, [])).toEqual({ after: [], isForged: false })
  })

  it.each<[string, CommandKeyRotation]>([
    ['signed by its own new key', rotation(k0, foreign, 1, foreign)],
    ['with the number of the key in force', rotation(k0, k1, 0)],
    ['whose number was changed', { ...rotation(k0, k1, 1), number: 2 }],
    ['whose new key was changed', { ...rotation(k0, k1, 1), newKey: foreign.text }],
    ['to something that is not a key', rotation(k0, { text: 'AAAA' }, 1)],
  ])('%s are forged, and no later one counts', (_, forged) => {
    expect(followCommandKeys(held, [forged, rotation(k0, k1, 3)])).toEqual({ after: [], isForged: true })
  })

  it('that were genuine stay if a later one is forged', () => {
    const rotations = [rotation(k0, k1, 1), rotation(k1, foreign, 2, foreign), rotation(k1, k2, 3)]
    expect(followCommandKeys(held, rotations)).toEqual({ after: [{ key: k1.text, number: 1 }], isForged: true })
  })

  it('are read up to the thousandth', () => {
    const others = Array.from({ length: 1_000 }, () => rotation(foreign, k2, 1))
    expect(followCommandKeys(held, [...others.slice(1), rotation(k0, k1, 1)]).after).toHaveLength(1)
    expect(followCommandKeys(held, [...others, rotation(k0, k1, 1)]).after).toEqual([])
  })
})

describe('a revocation', () => {
  const statement = { agentId: 'a', publicKeyHash: 'b'.repeat(64), counter: 4, revokedAt: '2031-05-04T10:11:12.000Z' }
  const revocation: AgentRevocation = { ...statement, signature: signed(k1, agentRevocationText(statement)) }

  it('counts if one of the keys signed it', () => {
    expect(isSignedRevocation(revocation, [k0.text, k1.text])).toBe(true)
    expect(isSignedRevocation(revocation, [k0.text, k2.text])).toBe(false)
    expect(isSignedRevocation(revocation, [])).toBe(false)
    expect(isSignedRevocation({ ...revocation, counter: 5 }, [k1.text])).toBe(false)
  })
})
