import type { Command, CommandState } from '@portcullis/contract'
import { parseTime, relativeTime } from '../../lib/time.ts'
import type { Severity } from '../theme/tokens.ts'

/** A state of a command in a word, with how serious it is. */
export const commandWords: Readonly<Record<CommandState, { word: string; severity: Severity | null }>> = {
  queued: { word: 'waiting', severity: null },
  delivered: { word: 'at the host', severity: null },
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
      return `Waits for the host to check in; expires in ${between(createdAt, expiresAt) ?? 'time'} from its start.`
    case 'delivered':
      return `${reached.slice(0, 1).toUpperCase()}${reached.slice(1)}not confirmed yet.`
    case 'confirmed':
      return `${reached.slice(0, 1).toUpperCase()}${reached.slice(1)}confirmed${ended}${because}`
    case 'failed':
      return `Failed${ended}${because}`
    case 'expired':
      return deliveredAt === null
        ? `The host did not check in for ${between(createdAt, expiresAt) ?? 'long'}${because}`
        : `The host had it and did not confirm in time${because}`
    case 'cancelled':
      return `Cancelled${ended}${because}`
  }
}
