import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { releaseKeyFingerprint } from '@portcullis/domain'
import type { OptionValues } from 'commander'
import { CliError } from './client.ts'

/** Public half as the server knows it: base64 of its SPKI DER. */
export const publicText = (key: KeyObject): string => key.export({ type: 'spki', format: 'der' }).toString('base64')

/** Makes a key that only its owner can read; answers its fingerprint. Never overwrites one. */
export const makeSigningKey = (out: string, passphrase: string | undefined): string => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({
    type: 'pkcs8',
    format: 'pem',
    ...(passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase }),
  })
  try {
    writeFileSync(out, pem, { mode: 0o600, flag: 'wx', flush: true })
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST'
    throw new CliError(isThere ? `${out} already exists.` : `The key cannot be written: ${(error as Error).message}.`)
  }
  return releaseKeyFingerprint(publicText(publicKey))
}

/** OpenSSL names its own routines; an operator needs to know what to change. */
const whyUnreadable = (file: string, passphrase: string | undefined, { message }: Error): string => {
  if (/bad decrypt|interrupted or cancelled|bad password/i.test(message))
    return passphrase === undefined
      ? `${file} is encrypted. Name the file with its passphrase: --passphrase-file FILE.`
      : `The passphrase does not open ${file}.`
  if (/unsupported|no start line/i.test(message))
    return `${file} is not a private key in PEM format. Name the private key file, not the public one.`
  return `The key cannot be read: ${message}.`
}

/** The private key of a file. @throws CliError when it cannot be read or is of another kind */
export const readSigningKey = (file: string, passphrase: string | undefined): KeyObject => {
  try {
    const key = createPrivateKey({
      key: readFileSync(file),
      format: 'pem',
      ...(passphrase === undefined ? {} : { passphrase }),
    })
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch (error) {
    throw new CliError(whyUnreadable(file, passphrase, error as Error))
  }
  throw new CliError(`${file} is not an Ed25519 key.`)
}

/** Passphrase of a key, from the file that was named; undefined: the key has none. */
export const passphraseOf = ({ passphraseFile }: OptionValues): string | undefined => {
  if (typeof passphraseFile !== 'string') return undefined
  try {
    return readFileSync(passphraseFile, 'utf8').trim()
  } catch (error) {
    throw new CliError(`The passphrase cannot be read: ${(error as Error).message}.`)
  }
}
