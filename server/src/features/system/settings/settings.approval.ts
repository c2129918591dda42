import { createHash } from 'node:crypto'
import { type ConfigChange, groupOfItem } from '@portcullis/contract'
import { signInGroups } from './settings.fresh.ts'
import { isSecret } from './settings.items.ts'

/** A change that waits for a second approver: items to set, or a version to restore, with the resulting changes. */
export type SignInChange = {
  changes: readonly ConfigChange[]
  /** Further information for the approver. */
  note?: string
} & ({ items: Readonly<Record<string, string | null>> } | { version: number; prefix: string })

/** With an item's name and a hash, a value of this length fits one line of details. */
const longest = 160
const longestLine = 300

/**
 * Formats a value for the approver. Shows invisible characters, and the hash of a long value, so that nothing is
 * hidden.
 */
export const exactly = (value: string): string => {
  const line = value
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`)
  if (line.length <= longest) return line
  const hash = createHash('sha256').update(value).digest('hex').slice(0, 16)
  return `${line.slice(0, longest)}… (${value.length} characters, SHA-256 ${hash}…)`
}

const text = (value: string): string => (value === '' ? 'not set' : value)

/** Returns one line for each item, or two if it is long: name, old and new value. Never shows secrets. */
const changeLines = (changes: readonly ConfigChange[]): string[] =>
  changes.flatMap(({ name, from, to }) => {
    if (isSecret(name)) return `${name}: ${from === '' ? 'not set' : 'set'} → ${to === '' ? 'not set' : '(changed)'}`
    const line = `${name}: ${text(from)} → ${text(to)}`
    return line.length <= longestLine ? line : [`${name}, after: ${text(to)}`, `${name}, before: ${text(from)}`]
  })

const isSignIn = ({ name }: ConfigChange): boolean => signInGroups.some((group) => groupOfItem(name) === group)

export const signInTitle = (change: SignInChange): string =>
  `${'version' in change ? `Restore version ${change.version} of` : 'Change'} the sign-in settings: ${change.changes.map(({ name }) => name).join(', ')}`

/** Lists the changes for the approver, sign-in settings first, because a request has at most 200 lines. */
export const signInDetails = (change: SignInChange): string[] => [
  ...(change.note === undefined ? [] : [change.note]),
  ...changeLines(change.changes.filter(isSignIn)),
  ...changeLines(change.changes.filter((one) => !isSignIn(one))),
]

/** Returns whether a change is still the requested one: the same items, from and to the same values. */
export const isSameChange = (now: readonly ConfigChange[], requested: readonly ConfigChange[] | undefined): boolean =>
  // Requests of older releases do not contain their changes. They must be filed again.
  requested !== undefined && changeLines(now).join('\n') === changeLines(requested).join('\n')
