import type { Envelope } from '@portcullis/platform/server/envelope.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import type { GivenSecrets } from './connection.rules.ts'

export interface SealedSecrets {
  password: Buffer | null
  private_key: Buffer | null
  passphrase: Buffer | null
}

const members = [
  ['password', 'password'],
  ['private_key', 'privateKey'],
  ['passphrase', 'passphrase'],
] as const

/** Seals the secrets of a row: null keeps the stored one, an empty string removes it. `aad` identifies the row. */
export const sealed = (
  envelope: Envelope,
  aad: string,
  given: GivenSecrets,
  stored: SealedSecrets | null,
): SealedSecrets => {
  function of(column: keyof SealedSecrets, text: string | null): Buffer | null {
    if (text === null) return stored?.[column] ?? null
    return text === '' ? null : envelope.seal(new Secret(text), `${aad} ${column}`)
  }
  return {
    password: of('password', given.password),
    private_key: of('private_key', given.privateKey),
    passphrase: of('passphrase', given.passphrase),
  }
}

/** Opens the secrets of a row, for the worker only. */
export const opened = (envelope: Envelope, aad: string, row: SealedSecrets) =>
  Object.fromEntries(
    members.map(([column, key]) => {
      const ciphertext = row[column]
      return [key, ciphertext === null ? null : envelope.open(ciphertext, `${aad} ${column}`).reveal()]
    }),
  ) as { password: string | null; privateKey: string | null; passphrase: string | null }

/** Lists stored secrets that the input does not replace. */
export const keptSecrets = (given: GivenSecrets, stored: SealedSecrets): string[] =>
  members.filter(([column, key]) => stored[column] !== null && given[key] === null).map(([, key]) => key)
