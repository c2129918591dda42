import { messages } from '../../lib/messages.ts'

export const strings = messages({
  commands: 'Commands',
  hostCommandWhoWhy: 'Host, command, who, why',
  noCommandYet: 'No command yet',
  armingAHostFreeingItUpdating:
    'Arming a host, freeing it, updating its agent or collecting its logs is a signed command that the host confirms. Select hosts in the list of agents to send the first.',
  armOrFree: 'Arm or free',
  fetchThePolicy: 'Fetch the policy',
  collectLogs: 'Collect logs',
  releasePorts: 'Release ports',
  update: 'Update',
  state: 'State',
  kind: 'Kind',
  host: 'Host',
  hostId: 'Host id',
  job: 'Job',
  when: 'When',
  command: 'Command',
  whatHappened: 'What happened',
  by: 'By',
  ended: 'Ended',
  expires: 'Expires',
  id: 'Id',
})
