/** Reads, creates and rotates the public file of a release key. Needs no server. */

import { createPublicKey, sign } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { formatReleaseKeyFile, newestReleaseKey, parseReleaseKeyFile, releaseKeyFingerprint } from '@portcullis/domain'
import { maxReleaseKeyRotations, type ReleaseKeyFile, releaseKeyRotationText } from '@portcullis/features/contract.ts'
import { CliError, refuseExisting } from './client.ts'
import { variable } from './environment.ts'
import { makeSigningKey, publicText, readSigningKey } from './signing-key.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const inCheckout = `${root}release-key.pub`
const manifest = `${root}build/agent/manifest.json`

/** Returns the path of the public release key file, and whether PORTCULLIS_RELEASE_KEY_FILE names it. */
export const configuredFile = (): { path: string; isNamed: boolean } => {
  const named = variable('PORTCULLIS_RELEASE_KEY_FILE')
  return named ? { path: named, isNamed: true } : { path: inCheckout, isNamed: false }
}

/** @throws CliError if the file is invalid or cannot be read */
export const readReleaseKeyFile = (path: string): ReleaseKeyFile => {
  try {
    return parseReleaseKeyFile(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new CliError(`Cannot use the release key file ${path}. ${(error as Error).message}`)
  }
}

/** Returns the key in the agent build of this checkout: undefined without a build, null in a build without a key. */
export const keyOfBuild = (): ReleaseKeyFile | null | undefined => {
  try {
    return (JSON.parse(readFileSync(manifest, 'utf8')) as { releaseKey?: ReleaseKeyFile | null }).releaseKey ?? null
  } catch {
    return undefined
  }
}

/** Replaces the file atomically. */
const writePublic = (path: string, file: ReleaseKeyFile): void => {
  const draft = `${path}.new`
  try {
    rmSync(draft, { force: true })
    const fd = openSync(draft, 'wx', 0o644)
    try {
      writeFileSync(fd, formatReleaseKeyFile(file))
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw new CliError(`Cannot write ${path}: ${(error as Error).message}.`)
  }
}

/** Creates the first release key: a private file for its owner and the public file. Overwrites neither. */
export const makeReleaseKey = (out: string, publicFile: string, passphrase: string | undefined): string => {
  refuseExisting(out)
  refuseExisting(publicFile)
  const fingerprint = makeSigningKey(out, passphrase)
  const releaseKey = publicText(createPublicKey(readSigningKey(out, passphrase)))
  writePublic(publicFile, { releaseKey, rotations: [] })
  return fingerprint
}

export interface RotateOptions {
  /** Private key in use. */
  key: string
  passphrase: string | undefined
  /** File for the new private key. */
  out: string
  newPassphrase: string | undefined
  publicFile: string
  now: Date
}

/** Creates the next release key, signs it with the current one, and appends this rotation to the public file. */
export const rotateReleaseKey = ({ key, passphrase, out, newPassphrase, publicFile, now }: RotateOptions) => {
  refuseExisting(out)
  const file = readReleaseKeyFile(publicFile)
  const present = newestReleaseKey(file)
  const signer = readSigningKey(key, passphrase)
  const previous = releaseKeyFingerprint(present.releaseKey)
  const given = publicText(createPublicKey(signer))
  if (given !== present.releaseKey)
    throw new CliError(
      `${key} has the fingerprint ${releaseKeyFingerprint(given)}, but the newest key in ${publicFile} is ${previous}. Only the newest key can sign the next one.`,
    )
  if (file.rotations.length >= maxReleaseKeyRotations)
    throw new CliError(`${publicFile} contains ${maxReleaseKeyRotations} rotations, the maximum that agents accept.`)
  makeSigningKey(out, newPassphrase)
  const statement = {
    sequence: present.sequence + 1,
    previous,
    releaseKey: publicText(createPublicKey(readSigningKey(out, newPassphrase))),
    rotatedAt: now.toISOString(),
  }
  const signature = sign(null, Buffer.from(releaseKeyRotationText(statement)), signer).toString('base64')
  writePublic(publicFile, { ...file, rotations: [...file.rotations, { ...statement, signature }] })
  return { previous, fingerprint: releaseKeyFingerprint(statement.releaseKey), sequence: statement.sequence }
}
