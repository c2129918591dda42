import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import {
  AUDIT_GENESIS,
  type AuditLine,
  auditLineText,
  CHECKPOINT_GENESIS,
  checkpointHash,
  checkpointKeyId,
  checkSignature,
  maxAuditLine,
  maxCheckpointLine,
  parseAuditLine,
  parseCheckpoint,
  signCheckpoint,
  verifyTrail,
} from '@portcullis/domain'
import { describe, expect, it } from 'vitest'

const { privateKey } = generateKeyPairSync('ed25519')
const publicKey = createPublicKey(privateKey)
const what = {
  number: 2,
  auditTrailID: 7,
  hash: 'a'.repeat(64),
  time: '2031-05-04T10:11:12.000Z',
  previous: 'b'.repeat(64),
}
const line = signCheckpoint(what, privateKey)

/** Returns the line with fields that an attacker changed. */
const withMembers = (change: Record<string, unknown>): string => JSON.stringify({ ...JSON.parse(line), ...change })

describe('the line of a checkpoint', () => {
  it('has a documented form that other programs can verify', () => {
    const spki = publicKey.export({ type: 'spki', format: 'der' })
    const keyId = createHash('sha256').update(spki).digest('hex').slice(0, 16)
    expect(checkpointKeyId(publicKey)).toBe(keyId)
    const { signature, ...unsigned } = JSON.parse(line)
    const { number, auditTrailID, hash, time, previous } = what
    expect(JSON.stringify(unsigned)).toBe(
      JSON.stringify({ number, auditTrailID, count: auditTrailID, hash, time, previous, keyId }),
    )
    const text = `portcullis audit checkpoint\n${JSON.stringify(unsigned)}`
    expect(verify(null, Buffer.from(text), publicKey, Buffer.from(signature, 'base64'))).toBe(true)
    expect(parseCheckpoint(line)).toEqual({ ...what, count: 7, keyId, signature })
    expect(checkSignature({ ...what, count: 7, keyId, signature }, new Map([[keyId, publicKey]]))).toBe('good')
    expect(checkpointHash(line)).toBe(createHash('sha256').update(line).digest('hex'))
    expect([CHECKPOINT_GENESIS, AUDIT_GENESIS.toString('hex')]).toEqual(['0'.repeat(64), '0'.repeat(64)])
  })

  it.each<[string, Record<string, unknown>]>([
    ['number 0', { number: 0 }],
    ['a negative number', { number: -1 }],
    ['a fraction as its number', { number: 1.5 }],
    ['a text as its number', { number: '2' }],
    ['no record', { auditTrailID: 0, count: 0 }],
    ['half a record', { auditTrailID: 7.5, count: 7.5 }],
    ['another count than its record', { count: 8 }],
    ['a hash in capitals', { hash: 'A'.repeat(64) }],
    ['a hash that is too short', { hash: 'a'.repeat(63) }],
    ['a hash that is too long', { hash: 'a'.repeat(65) }],
    ['a hash after something else', { hash: `x${'a'.repeat(64)}` }],
    ['a previous hash in capitals', { previous: 'B'.repeat(64) }],
    ['a previous hash that is too long', { previous: 'b'.repeat(65) }],
    ['a number as its time', { time: 5 }],
    ['a number as its key', { keyId: 5 }],
    ['a number as its signature', { signature: 5 }],
    ['a signature that is no base64', { signature: '!' }],
    ['one member more', { more: 1 }],
  ])('does not have %s', (_, change) => {
    expect(parseCheckpoint(withMembers({}))).not.toBeNull()
    expect(parseCheckpoint(withMembers(change))).toBeNull()
  })

  it.each(['null', '7', '"x"', '[]', '{}', '', ` ${line}`, line.slice(0, -1)])('is not %s', (text) => {
    expect(parseCheckpoint(text)).toBeNull()
  })
})

describe('a line of the trail', () => {
  const record: AuditLine = {
    ...{ id: 7, createdAt: '2031-05-04T10:11:12.345000', actor: 'a', action: 'b.c', severity: 5 },
    ...{ record: '{}', hash: 'a'.repeat(64) },
  }
  it.each<[string, Record<string, unknown>]>([
    ['number 0', { id: 0 }],
    ['a negative number', { id: -1 }],
    ['a fraction as its number', { id: 1.5 }],
    ['an object as its record', { record: {} }],
    ['a number as its hash', { hash: 5 }],
    ['a list as its hash', { hash: ['a'.repeat(64)] }],
    ['a hash that is too short', { hash: 'a'.repeat(63) }],
    ['a hash that is too long', { hash: 'a'.repeat(65) }],
    ['a hash after something else', { hash: `x${'a'.repeat(64)}` }],
  ])('does not have %s', (_, change) => {
    expect(parseAuditLine(auditLineText(record))).toEqual(record)
    expect(parseAuditLine(auditLineText({ ...record, ...change } as AuditLine))).toBeNull()
  })
})

describe('lines that are too long', () => {
  const keys = new Map([[checkpointKeyId(publicKey), publicKey]])
  it('are neither records nor checkpoints', async () => {
    const faults = async (trail: string, checkpoint: string) => {
      const verdict = await verifyTrail([Buffer.from(trail)], { bytes: [Buffer.from(checkpoint)], keys })
      return [verdict.brokenRecord?.fault, verdict.brokenCheckpoint?.fault]
    }
    expect([maxAuditLine, maxCheckpointLine]).toEqual([1_048_576, 4_096])
    expect(await faults(`${'x'.repeat(maxAuditLine + 1)}\n`, `${'x'.repeat(maxCheckpointLine + 1)}\n`)).toEqual([
      'unreadable',
      'unreadable',
    ])
  })
})
