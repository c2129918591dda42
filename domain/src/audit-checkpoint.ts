import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'

/**
 * What the server swears of its trail: up to this record it was so. Checkpoints are a chain of their own and lie outside
 * of the database, too, so that who rewrites the trail has to forge a signature.
 */
export interface AuditCheckpoint {
  /** From 1, without gaps. */
  number: number
  /** The newest record that it covers, and so their number. */
  auditTrailID: number
  count: number
  /** Hash of that record, hexadecimal. */
  hash: string
  /** When it was made, with `Z`. */
  time: string
  /** SHA-256 of the line of the checkpoint before; zeros for the first. */
  previous: string
  keyId: string
  /** Ed25519, base64. */
  signature: string
}

/** Before the first checkpoint. */
export const CHECKPOINT_GENESIS = '0'.repeat(64)

/** A line of a checkpoint has some 400 bytes. */
export const maxCheckpointLine = 4_096

/** No signature over anything else can be taken for one of a checkpoint. */
const prefix = 'portcullis audit checkpoint\n'

const unsignedText = (c: Omit<AuditCheckpoint, 'signature'>): string =>
  JSON.stringify({
    number: c.number,
    auditTrailID: c.auditTrailID,
    count: c.count,
    hash: c.hash,
    time: c.time,
    previous: c.previous,
    keyId: c.keyId,
  })

const lineText = (checkpoint: AuditCheckpoint): string =>
  `${unsignedText(checkpoint).slice(0, -1)},"signature":${JSON.stringify(checkpoint.signature)}}`

/** Names a key of checkpoints: the beginning of the SHA-256 of its SPKI. */
export const checkpointKeyId = (publicKey: KeyObject): string =>
  createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16)

/** What the next checkpoint calls `previous`. */
export const checkpointHash = (line: string): string => createHash('sha256').update(line).digest('hex')

/** The line of a checkpoint. */
export const signCheckpoint = (
  what: Omit<AuditCheckpoint, 'signature' | 'keyId' | 'count'>,
  privateKey: KeyObject,
): string => {
  const unsigned = { ...what, count: what.auditTrailID, keyId: checkpointKeyId(createPublicKey(privateKey)) }
  const signature = sign(null, Buffer.from(prefix + unsignedText(unsigned)), privateKey).toString('base64')
  return lineText({ ...unsigned, signature })
}

const hex = /^[0-9a-f]{64}$/
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0

/** A line that has the one form of a checkpoint; null when it has not. Its signature is another question. */
export const parseCheckpoint = (text: string): AuditCheckpoint | null => {
  try {
    const c = JSON.parse(text) as AuditCheckpoint
    return typeof c === 'object' &&
      c !== null &&
      isCount(c.number) &&
      isCount(c.auditTrailID) &&
      c.count === c.auditTrailID &&
      hex.test(c.hash) &&
      hex.test(c.previous) &&
      typeof c.time === 'string' &&
      typeof c.keyId === 'string' &&
      typeof c.signature === 'string' &&
      // Spare bits at the end of base64 could be changed without changing the signature.
      Buffer.from(c.signature, 'base64').toString('base64') === c.signature &&
      lineText(c) === text
      ? c
      : null
  } catch {
    return null
  }
}

/** Keys by the name that checkpoints call them. */
export type CheckpointKeys = ReadonlyMap<string, KeyObject>

/** Whether it was signed by one of the keys: `forged` by another, `edited` since. */
export const judgeSignature = (checkpoint: AuditCheckpoint, keys: CheckpointKeys): 'good' | 'edited' | 'forged' => {
  const key = keys.get(checkpoint.keyId)
  if (key === undefined) return 'forged'
  const signed = Buffer.from(prefix + unsignedText(checkpoint))
  return verify(null, signed, key, Buffer.from(checkpoint.signature, 'base64')) ? 'good' : 'edited'
}
