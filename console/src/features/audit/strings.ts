import { messages } from '../../lib/messages.ts'

export const strings = messages({
  audit: 'Audit',
  everyChangeAndEveryRefusedOne:
    'Every change and every refused one, in a chain of hashes that is signed again and again: what was edited, deleted or swapped shows.',
  more: 'More',
  wholeTrailToVerify: 'Whole trail, to verify',
  severityAtLeast: 'Severity at least',
  fromTheOldestLinesAfterIt: 'From (the oldest lines after it)',
  auditTrail: 'Audit trail',
  no: 'No.',
  when: 'When',
  who: 'Who',
  what: 'What',
  on: 'On',
  details: 'Details',
  from: 'From',
  nothingWasAuditedInThisRange: 'Nothing was audited in this range.',
  showMore: 'Show more',
  checkpoints: 'Checkpoints',
  signed: 'Signed',
  uncoveredWaitForTheNextOne: '; {uncovered} wait for the next one',
  audittrailidOfNewestaudittrailidLinesByCheckpoint:
    '{auditTrailID} of {newestAuditTrailID} lines, by checkpoint {number} of {time}{value}',
  key: 'Key',
  secondSink: 'Second sink',
  hasAllOfThemOutsideOf: 'has all of them, outside of the database',
  hasThemUpToUpto: 'has them up to {upTo}',
  problem: 'Problem',
})
