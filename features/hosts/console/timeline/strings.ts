import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { withPageWords } from '@portcullis/platform/console/ui/words.ts'
import { timelineLanes } from '#features/contract.ts'

export const strings = withPageWords({
  range: 'Time range',
  lastDay: 'Last 24 hours',
  today: 'Today',
  yesterday: 'Yesterday',
  week: '7 days',
  month: '30 days',
  until: 'Until',
  reversed: 'The range ends before it begins.',
  lanes: 'Lanes',
  laneText: '{lane}: {count, plural, =0 {none} one {# entry} other {# entries}}',
  notAllowedToRead: 'Not shown: your account cannot read the audit trail.',
  empty: 'Nothing happened on this host in this range.',
  emptyLanes: 'Nothing in the selected lanes. {count, plural, one {# entry is} other {# entries are}} in other lanes.',
  showAllLanes: 'Show all lanes',
  earlier: 'Show earlier entries',
  newest: 'The newest {count, number} entries of this range.',
  exactTo: '± {amount}',
  byWhom: 'by {user}',
  deviceLink: 'Show device',
})

/** Names of the lanes. */
export const laneNames = messages(timelineLanes)
