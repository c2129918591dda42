import { createHash, sign } from 'node:crypto'
import { packageProofText } from '@portcullis/contract/agent-protocol.ts'
import type { ReleaseKeyPair } from '@portcullis/domain/testing'

/** Returns a program that an update accepts as an agent of this version. */
export const script = (version: string) => Buffer.from(`#!/bin/sh\necho ${version}\n`)

/** Returns the body of an update command for a build signed by a key. */
export const signedBuild = (
  key: ReleaseKeyPair,
  bytes: Buffer,
  version: string,
  change: Record<string, unknown> = {},
) => {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const build = { version, sha256, size: bytes.length, architecture: process.arch as string, ...change }
  const releaseSignature = sign(null, Buffer.from(packageProofText(build)), key.privateKey).toString('base64')
  return { ...build, releaseKey: key.text, releaseSignature }
}
