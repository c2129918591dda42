import type { Command, CommandState } from '@portcullis/contract'
import { parseTime, relativeTime } from '../../lib/time.ts'
import type { Severity } from '../theme/tokens.ts'
import { strings } from './strings.ts'

/** A state of a command in a word, with how serious it is. */
export const commandWords: Readonly<Record<CommandState, { word: string; severity: Severity | null }>> = {
  queued: { word: 'waiting', severity: null },
  delivered: { word: strings.atTheHost, severity: null },
  confirmed: { word: 'confirmed', severity: null },
  failed: { word: 'failed', severity: 'red' },
  expired: { word: 'expired', severity: 'amber' },
  cancelled: { word: 'cancelled', severity: 'neutral' },
}

/** How long a stretch was, or null when one of its ends is not known. */
const between = (from: string, to: string | null): string | null => {
  const [start, end] = [parseTime(from), parseTime(to)]
  return start === null || end === null ? null : relativeTime(start, end)
}

const after = (stretch: string | null): string => {
  if (stretch === null) return ''
  return stretch === 'now' ? ' at once' : ` after ${stretch}`
}

/** What happened to a command, in a sentence: how long it waited, how long the host took, why it ended. */
export const timelineOf = (command: Command): string => {
  const { state, createdAt, deliveredAt, endedAt, expiresAt, message } = command
  const because = message === '' ? '.' : `: ${message}`
  const reached = deliveredAt === null ? '' : `reached the host${after(between(createdAt, deliveredAt))}, `
  const ended = after(between(deliveredAt ?? createdAt, endedAt))
  switch (state) {
    case 'queued':
      return strings.waitsForTheHostToCheck({ createdAt: between(createdAt, expiresAt) ?? 'time' })
    case 'delivered':
      return strings.reachedReached2NotConfirmedYet({
        reached: reached.slice(0, 1).toUpperCase(),
        reached2: reached.slice(1),
      })
    case 'confirmed':
      return strings.reachedReached2ConfirmedEndedBecause({
        reached: reached.slice(0, 1).toUpperCase(),
        reached2: reached.slice(1),
        ended,
        because,
      })
    case 'failed':
      return strings.failedEndedBecause({ ended, because })
    case 'expired':
      return deliveredAt === null
        ? strings.theHostDidNotCheckIn({ createdAt: between(createdAt, expiresAt) ?? 'long', because })
        : strings.theHostHadItAndDid({ because })
    case 'cancelled':
      return strings.cancelledEndedBecause({ ended, because })
  }
}
