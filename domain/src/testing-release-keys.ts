import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { releaseKeyRotationText } from '@portcullis/contract/agent-signed-texts.ts'
import type { ReleaseKeyFile, ReleaseKeyRotation } from '@portcullis/contract/release-keys.ts'
import { releaseKeyFingerprint } from './agent-package.ts'

/** A release key in the forms that tests need. */
export interface ReleaseKeyPair {
  privateKey: KeyObject
  /** Base64 SPKI DER of the public key. */
  text: string
  fingerprint: string
}

export const releaseKeyPair = (): ReleaseKeyPair => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const text = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  return { privateKey, text, fingerprint: releaseKeyFingerprint(text) }
}

/** Returns the public file of a key. */
export const releaseKeyFileOf = (key: ReleaseKeyPair, rotations: ReleaseKeyRotation[] = []): ReleaseKeyFile => ({
  releaseKey: key.text,
  rotations,
})

/** Returns a rotation statement from one key to the next. If present, `signer` signs it instead of `from`. */
export const rotationOf = (
  from: ReleaseKeyPair,
  to: ReleaseKeyPair,
  sequence: number,
  signer = from,
): ReleaseKeyRotation => {
  const statement = {
    sequence,
    previous: from.fingerprint,
    releaseKey: to.text,
    rotatedAt: `2031-05-04T10:11:${String(sequence % 60).padStart(2, '0')}.000Z`,
  }
  const signature = sign(null, Buffer.from(releaseKeyRotationText(statement)), signer.privateKey).toString('base64')
  return { ...statement, signature }
}
