import { severityNames } from '#features/contract.ts'
import type { PendingRow } from './groups.store.ts'
import type { GroupConfig } from './groups.ts'
import { endOfQuiet, isQuiet } from './quiet-hours.ts'

/** Time that a mail waits for further alerts, so that a flood is one mail with a number. */
const gatherMs = 15_000
const longestGap = 60 * 60_000
/** Shortest intervals between mails of a group. They grow with each busy mail, so single alerts do not fill a night. */
const mailGaps = [60_000, 5 * 60_000, 15 * 60_000, longestGap]
/** Severity up to which only the shortest interval applies. */
const urgent = 2

export const gapAfter = (streak: number): number => mailGaps[streak] ?? longestGap

/** Returns the pending alerts to send now, or when the next are due. */
export const dueOf = (
  { digestMinutes, quietHours }: Pick<GroupConfig, 'digestMinutes' | 'quietHours'>,
  channel: 'email' | 'webhook',
  rows: readonly PendingRow[],
  last: { at: Date | null; streak: number },
  now: number,
): { ready: readonly PendingRow[]; at: number; isForQuietHours: boolean } => {
  const quiet = quietHours !== null && isQuiet(now, quietHours) ? quietHours : null
  const passed =
    quiet === null
      ? rows
      : rows.filter(
          ({ severity }) => quiet.passSeverity !== null && severity <= severityNames.indexOf(quiet.passSeverity),
        )
  if (passed.length === 0)
    return { ready: [], at: quiet === null ? now : endOfQuiet(now, quiet), isForQuietHours: quiet !== null }
  const wait = digestMinutes > 0 ? digestMinutes * 60_000 : channel === 'email' ? gatherMs : 0
  // A clock that was set back must not delay them.
  const oldest = Math.min(now, ...passed.map(({ since }) => since.getTime()))
  const streak = passed.some(({ severity }) => severity <= urgent) ? 0 : last.streak
  const gap =
    channel === 'email' && digestMinutes === 0 && last.at !== null
      ? Math.min(last.at.getTime(), now) + gapAfter(streak)
      : 0
  const at = Math.max(oldest + wait, gap)
  return { ready: now >= at ? passed : [], at: Math.max(now, at), isForQuietHours: false }
}
