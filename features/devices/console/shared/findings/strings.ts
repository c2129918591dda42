import { withPageWords } from '@portcullis/platform/console/ui/words.ts'

export const strings = withPageWords({
  askClose: 'Close…',
  reopen: 'Reopen',
  closeFindings: 'Close {count, plural, one {finding} other {# findings}}',
  findingsOf: 'Findings',
  findingsHint: 'A finding stays open after its device was removed, until somebody closes it.',
  noFindings: 'No attack tool or vulnerable device was attached to this host.',
  allFindings: 'Show all {count, number} findings of this host',
  verdict: 'Verdict',
  comment: 'Comment',
  commentHint: 'For the next person, and for the audit trail.',
  trueHint: 'The finding was right, and it was handled. The next attachment opens a new finding.',
  benignHint: 'The device is known and harmless on this host. It opens no new finding here.',
  falseHint: 'The finding is wrong. The device opens no new finding on this host.',
  testHint: 'Somebody tested the detection. The next attachment opens a new finding.',
  stillAttached:
    '{count, plural, one {# of these devices is} other {# of these devices are}} attached. Unplug {count, plural, one {it} other {them}} first.',
  decisionsStay: 'A verdict changes no rule: armed hosts block the device as before.',
  closed: '{count, plural, one {Finding closed} other {# findings closed}}',
  reopened: '{count, plural, one {Finding reopened} other {# findings reopened}}',
  removedAt: 'Removed {time}',
  isOpen: 'Open',
  lastAttached: 'Last attached',
  state: 'State',
})
