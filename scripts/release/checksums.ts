/** Writes SHA256SUMS and its detached signature. */
import { createHash, createPrivateKey, sign } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const digestOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

/** Writes the digests of `files` in the format of `sha256sum`, sorted by name. Returns the path. */
export const writeChecksums = (dir: string, files: readonly string[]): string => {
  const sums = join(dir, 'SHA256SUMS')
  const lines = files.map((file) => `${digestOf(file)}  ${basename(file)}\n`)
  writeFileSync(sums, lines.toSorted((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1)).join(''))
  return sums
}

/**
 * Signs a file with the Ed25519 private key in `keyFile` (PEM) and writes `file.sig`. OpenSSL 3 verifies it:
 * `openssl pkeyutl -verify -pubin -inkey KEY.pub -rawin -in FILE -sigfile FILE.sig`.
 *
 * @throws Error if the key cannot be read or is not Ed25519
 */
export const signDetached = (file: string, keyFile: string, passphrase?: string): void => {
  const key = createPrivateKey({ key: readFileSync(keyFile), ...(passphrase === undefined ? {} : { passphrase }) })
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${keyFile} is not an Ed25519 private key.`)
  writeFileSync(`${file}.sig`, sign(null, readFileSync(file), key))
}
