import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import {
  packageProofText,
  type ReleaseKeyFile,
  type ReleaseKeyRotation,
  releaseKeyRotationText,
} from '@portcullis/contract/agent-protocol'
import { releaseKeyFingerprint } from '@portcullis/domain'

export interface KeyPair {
  privateKey: KeyObject
  /** Base64 SPKI DER. */
  spki: string
  fingerprint: string
}

export const keyPair = (): KeyPair => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  return { privateKey, spki, fingerprint: releaseKeyFingerprint(spki) }
}

/** What a build that holds this key has inside. */
export const keyFile = (key: KeyPair, rotations: ReleaseKeyRotation[] = []): ReleaseKeyFile => ({
  releaseKey: key.spki,
  rotations,
})

/** A statement by which one key names the next; `signer` signs it instead of `from` when given. */
export const rotation = (from: KeyPair, to: KeyPair, sequence: number, signer = from): ReleaseKeyRotation => {
  const statement = {
    sequence,
    previous: from.fingerprint,
    releaseKey: to.spki,
    rotatedAt: `2031-05-04T10:11:${String(sequence % 60).padStart(2, '0')}.000Z`,
  }
  const signature = sign(null, Buffer.from(releaseKeyRotationText(statement)), signer.privateKey).toString('base64')
  return { ...statement, signature }
}

/** A program that is an agent of this version as far as an update can see. */
export const script = (version: string) => Buffer.from(`#!/bin/sh\necho ${version}\n`)

/** The body of an update command for a build that this key signed. */
export const signedBuild = (key: KeyPair, bytes: Buffer, version: string, change: Record<string, unknown> = {}) => {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const build = { version, sha256, size: bytes.length, architecture: process.arch as string, ...change }
  const releaseSignature = sign(null, Buffer.from(packageProofText(build)), key.privateKey).toString('base64')
  return { ...build, releaseKey: key.spki, releaseSignature }
}
