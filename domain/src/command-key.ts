import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { agentRevocationText, commandKeyRotationText } from '@portcullis/contract/agent-signed-texts.ts'
import type { AgentRevocation, CommandKeyRotation } from '@portcullis/contract/command-keys.ts'

const readKey = (spki: string): KeyObject | undefined => {
  try {
    const key = createPublicKey({ key: Buffer.from(spki, 'base64'), format: 'der', type: 'spki' })
    return key.asymmetricKeyType === 'ed25519' ? key : undefined
  } catch {
    return undefined
  }
}

/** Returns the SHA-256 (hex) of a public key in Base64 SPKI DER. */
export const publicKeyHash = (spki: string): string =>
  createHash('sha256').update(Buffer.from(spki, 'base64')).digest('hex')

/** Returns true if the `signature` (Base64) over the text is by the Ed25519 key `spki` (Base64 DER). Never throws. */
export const isSignedBy = (spki: string, text: string, signature: string): boolean => {
  const key = readKey(spki)
  try {
    // Stryker disable next-line ConditionalExpression: verify throws without a key.
    return key !== undefined && verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'))
  } catch {
    return false
  }
}

export interface HeldCommandKey {
  key: string
  /** Number of the last rotation. 0 if the key was pinned at enrolment. */
  number: number
}

/** Maximum number of rotations: daily for more than two years. Servers do not send longer lists. */
const maxRotations = 1000

/**
 * Follows rotations from the current key. Each must name the last key, have a higher number and be signed by that key.
 * Returns the later keys, oldest first, and whether a rotation of one of these keys did not verify.
 */
export const followCommandKeys = (
  held: HeldCommandKey,
  rotations: readonly CommandKeyRotation[],
): { after: HeldCommandKey[]; isForged: boolean } => {
  const after: HeldCommandKey[] = []
  let last = held
  let isForged = false
  for (const rotation of rotations.slice(0, maxRotations)) {
    if (rotation.oldKey !== last.key) continue
    const isGenuine =
      rotation.number > last.number &&
      readKey(rotation.newKey) !== undefined &&
      isSignedBy(last.key, commandKeyRotationText(rotation), rotation.signature)
    if (!isGenuine) {
      isForged = true
      break
    }
    last = { key: rotation.newKey, number: rotation.number }
    after.push(last)
  }
  return { after, isForged }
}

/** Returns true if one of these command keys signed the revocation. */
export const isSignedRevocation = (revocation: AgentRevocation, keys: readonly string[]): boolean =>
  keys.some((key) => isSignedBy(key, agentRevocationText(revocation), revocation.signature))
