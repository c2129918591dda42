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

/** The private key of a file. @throws CliError when it can not be read or is of another kind */
export const readSigningKey = (file: string, passphrase: string | undefined): KeyObject => {
  try {
    const key = createPrivateKey({
      key: readFileSync(file),
      format: 'pem',
      ...(passphrase === undefined ? {} : { passphrase }),
    })
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch (error) {
    throw new CliError(`The key cannot be read: ${(error as Error).message}.`)
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
