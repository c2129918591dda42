import { createPublicKey, verify } from 'node:crypto'
import { maxReleaseKeyRotations } from '@portcullis/contract/agent-limits.ts'
import { releaseKeyRotationText } from '@portcullis/contract/agent-signed-texts.ts'
import type { ReleaseKeyFile, ReleaseKeyRotation } from '@portcullis/contract/release-keys.ts'
import { releaseKeyFingerprint } from './agent-package.ts'

/** A release key and its position in the chain of rotations. */
export interface ReleaseKeyPosition {
  /** Base64 SPKI DER. */
  releaseKey: string
  /** 0 before the first rotation. */
  sequence: number
}

/** The format of a public release key file. It is the first member, so that a reader sees what the file is. */
const format = 'portcullis-release-key'

const publicKeyOf = (releaseKey: string) => {
  const key = createPublicKey({ key: Buffer.from(releaseKey, 'base64'), format: 'der', type: 'spki' })
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('not an Ed25519 key')
  return key
}

const isReleaseKey = (value: unknown): value is string => {
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/]{59}=$/.test(value)) return false
  try {
    publicKeyOf(value)
    return true
  } catch {
    return false
  }
}

/** Returns true if a value has the shape of a rotation statement. Does not check the signature. */
export const isReleaseKeyRotation = (value: unknown): value is ReleaseKeyRotation => {
  const r = value as Partial<ReleaseKeyRotation> | null
  return (
    typeof r === 'object' &&
    r !== null &&
    Number.isSafeInteger(r.sequence) &&
    Number(r.sequence) >= 1 &&
    Number(r.sequence) <= 1_000_000 &&
    typeof r.previous === 'string' &&
    /^[0-9a-f]{64}$/.test(r.previous) &&
    isReleaseKey(r.releaseKey) &&
    typeof r.rotatedAt === 'string' &&
    /^\d{4}-\d\d-\d\dT[\d:.]{8,15}Z$/.test(r.rotatedAt) &&
    typeof r.signature === 'string' &&
    /^[A-Za-z0-9+/]{86}==$/.test(r.signature)
  )
}

const isSignedBy = (rotation: ReleaseKeyRotation, releaseKey: string): boolean => {
  try {
    const text = Buffer.from(releaseKeyRotationText(rotation))
    return verify(null, text, publicKeyOf(releaseKey), Buffer.from(rotation.signature, 'base64'))
  } catch {
    return false
  }
}

/**
 * Follows rotation statements from a trusted key. A statement is valid only if it names the trusted key, that key
 * signed it, and its sequence number is higher. All others are skipped.
 *
 * @returns the newest key reached, and the statements that led there, oldest first
 */
export const followRotations = (
  from: ReleaseKeyPosition,
  rotations: readonly ReleaseKeyRotation[],
): ReleaseKeyPosition & { accepted: ReleaseKeyRotation[] } => {
  let at = from
  const accepted: ReleaseKeyRotation[] = []
  for (const rotation of [...rotations].sort((a, b) => a.sequence - b.sequence)) {
    if (rotation.sequence <= at.sequence) continue
    if (rotation.previous !== releaseKeyFingerprint(at.releaseKey) || !isSignedBy(rotation, at.releaseKey)) continue
    at = { releaseKey: rotation.releaseKey, sequence: rotation.sequence }
    accepted.push(rotation)
  }
  return { ...at, accepted }
}

/** Returns the newest key of a public release key file. */
export const newestReleaseKey = ({ releaseKey, rotations }: ReleaseKeyFile): ReleaseKeyPosition => {
  const { releaseKey: newest, sequence } = followRotations({ releaseKey, sequence: 0 }, rotations)
  return { releaseKey: newest, sequence }
}

/**
 * Reads a public release key file.
 *
 * @throws Error with a message for the operator
 */
export const parseReleaseKeyFile = (text: string): ReleaseKeyFile => {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text))
    throw new Error(
      'It contains a private key. Name the public file that `portcullis release-key new` wrote next to it.',
    )
  let value: { format?: unknown; releaseKey?: unknown; rotations?: unknown } | null
  try {
    value = JSON.parse(text)
  } catch {
    value = null
  }
  if (typeof value !== 'object' || value === null || value.format !== format)
    throw new Error('It is not a public release key file written by `portcullis release-key new`.')
  const { releaseKey, rotations = [] } = value
  if (!isReleaseKey(releaseKey)) throw new Error('Its release key is not an Ed25519 public key.')
  if (!Array.isArray(rotations) || rotations.length > maxReleaseKeyRotations)
    throw new Error(`It contains more than ${maxReleaseKeyRotations} rotations.`)
  const bad = rotations.findIndex((rotation) => !isReleaseKeyRotation(rotation))
  if (bad >= 0) throw new Error(`Rotation ${bad + 1} is not a rotation statement.`)
  const { accepted } = followRotations({ releaseKey, sequence: 0 }, rotations)
  if (accepted.length < rotations.length)
    throw new Error('A rotation in it is not signed by the previous key, or its sequence number does not increase.')
  return { releaseKey, rotations: accepted }
}

/** Returns the text of a public release key file. */
export const formatReleaseKeyFile = ({ releaseKey, rotations }: ReleaseKeyFile): string =>
  `${JSON.stringify({ format, releaseKey, rotations }, null, 2)}\n`
