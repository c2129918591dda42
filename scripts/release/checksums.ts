/** Writes SHA256SUMS and its detached signature. */
import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Refusal } from '../bootstrap/say.mjs'

const digestOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

/** Writes the digests of `files` in the format of `sha256sum`, sorted by name. Returns the path. */
export const writeChecksums = (dir: string, files: readonly string[]): string => {
  const sums = join(dir, 'SHA256SUMS')
  const lines = files.map((file) => `${digestOf(file)}  ${basename(file)}\n`)
  writeFileSync(sums, lines.toSorted((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1)).join(''))
  return sums
}

/**
 * Reads the Ed25519 private key (PEM) of a release.
 *
 * @throws Refusal if the key cannot be read or is not Ed25519
 */
export const readKey = (file: string, passphrase?: string): KeyObject => {
  let key: KeyObject
  try {
    key = createPrivateKey({ key: readFileSync(file), ...(passphrase === undefined ? {} : { passphrase }) })
  } catch (error) {
    throw new Refusal(`The key ${file} cannot be read: ${(error as Error).message}`)
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new Refusal(`${file} is not an Ed25519 private key.`)
  return key
}

/**
 * Writes `file.sig`, the signature of a file. OpenSSL 3 verifies it:
 * `openssl pkeyutl -verify -pubin -inkey KEY.pub -rawin -in FILE -sigfile FILE.sig`.
 */
export const signDetached = (file: string, key: KeyObject): void =>
  writeFileSync(`${file}.sig`, sign(null, readFileSync(file), key))
