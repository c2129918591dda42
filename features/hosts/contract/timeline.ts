import { closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { agentParams } from '#features/agents/contract/agents.ts'

/** The lanes of a timeline, with their names. */
export const timelineLanes = {
  attachment: 'Attachments',
  decision: 'Decisions',
  finding: 'Findings',
  command: 'Commands',
  mode: 'Mode',
  alert: 'Alerts',
  host: 'Host',
  audit: 'Audit',
} as const
export type TimelineLane = keyof typeof timelineLanes
const lanes = Object.keys(timelineLanes) as TimelineLane[]

/** Entries of one response. */
const mostEntries = 500

export const TimelineEntry = closed({
  lane: Type.Enum(lanes, {
    description: `The part of the history: ${lanes.map((lane) => `\`${lane}\``).join(', ')}.`,
  }),
  at: utcTime('Time on the host, by the clock of the server. The time of receipt if the host did not report the time.'),
  uncertaintyMs: nullable(Type.Integer({ minimum: 0 }), {
    description:
      'Uncertainty of `at` in either direction, in milliseconds. `null`: `at` is a time of the server, such as the time of receipt.',
  }),
  title: Type.String({ description: 'What happened.' }),
  details: Type.String({ description: 'Details as text. Empty if there are none.' }),
  severity: Type.Integer({ minimum: 0, maximum: 7, description: 'Syslog severity, 0 (Emergency) to 7 (Debug).' }),
  by: Type.String({ description: 'Account that caused the entry. Empty: no account.' }),
  deviceID: nullable(Type.String(), { description: '`deviceID` of the device. `null`: not about a device.' }),
  id: Type.String({
    description:
      'Number of the event, ID of the command, number of the alert (lane `alert`) or of the audit record (lane `audit`).',
  }),
})
export type TimelineEntry = Static<typeof TimelineEntry>

export const getHostTimeline = operation({
  id: 'getHostTimeline',
  method: 'GET',
  path: '/prime/webui/agents/agent/{agentId}/timeline',
  tag: 'Agents',
  summary: 'Returns what happened on a host, newest first',
  description: `Combines events, commands, alerts and audit records about the host. Returns the newest ${mostEntries} entries of the range. \`earlierFrom\` is the time to use as \`to\` for the next ones. The lane \`alert\` needs the permission \`notices:read\`, and the lane \`audit\` needs \`audit:read\`.`,
  permission: 'fleet:read',
  params: agentParams,
  query: closed({
    from: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'Start of the range, inclusive: an ISO 8601 date or time. Default: 24 hours before `to`.',
      }),
    ),
    to: Type.Optional(
      Type.String({
        maxLength: 64,
        description:
          'End of the range: an ISO 8601 date or time. The whole unit that it names is included, such as the whole day of a date. Default: now.',
      }),
    ),
  }),
  response: closed({
    from: utcTime('Start of the range, inclusive.'),
    to: utcTime('End of the range, exclusive.'),
    entries: Type.Array(TimelineEntry, { maxItems: mostEntries }),
    earlierFrom: nullable(
      utcTime(
        'Time of the oldest entry that is included, or the moment before it if all entries have the same time. `null`: the range is complete.',
      ),
    ),
    hiddenLanes: Type.Array(Type.Enum(lanes), { description: 'Lanes that the caller has no permission to read.' }),
  }),
})

export const timelineLimit = mostEntries
