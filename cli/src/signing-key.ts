import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { releaseKeyFingerprint } from '@portcullis/domain'
import type { OptionValues } from 'commander'
import { CliError, readText } from './client.ts'

/** Returns a public key as base64 SPKI DER. */
export const publicText = (key: KeyObject): string => key.export({ type: 'spki', format: 'der' }).toString('base64')

/** Creates a key file that only its owner can read and returns its fingerprint. Never overwrites a file. */
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
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
    throw new CliError(
      exists ? `${out} already exists. Choose another name.` : `Cannot write the key: ${(error as Error).message}.`,
    )
  }
  return releaseKeyFingerprint(publicText(publicKey))
}

/** Replaces the messages of OpenSSL with what the operator has to change. */
const whyUnreadable = (file: string, passphrase: string | undefined, { message }: Error): string => {
  if (/bad decrypt|interrupted or cancelled|bad password/i.test(message))
    return passphrase === undefined
      ? `${file} is encrypted. Set the file that contains its passphrase with --passphrase-file.`
      : `The passphrase for ${file} is incorrect.`
  if (/unsupported|no start line/i.test(message))
    return `${file} is not a private key in PEM format. Use the private key file, not the public one.`
  return `Cannot read the key: ${message}.`
}

/** Reads a private key. @throws CliError if it cannot be read or is not an Ed25519 key */
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

/** Reads the passphrase of a key from --passphrase-file. Returns undefined without that option. */
export const passphraseOf = ({ passphraseFile }: OptionValues): string | undefined =>
  typeof passphraseFile === 'string' ? readText(passphraseFile, 'the passphrase file').trim() : undefined
