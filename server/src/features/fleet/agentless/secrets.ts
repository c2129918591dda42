import type { Envelope } from '#platform/envelope.ts'
import { Secret } from '#platform/secret.ts'
import type { GivenSecrets } from './connection.rules.ts'

/** The sealed members of a row. */
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

/** Secrets of a row: null keeps what is stored, an empty text takes it away. `place` names the row. */
export const sealed = (
  envelope: Envelope,
  place: string,
  given: GivenSecrets,
  stored: SealedSecrets | null,
): SealedSecrets => {
  function of(column: keyof SealedSecrets, text: string | null): Buffer | null {
    if (text === null) return stored?.[column] ?? null
    return text === '' ? null : envelope.seal(new Secret(text), `${place} ${column}`)
  }
  return {
    password: of('password', given.password),
    private_key: of('private_key', given.privateKey),
    passphrase: of('passphrase', given.passphrase),
  }
}

/** The secrets of a row in the clear, for the worker alone. */
export const opened = (envelope: Envelope, place: string, row: SealedSecrets) =>
  Object.fromEntries(
    members.map(([column, key]) => {
      const box = row[column]
      return [key, box === null ? null : envelope.open(box, `${place} ${column}`).reveal()]
    }),
  ) as { password: string | null; privateKey: string | null; passphrase: string | null }

/** Secrets that are stored and not given anew. */
export const keptSecrets = (given: GivenSecrets, stored: SealedSecrets): string[] =>
  members.filter(([column, key]) => stored[column] !== null && given[key] === null).map(([, key]) => key)
