import { messages } from '../../lib/messages.ts'

export const strings = messages({
  atTheHost: 'at the host',
  waitsForTheHostToCheck: 'Waits for the host to check in; expires in {createdAt} from its start.',
  reachedReached2NotConfirmedYet: '{reached}{reached2}not confirmed yet.',
  reachedReached2ConfirmedEndedBecause: '{reached}{reached2}confirmed{ended}{because}',
  failedEndedBecause: 'Failed{ended}{because}',
  theHostDidNotCheckIn: 'The host did not check in for {createdAt}{because}',
  theHostHadItAndDid: 'The host had it and did not confirm in time{because}',
  cancelledEndedBecause: 'Cancelled{ended}{because}',
})
