import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Secret } from '@portcullis/platform/server/secret.ts'

/** The part of a set that affects verdicts. */
export interface SealedSet {
  set_id: string
  version: string
  state: string
  created_at: Date
  fingerprint: string
  base_id: string | null
  files: string
}

/** Seals rows that this server writes. A row that someone inserts into the database directly has no valid seal. */
export const createKnowledgeSeals = (key: Secret<Buffer>) => {
  const mac = (parts: readonly unknown[]): Buffer =>
    createHmac('sha256', key.reveal()).update(JSON.stringify(parts)).digest()
  const same = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b)
  const ofSet = (s: SealedSet): Buffer =>
    mac([
      'set',
      s.set_id,
      s.version,
      s.state,
      s.created_at.toISOString(),
      s.fingerprint,
      s.base_id,
      createHash('sha256').update(s.files).digest('hex'),
    ])
  const ofKey = (fingerprint: string, publicKey: Buffer): Buffer =>
    mac(['key', fingerprint, publicKey.toString('base64')])
  return {
    ofSet,
    ofKey,
    isSet: (set: SealedSet & { seal: Buffer }): boolean => same(set.seal, ofSet(set)),
    isKey: (row: { fingerprint: string; public_key: Buffer; seal: Buffer }): boolean =>
      same(row.seal, ofKey(row.fingerprint, row.public_key)),
  }
}
