import { agentCommandKinds } from '@portcullis/contract/agent-protocol.ts'
import { enumFilter, textFilter, timeFilter } from '@portcullis/platform/contract/filters.ts'
import { list } from '@portcullis/platform/contract/list.ts'
import { closed, listQuery, nullable, operation, page, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

/** States of a command. The last four are final. A confirmation overrides an earlier cancellation. */
export const commandStates = ['queued', 'delivered', 'confirmed', 'failed', 'expired', 'cancelled'] as const
export type CommandState = (typeof commandStates)[number]

export const commandStateLabels: Readonly<Record<CommandState, string>> = {
  queued: 'Waiting',
  delivered: 'Delivered',
  confirmed: 'Confirmed',
  failed: 'Failed',
  expired: 'Expired',
  cancelled: 'Cancelled',
}

/** A command to one host. */
export const Command = closed({
  id: Type.String({ 'x-label': 'ID' }),
  uuid: Type.String({ 'x-label': 'Host ID', description: 'UUID of the host.' }),
  hostIdentifier: Type.String({ 'x-label': 'Host' }),
  kind: Type.Enum(agentCommandKinds, {
    'x-labels': {
      configure: 'Arm or free',
      policy: 'Fetch policy',
      'collect-logs': 'Collect logs',
      'release-ports': 'Release ports',
      update: 'Update agent',
    },
  }),
  title: Type.String({
    'x-label': 'Command',
    description: 'Display name of the command, for example `Arm`, `Free` or `Collect logs`.',
  }),
  state: Type.Enum(commandStates, { 'x-labels': commandStateLabels }),
  createdAt: utcTime('Time at which the command was queued.', { 'x-label': 'When' }),
  createdBy: Type.String({ 'x-label': 'By' }),
  expiresAt: utcTime('Expiry. The host refuses the command after this time.', { 'x-label': 'Expires' }),
  deliveredAt: nullable(utcTime('Time of the first delivery to the host.')),
  endedAt: nullable(
    utcTime('Time at which the server received the result, or at which the command expired or was cancelled.'),
    { 'x-label': 'Ended' },
  ),
  message: Type.String({ 'x-label': 'Timeline', description: 'Why the command failed or ended. Otherwise empty.' }),
  jobId: nullable(Type.String(), { 'x-label': 'Job' }),
})
export type Command = Static<typeof Command>

export const commandList = list({
  title: 'Commands',
  row: Command,
  filters: {
    state: enumFilter('state', commandStates),
    kind: enumFilter('kind', agentCommandKinds),
    hostUuid: textFilter('uuid', { label: 'Host', choices: 'host' }),
    hostIdentifier: textFilter('hostIdentifier'),
    jobId: textFilter('jobId', { choices: 'job' }),
    createdAt: timeFilter('createdAt'),
  },
  table: {
    defaultSort: 'createdAt_desc',
    filters: ['state', 'kind', 'hostIdentifier', 'hostUuid', 'jobId', 'createdAt'],
    columns: [
      { id: 'when', of: 'createdAt', width: 76, shown: true },
      { id: 'title', width: 200, shown: true, isTitle: true },
      { id: 'host', of: 'hostIdentifier', width: 170, shown: true, hasLink: true },
      { id: 'state', width: 112, shown: true },
      { id: 'story', of: 'message', width: 380, grow: true, shown: true },
      { id: 'by', of: 'createdBy', width: 110, shown: true },
      { id: 'ended', of: 'endedAt', width: 80 },
      { id: 'expires', of: 'expiresAt', width: 80, first: 'asc', show: 'until' },
      { id: 'id', width: 290, show: 'code' },
    ],
  },
})

export const listCommands = operation({
  id: 'listCommands',
  method: 'GET',
  path: '/prime/webui/agents/commands',
  tag: 'Agents',
  summary: 'Lists commands, newest first',
  permission: 'fleet:read',
  query: closed({ ...commandList.filters, ...listQuery }),
  response: page(Command),
  responseKind: 'list',
})
