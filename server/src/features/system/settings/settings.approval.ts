import { createHash } from 'node:crypto'
import { type ConfigChange, groupOfItem } from '@portcullis/contract'
import { signInGroups } from './settings.fresh.ts'
import { isSecret } from './settings.items.ts'

/** What waits for a second approver: items to set, or a version to go back to; and what changes by it. */
export type SignInChange = {
  changes: readonly ConfigChange[]
  /** What else the approver has to know. */
  note?: string
} & ({ items: Readonly<Record<string, string | null>> } | { version: number; prefix: string })

/** With the name of an item and a hash it fits one line of details. */
const longest = 160
const longestLine = 300

/** A value for the approver. Nothing hides behind spaces, marks or at the end: a long value shows its hash, too. */
export const exactly = (value: string): string => {
  const line = value
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`)
  if (line.length <= longest) return line
  const hash = createHash('sha256').update(value).digest('hex').slice(0, 16)
  return `${line.slice(0, longest)}… (${value.length} characters, SHA-256 ${hash}…)`
}

const text = (value: string): string => (value === '' ? 'not set' : value)

/** One line for each item, or two when it is long: its name, old and new value. Values of secrets are never shown. */
const changeLines = (changes: readonly ConfigChange[]): string[] =>
  changes.flatMap(({ name, from, to }) => {
    if (isSecret(name)) return `${name}: ${from === '' ? 'not set' : 'set'} → ${to === '' ? 'not set' : '(changed)'}`
    const line = `${name}: ${text(from)} → ${text(to)}`
    return line.length <= longestLine ? line : [`${name}, after: ${text(to)}`, `${name}, before: ${text(from)}`]
  })

const isSignIn = ({ name }: ConfigChange): boolean => signInGroups.some((group) => groupOfItem(name) === group)

export const signInTitle = (change: SignInChange): string =>
  `${'version' in change ? `Restore version ${change.version} of` : 'Change'} the sign-in settings: ${change.changes.map(({ name }) => name).join(', ')}`

/** The old and new value of each item, for the approver. Sign-in settings come first: a request has 200 lines at most. */
export const signInDetails = (change: SignInChange): string[] => [
  ...(change.note === undefined ? [] : [change.note]),
  ...changeLines(change.changes.filter(isSignIn)),
  ...changeLines(change.changes.filter((one) => !isSignIn(one))),
]

/** Whether a change is still the one that was requested: the same items, from and to the same values. */
export const isSameChange = (now: readonly ConfigChange[], requested: readonly ConfigChange[] | undefined): boolean =>
  // Requests from before this release do not say what they change: they have to be made again.
  requested !== undefined && changeLines(now).join('\n') === changeLines(requested).join('\n')
