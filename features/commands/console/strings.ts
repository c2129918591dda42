import { messages } from '@portcullis/platform/console/lib/messages.ts'

export const strings = messages({
  commands: 'Commands',
  search: 'Host, command, user, reason',
  emptyTitle: 'No commands yet',
  empty:
    'Commands arm, free or update hosts, or collect their logs. Each is signed, and the host confirms it. To send the first one, select hosts on the Hosts page.',
  armOrFree: 'Arm or free',
  fetchPolicy: 'Fetch policy',
  collectLogs: 'Collect logs',
  releasePorts: 'Release ports',
  updateAgent: 'Update agent',
  state: 'State',
  kind: 'Kind',
  host: 'Host',
  hostId: 'Host ID',
  job: 'Job',
  when: 'When',
  command: 'Command',
  timeline: 'Timeline',
  by: 'By',
  ended: 'Ended',
  expires: 'Expires',
  id: 'ID',
})
