import { withPageWords } from '@portcullis/platform/console/ui/words.ts'

export const strings = withPageWords({
  notFound: 'Event not found',
  notFoundHint: 'The number is wrong, or the event was deleted after its retention period.',
  receivedLate: 'Received {age} after it happened',
  exactTo: '± {amount}',
  deviceLink: 'Show {vid}:{pid} on this host',
  tagsThen: 'Tags at that time',
  category: 'Category',
  code: 'Code',
  later: 'Later events on this host',
  earlier: 'Earlier events on this host',
  event: 'Event',
  search: 'Host, device, event',
  emptyTitle: 'No events yet',
  empty: 'Events appear here when hosts enrol and devices are attached or detached.',
})
