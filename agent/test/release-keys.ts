import { createHash, sign } from 'node:crypto'
import { packageProofText } from '@portcullis/contract/agent-protocol'
import type { ReleaseKeyPair } from '@portcullis/domain/testing'

/** A program that is an agent of this version as far as an update can see. */
export const script = (version: string) => Buffer.from(`#!/bin/sh\necho ${version}\n`)

/** The body of an update command for a build that this key signed. */
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
