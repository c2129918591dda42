/** The lists of agentless hosts and of their last polls. */
import { list } from '@portcullis/platform/contract/list.ts'
import { Connection, ConnectionStatus, connectionFilters, connectionStatusFilters } from './agentless.ts'

export const connectionList = list({
  title: 'Agentless hosts',
  row: Connection,
  filters: connectionFilters,
  file: {
    pdf: [
      'computerName',
      'platform',
      'userName',
      'isRegistered',
      'isConfirmed',
      'hostKeyTrust',
      'isOverrideDefaults',
      'hashtags',
      'createdAt',
    ],
    permission: 'export:read',
  },
})

export const connectionStatusList = list({
  title: 'Polls of agentless hosts',
  row: ConnectionStatus,
  filters: connectionStatusFilters,
  file: {
    pdf: [
      'computerName',
      'statusString',
      'statusDescription',
      'cause',
      'peripheralsCount',
      'failures',
      'startTime',
      'nextRun',
    ],
    summary: ['statusString'],
    time: 'startTime',
    permission: 'export:read',
  },
  table: {
    defaultSort: 'computerName_asc',
    filters: ['StatusString', 'Cause', 'HostKeyTrust', 'ComputerName', 'IsOverrideDefaults', 'EndTime'],
    columns: [
      { id: 'computer', of: 'computerName', width: 186, grow: true, shown: true, title: 'Host' },
      { id: 'state', of: 'statusString', width: 96, shown: true, title: 'State' },
      { id: 'story', of: 'statusErrorDescription', width: 230, grow: true, shown: true, title: 'Result' },
      { id: 'key', of: 'hostKeyTrust', width: 130, shown: true, title: 'Host key' },
      { id: 'platform', width: 80, shown: true, title: 'System' },
      { id: 'devices', of: 'peripheralsCount', width: 76, shown: true, hasLink: true },
      { id: 'took', of: 'durationMs', width: 74, shown: true, title: 'Duration', first: 'desc', align: 'right' },
      { id: 'ended', of: 'endTime', width: 76, shown: true },
      { id: 'next', of: 'nextRun', width: 84, shown: true, title: 'Next', first: 'asc' },
      { id: 'failures', width: 120, title: 'Failures in a row' },
      { id: 'own', of: 'isOverrideDefaults', width: 120, title: 'Overrides default credentials' },
      { id: 'previous', of: 'prevRunningErrors', width: 320, title: 'Last failures' },
    ],
  },
})
