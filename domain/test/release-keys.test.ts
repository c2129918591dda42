import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { maxReleaseKeyRotations } from '@portcullis/contract/agent-limits.ts'
import { packageProofText } from '@portcullis/contract/agent-signed-texts.ts'
import type { ReleaseKeyRotation } from '@portcullis/contract/release-keys.ts'
import { describe, expect, it } from 'vitest'
import { isSignedBuild, releaseKeyFingerprint } from '../src/agent-package.ts'
import {
  followRotations,
  formatReleaseKeyFile,
  isReleaseKeyRotation,
  newestReleaseKey,
  parseReleaseKeyFile,
} from '../src/release-keys.ts'
import { releaseKeyFileOf, releaseKeyPair, rotationOf } from '../src/testing.ts'

const [k1, k2, k3, foreign] = [releaseKeyPair(), releaseKeyPair(), releaseKeyPair(), releaseKeyPair()]
const toK2 = rotationOf(k1, k2, 1)
const toK3 = rotationOf(k2, k3, 2)
const otherKind = generateKeyPairSync('ed448')
const textOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'der' }).toString('base64')

describe('a signed build', () => {
  const statement = { version: '1.2.3', architecture: 'x64', sha256: 'a'.repeat(64), size: 9 }
  const build = (key: { privateKey: KeyObject; text: string }) => ({
    ...statement,
    releaseKey: key.text,
    signature: sign(null, Buffer.from(packageProofText(statement)), key.privateKey).toString('base64'),
  })

  it('is signed by the key that it names, over all of its members', () => {
    expect(isSignedBuild(build(k1))).toBe(true)
    expect(isSignedBuild({ ...build(k1), releaseKey: k2.text })).toBe(false)
    for (const change of [{ version: '1.2.4' }, { architecture: 'arm64' }, { sha256: 'b'.repeat(64) }, { size: 8 }])
      expect(isSignedBuild({ ...build(k1), ...change })).toBe(false)
  })

  it('is refused if its key is of another kind or no key', () => {
    expect(isSignedBuild(build({ privateKey: otherKind.privateKey, text: textOf(otherKind.publicKey) }))).toBe(false)
    expect(isSignedBuild({ ...build(k1), releaseKey: 'AAAA' })).toBe(false)
  })
})

describe('a rotation statement', () => {
  it('has the shape that keys write', () => {
    expect(isReleaseKeyRotation(toK2)).toBe(true)
    expect(isReleaseKeyRotation({ ...toK2, sequence: 1_000_000 })).toBe(true)
  })

  it.each<[string, unknown]>([
    ['nothing', null],
    ['a text', 'rotation'],
    ...[0, -1, 1.5, '1', 1_000_001, undefined].map((sequence): [string, unknown] => [
      `the sequence ${sequence}`,
      { ...toK2, sequence },
    ]),
    ...[1, `x${toK2.previous}`, `${toK2.previous}0`, toK2.previous.toUpperCase().replace(/^./, 'F')].map(
      (previous): [string, unknown] => [`the previous key ${previous}`, { ...toK2, previous }],
    ),
    ...[1, 'AAAA', ` ${k2.text}`, `${k2.text} `, textOf(otherKind.publicKey)].map((releaseKey): [string, unknown] => [
      `the key ${releaseKey}`,
      { ...toK2, releaseKey },
    ]),
    ['no key, of the right length', { ...toK2, releaseKey: `${'A'.repeat(59)}=` }],
    ...[1, '2031-05-04', `x${toK2.rotatedAt}`, `${toK2.rotatedAt}x`, '2031-05-04Tab:cd:ef.000Z'].map(
      (rotatedAt): [string, unknown] => [`the time ${rotatedAt}`, { ...toK2, rotatedAt }],
    ),
    ...[1, 'AAAA', ` ${toK2.signature}`, `${toK2.signature} `].map((signature): [string, unknown] => [
      `the signature ${signature}`,
      { ...toK2, signature },
    ]),
  ])('with %s is invalid', (_, value) => {
    expect(isReleaseKeyRotation(value)).toBe(false)
  })
})

describe('rotations of the release key', () => {
  const from = { releaseKey: k1.text, sequence: 0 }

  it('lead to the newest key in any order', () => {
    const newest = { releaseKey: k3.text, sequence: 2, accepted: [toK2, toK3] }
    expect(followRotations(from, [toK2, toK3])).toEqual(newest)
    expect(followRotations(from, [toK3, toK2])).toEqual(newest)
    expect(newestReleaseKey(releaseKeyFileOf(k1, [toK2, toK3]))).toEqual({ releaseKey: k3.text, sequence: 2 })
    expect(newestReleaseKey(releaseKeyFileOf(k1))).toEqual(from)
  })

  it.each<[string, ReleaseKeyRotation]>([
    ['signed by another key', rotationOf(k1, foreign, 1, foreign)],
    ['of another chain', rotationOf(foreign, k2, 1)],
    ['that name another previous key', { ...rotationOf(k1, k2, 1), previous: foreign.fingerprint }],
    ['whose date was changed', { ...toK2, rotatedAt: '2041-05-04T10:11:12.000Z' }],
    ['whose signature is malformed', { ...toK2, signature: 'AAAA' }],
  ])('%s are skipped', (_, rotation) => {
    expect(followRotations(from, [rotation])).toEqual({ ...from, accepted: [] })
  })

  it('with a sequence number that was reached are skipped', () => {
    expect(followRotations({ ...from, sequence: 1 }, [toK2]).accepted).toEqual([])
    expect(followRotations(from, [toK2, rotationOf(k2, foreign, 1)]).releaseKey).toBe(k2.text)
  })

  it('of an invalid key are skipped', () => {
    const noKey = { releaseKey: 'AAAA', sequence: 0 }
    const statement = { ...toK2, previous: releaseKeyFingerprint('AAAA') }
    expect(followRotations(noKey, [statement])).toEqual({ ...noKey, accepted: [] })
  })

  it('signed by a key of another kind are skipped', () => {
    const odd = { privateKey: otherKind.privateKey, text: textOf(otherKind.publicKey), fingerprint: '' }
    odd.fingerprint = releaseKeyFingerprint(odd.text)
    expect(followRotations({ releaseKey: odd.text, sequence: 0 }, [rotationOf(odd, k2, 1)]).accepted).toEqual([])
  })
})

describe('a public release key file', () => {
  it('is written as JSON that begins with its format, and is read as written', () => {
    const file = releaseKeyFileOf(k1, [toK2, toK3])
    const text = formatReleaseKeyFile(file)
    expect(text).toMatch(/^\{\n {2}"format": "portcullis-release-key",\n/)
    expect(text.endsWith('}\n')).toBe(true)
    expect(parseReleaseKeyFile(text)).toEqual(file)
    expect(parseReleaseKeyFile(JSON.stringify({ format: 'portcullis-release-key', releaseKey: k1.text }))).toEqual(
      releaseKeyFileOf(k1),
    )
  })

  const write = (change: object) => JSON.stringify({ format: 'portcullis-release-key', releaseKey: k1.text, ...change })
  const chain = (length: number) => {
    const keys = Array.from({ length: length + 1 }, releaseKeyPair)
    const rotations = keys.slice(1).map((key, i) => rotationOf(keys[i] ?? key, key, i + 1))
    return write({ releaseKey: keys[0]?.text, rotations })
  }
  const isNoFile = 'It is not a public release key file written by `portcullis release-key new`.'
  it.each<[string, string, string]>([
    ['an empty file', '', isNoFile],
    ['a number', '1', isNoFile],
    ['null', 'null', isNoFile],
    ['another JSON file', '{"format":"portcullis"}', isNoFile],
    [
      'a private key',
      k1.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      'It contains a private key. Name the public file that `portcullis release-key new` wrote next to it.',
    ],
    [
      'an encrypted private key',
      '-----BEGIN ENCRYPTED PRIVATE KEY-----',
      'It contains a private key. Name the public file that `portcullis release-key new` wrote next to it.',
    ],
    ['a key of another kind', write({ releaseKey: 'AAAA' }), 'Its release key is not an Ed25519 public key.'],
    ['rotations that are not a list', write({ rotations: {} }), 'It contains more than 60 rotations.'],
    ['a list that is too long', chain(maxReleaseKeyRotations + 1), 'It contains more than 60 rotations.'],
    ['an invalid rotation', write({ rotations: [toK2, {}] }), 'Rotation 2 is not a rotation statement.'],
    [
      'a broken chain',
      write({ rotations: [toK3] }),
      'A rotation in it is not signed by the previous key, or its sequence number does not increase.',
    ],
  ])('refuses %s', (_, text, reason) => {
    expect(() => parseReleaseKeyFile(text)).toThrow(new Error(reason))
  })

  it('may have 60 rotations', () => {
    expect(parseReleaseKeyFile(chain(maxReleaseKeyRotations)).rotations).toHaveLength(60)
  })
})
