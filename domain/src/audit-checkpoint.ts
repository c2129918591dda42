import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'

/**
 * A signed statement of the server about the state of its audit trail up to a record. Checkpoints form their own chain
 * and are also stored outside the database, so an attacker who rewrites the trail must forge a signature.
 */
export interface AuditCheckpoint {
  /** Number, starting at 1, without gaps. */
  number: number
  /** Newest record that the checkpoint covers, which is also the number of covered records. */
  auditTrailID: number
  count: number
  /** Hash of that record in hex. */
  hash: string
  /** Time of the checkpoint, with `Z`. */
  time: string
  /** SHA-256 of the line of the previous checkpoint. Zeros for the first. */
  previous: string
  keyId: string
  /** Ed25519, base64. */
  signature: string
}

/** Previous hash of the first checkpoint. */
export const CHECKPOINT_GENESIS = '0'.repeat(64)

/** Maximum bytes of a line. A checkpoint has about 400. */
export const maxCheckpointLine = 4_096

/** Prefix of the signed text. It distinguishes checkpoints from all other signed texts. */
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

/** Returns the ID of a key: the beginning of the SHA-256 of its SPKI. */
export const checkpointKeyId = (publicKey: KeyObject): string =>
  createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16)

/** Returns the value of `previous` in the next checkpoint. */
export const checkpointHash = (line: string): string => createHash('sha256').update(line).digest('hex')

/** Returns the line of a checkpoint. */
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

/** Parses a line. Returns null if it is not in canonical form. Does not check the signature. */
export const parseCheckpoint = (text: string): AuditCheckpoint | null => {
  try {
    const c = JSON.parse(text) as AuditCheckpoint
    return isCount(c.number) &&
      isCount(c.auditTrailID) &&
      c.count === c.auditTrailID &&
      hex.test(c.hash) &&
      hex.test(c.previous) &&
      typeof c.time === 'string' &&
      typeof c.keyId === 'string' &&
      // Unused bits at the end of Base64 could change without changing the signature.
      Buffer.from(c.signature, 'base64').toString('base64') === c.signature &&
      lineText(c) === text
      ? c
      : null
  } catch {
    return null
  }
}

/** Keys by ID. */
export type CheckpointKeys = ReadonlyMap<string, KeyObject>

/** Checks the signature of a checkpoint. `forged`: signed with an unknown key. `edited`: changed after signing. */
export const checkSignature = (checkpoint: AuditCheckpoint, keys: CheckpointKeys): 'good' | 'edited' | 'forged' => {
  const key = keys.get(checkpoint.keyId)
  if (key === undefined) return 'forged'
  const signed = Buffer.from(prefix + unsignedText(checkpoint))
  return verify(null, signed, key, Buffer.from(checkpoint.signature, 'base64')) ? 'good' : 'edited'
}
