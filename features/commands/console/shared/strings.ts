import { withPageWords } from '@portcullis/platform/console/ui/words.ts'

export const strings = withPageWords({
  queuedFor: 'Waiting for the host to check in. Expires {duration} after it was sent.',
  noCheckInFor: 'The host did not check in for {duration}.',
  notConfirmed: 'The host received the command but did not confirm it in time.',
  queued: 'Waiting for the host to check in.',
  noCheckIn: 'The host did not check in in time.',
  notConfirmedYet: 'Not confirmed yet.',
  reached: 'Reached the host.',
  reachedAtOnce: 'Reached the host at once.',
  reachedAfter: 'Reached the host after {duration}.',
  wasConfirmed: 'Confirmed.',
  confirmedAtOnce: 'Confirmed at once.',
  confirmedAfter: 'Confirmed after {duration}.',
  hasFailed: 'Failed.',
  failedAtOnce: 'Failed at once.',
  failedAfter: 'Failed after {duration}.',
  wasCancelled: 'Cancelled.',
  cancelledAtOnce: 'Cancelled at once.',
  cancelledAfter: 'Cancelled after {duration}.',
})
