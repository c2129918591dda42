import { createHash } from 'node:crypto'
import { escapeText } from '@portcullis/domain'
import { type ConfigChange, placedSettingLabel } from '#features/contract.ts'
import { isSignInChange } from './fresh.ts'
import { isSecret } from './items.ts'

/** A change that waits for a second approver: items to set, or a version to restore, with the resulting changes. */
export type SignInChange = {
  changes: readonly ConfigChange[]
  /** Further information for the approver. */
  note?: string
} & ({ items: Readonly<Record<string, string | null>> } | { version: number; prefix: string })

/**
 * Formats a value for the approver: exactly, with hidden characters as codes, and also in ASCII if it has other letters,
 * because a letter of another script can look like a Latin one.
 */
export const exactly = (value: string): string => {
  if (value.startsWith('data:image/'))
    return `picture of ${value.length} characters, SHA-256 ${createHash('sha256').update(value).digest('hex')}`
  const shown = escapeText(value)
  const ascii = shown.replace(
    /[^\0-\x7f]/gu,
    (char) => `%u{${(char.codePointAt(0) as number).toString(16).toUpperCase()}}`,
  )
  return shown === ascii ? shown : `${shown} (in ASCII: ${ascii})`
}

const text = (value: string): string => (value === '' ? 'not set' : value)

/** Returns one line for each item: label, old and new value. Never shows secrets. */
const changeLines = (changes: readonly ConfigChange[]): string[] =>
  changes.map(({ name, from, to }) =>
    isSecret(name)
      ? `${placedSettingLabel(name)}: ${from === '' ? 'not set' : 'set'} → ${to === '' ? 'not set' : '(changed)'}`
      : `${placedSettingLabel(name)}: ${text(from)} → ${text(to)}`,
  )

export const signInTitle = (change: SignInChange): string =>
  `${'version' in change ? `Restore version ${change.version} of` : 'Change'} the sign-in settings: ${change.changes.map(({ name }) => placedSettingLabel(name)).join(', ')}`

/** Lists the changes for the approver, sign-in settings first. */
export const signInDetails = (change: SignInChange): string[] => [
  ...(change.note === undefined ? [] : [change.note]),
  ...changeLines(change.changes.filter(isSignInChange)),
  ...changeLines(change.changes.filter((one) => !isSignInChange(one))),
]

/** Returns whether a change is still the requested one: the same items, from and to the same values. */
export const isSameChange = (now: readonly ConfigChange[], requested: readonly ConfigChange[] | undefined): boolean =>
  // Requests of older releases do not contain their changes. They must be filed again.
  requested !== undefined && changeLines(now).join('\n') === changeLines(requested).join('\n')
