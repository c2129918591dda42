import { parseTime, relativeTime } from '@portcullis/platform/console/lib/time.ts'
import type { Command } from '#features/contract.ts'
import { strings } from './strings.ts'

/** Returns the time between two instants; null if one is unknown. */
const between = (from: string, to: string | null): string | null => {
  const [start, end] = [parseTime(from), parseTime(to)]
  return start === null || end === null ? null : relativeTime(start, end)
}

type Timed = [plain: string, atOnce: string, after: (values: { duration: string }) => string]
const reached: Timed = [strings.reached, strings.reachedAtOnce, strings.reachedAfter]
const confirmed: Timed = [strings.wasConfirmed, strings.confirmedAtOnce, strings.confirmedAfter]
const failed: Timed = [strings.hasFailed, strings.failedAtOnce, strings.failedAfter]
const cancelled: Timed = [strings.wasCancelled, strings.cancelledAtOnce, strings.cancelledAfter]

const timed = ([plain, atOnce, after]: Timed, duration: string | null): string => {
  if (duration === null) return plain
  return duration === 'now' ? atOnce : after({ duration })
}

/** Describes what happened to a command: how long it waited, how long the host took, and why it ended. */
export const timelineOf = (command: Command): string => {
  const { state, createdAt, deliveredAt, endedAt, expiresAt, message } = command
  const delivery = deliveredAt === null ? [] : [timed(reached, between(createdAt, deliveredAt))]
  const duration = between(deliveredAt ?? createdAt, endedAt)
  const life = between(createdAt, expiresAt)
  switch (state) {
    case 'queued':
      return life === null ? strings.queued : strings.queuedFor({ duration: life })
    case 'delivered':
      return sentences(...delivery, strings.notConfirmedYet)
    case 'confirmed':
      return sentences(...delivery, timed(confirmed, duration), message)
    case 'failed':
      return sentences(timed(failed, duration), message)
    case 'expired':
      if (deliveredAt !== null) return sentences(strings.notConfirmed, message)
      return sentences(life === null ? strings.noCheckIn : strings.noCheckInFor({ duration: life }), message)
    case 'cancelled':
      return sentences(timed(cancelled, duration), message)
  }
}

const sentences = (...all: string[]): string => all.filter((text) => text !== '').join(' ')
