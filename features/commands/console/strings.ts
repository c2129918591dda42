import { withPageWords } from '@portcullis/platform/console/ui/words.ts'

export const strings = withPageWords({
  search: 'Host, command, user, reason',
  emptyTitle: 'No commands yet',
  empty:
    'Commands arm, free or update hosts, or collect their logs. Each is signed, and the host confirms it. To send the first one, select hosts on the Hosts page.',
})
