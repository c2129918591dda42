import { createHash, createHmac, randomBytes } from 'node:crypto'
import { Secret } from '@portcullis/platform/server/secret.ts'
import { describe, expect, it } from 'vitest'
import { createKnowledgeSeals, type SealedSet } from './seal.ts'

const secret = randomBytes(32)
const seals = createKnowledgeSeals(new Secret(secret))
const mac = (parts: unknown[]) => createHmac('sha256', secret).update(JSON.stringify(parts)).digest()
const set: SealedSet = {
  set_id: '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f',
  version: '2031.4',
  state: 'Candidate',
  created_at: new Date('2031-05-01T00:00:00Z'),
  fingerprint: 'a'.repeat(64),
  base_id: null,
  files: '{"vulnerable":[]}',
}

describe('the seal of a knowledge set', () => {
  it('matches its own set', () => {
    expect(seals.isSet({ ...set, seal: seals.ofSet(set) })).toBe(true)
    expect(seals.ofSet(set)).toHaveLength(32)
  })

  it('stays valid from release to release', () => {
    const { set_id, version, state, created_at, fingerprint, base_id, files } = set
    const digest = createHash('sha256').update(files).digest('hex')
    const parts = ['set', set_id, version, state, created_at.toISOString(), fingerprint, base_id, digest]
    expect(seals.ofSet(set)).toEqual(mac(parts))
  })

  it.each<[keyof SealedSet, Partial<SealedSet>]>([
    ['set_id', { set_id: '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e40' }],
    ['version', { version: '2031.5' }],
    ['state', { state: 'In force' }],
    ['created_at', { created_at: new Date('2031-05-01T00:00:00.001Z') }],
    ['fingerprint', { fingerprint: 'b'.repeat(64) }],
    ['base_id', { base_id: '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e41' }],
    ['files', { files: '{"vulnerable":[{}]}' }],
  ])('is invalid for another %s', (_field, change) => {
    expect(seals.isSet({ ...set, ...change, seal: seals.ofSet(set) })).toBe(false)
  })

  it('is invalid with another key or when truncated', () => {
    const others = createKnowledgeSeals(new Secret(randomBytes(32)))
    expect(seals.isSet({ ...set, seal: others.ofSet(set) })).toBe(false)
    expect(seals.isSet({ ...set, seal: seals.ofSet(set).subarray(0, 31) })).toBe(false)
  })
})

describe('the seal of a trusted key', () => {
  const publicKey = randomBytes(44)
  const row = { fingerprint: 'a'.repeat(64), public_key: publicKey, seal: seals.ofKey('a'.repeat(64), publicKey) }

  it('matches only this key with this fingerprint', () => {
    expect(seals.isKey(row)).toBe(true)
    expect(seals.isKey({ ...row, fingerprint: 'b'.repeat(64) })).toBe(false)
    expect(seals.isKey({ ...row, public_key: randomBytes(44) })).toBe(false)
  })

  it('stays valid from release to release', () => {
    expect(row.seal).toEqual(mac(['key', row.fingerprint, publicKey.toString('base64')]))
  })

  it('is never valid as the seal of a set', () => {
    expect(seals.isSet({ ...set, seal: row.seal })).toBe(false)
  })
})
