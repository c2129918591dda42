import { createHash } from 'node:crypto'
import type { ConfigChange } from '@portcullis/contract'

/** What waits for a second approver: items to set, or a version to go back to; and what changes by it. */
export type SignInChange = {
  changes: readonly ConfigChange[]
  /** What else the approver has to know. */
  note?: string
} & ({ items: Readonly<Record<string, string | null>> } | { version: number; prefix: string })

const longest = 300

/** A value for the approver. Nothing hides behind spaces or at the end: a long value is named by its hash, too. */
export const exactly = (value: string): string => {
  const line = value.replaceAll(/\s+/g, ' ')
  if (line.length <= longest) return line
  const hash = createHash('sha256').update(value).digest('hex').slice(0, 16)
  return `${line.slice(0, longest)}… (${value.length} characters, SHA-256 ${hash}…)`
}

const text = (value: string): string => (value === '' ? 'not set' : value === 'secret' ? '(secret)' : value)

/** One line for each item: its name, old and new value. Values of secrets are never shown. */
export const changeLines = (changes: readonly ConfigChange[]): string[] =>
  changes.map(({ name, from, to }) => `${name}: ${text(from)} → ${to === 'secret (changed)' ? '(changed)' : text(to)}`)

export const signInTitle = (change: SignInChange): string =>
  `${'version' in change ? `Restore version ${change.version} of` : 'Change'} the sign-in settings: ${[...changeLines(change.changes), ...(change.note === undefined ? [] : [change.note])].join('; ')}`

/** Whether a change is still the one that was requested: the same items, from and to the same values. */
export const isSameChange = (now: readonly ConfigChange[], requested: readonly ConfigChange[] | undefined): boolean =>
  // Requests from before this release do not say what they change: they have to be made again.
  requested !== undefined && changeLines(now).join('\n') === changeLines(requested).join('\n')
