import { type FeedFault, feedFaults, feedLimits } from '@portcullis/contract/feed-lines.ts'
import { closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

const base = '/prime/webui/ingest/feeds'
const tag = 'Agents'

const count = (description: string) => Type.Integer({ minimum: 0, description })

const FeedError = closed({
  line: Type.Integer({ minimum: 1, description: 'Line in the body. In a JSON array, the number of the element.' }),
  code: Type.Enum(Object.keys(feedFaults) as FeedFault[]),
  message: Type.String(),
})

const counts = {
  stored: count('Lines that were stored.'),
  duplicates: count('Lines that were received before.'),
  ignored: count('Lines about other events and about devices that are not USB devices.'),
  covered: count('Lines about hosts that have an agent or are polled. They change nothing.'),
  refused: count('Lines about new hosts above the limit of the feed. Send them again later.'),
  failed: count('Lines with an error.'),
}

/** A source of events about hosts without an agent. */
export const Feed = closed({
  id: Type.String(),
  name: Type.String(),
  tokenId: Type.String({ description: 'ID of the only API token that can send to this feed.' }),
  newHostsPerHour: Type.Integer({ minimum: 1, description: 'Maximum number of new hosts per hour.' }),
  keepDays: Type.Integer({
    minimum: 1,
    description: 'Days after its last event at which a device, and a host without devices, is removed.',
  }),
  timeZone: Type.String({
    description: 'IANA time zone of times that a line has without a zone. Empty: such a line gets the time of receipt.',
  }),
  createdAt: utcTime('Time at which the feed was created.'),
  createdBy: Type.String(),
  lastAt: nullable(utcTime('Time of the last request.'), { description: 'Time of the last request. `null`: none.' }),
  hosts: count('Hosts that this feed observes.'),
  ...counts,
  recentErrors: Type.Array(closed({ ...FeedError.properties, at: utcTime('Time of the request.') }), {
    description: 'The last 20 errors, newest first.',
  }),
  recentLines: Type.Array(
    closed({
      at: utcTime('Time of the event.'),
      host: Type.String(),
      device: Type.String({ description: 'Device instance ID.' }),
    }),
    { description: 'The last 20 stored lines, newest first.' },
  ),
})
export type Feed = Static<typeof Feed>

export const listFeeds = operation({
  id: 'listFeeds',
  method: 'GET',
  path: base,
  tag,
  summary: 'Lists feeds, sorted by name',
  permission: 'fleet:read',
  response: Type.Array(Feed),
})

const tokenId = Type.String({ maxLength: 64, description: 'ID of the API token.' })
const limits = {
  newHostsPerHour: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, description: 'Default: 1,000.' })),
  keepDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 366, description: 'Default: 30.' })),
  timeZone: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'IANA time zone of times that a line has without a zone, such as `Europe/Berlin`. Default: empty.',
    }),
  ),
}

export const createFeed = operation({
  id: 'createFeed',
  method: 'POST',
  path: base,
  tag,
  summary: 'Creates a feed',
  fresh: true,
  description:
    'A feed takes Windows Security events 6416 and Defender events `PnpDeviceConnected`. First create an API token whose only scope is `feeds:write`. No other token can send to the feed, and the token cannot send to other feeds.',
  permission: 'config:write',
  body: closed({
    name: Type.String({
      minLength: 1,
      maxLength: 120,
      pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]+$',
      description: 'Unique, ignoring case.',
    }),
    tokenId,
    ...limits,
  }),
  response: Feed,
  errors: ['conflict'],
})

export const updateFeed = operation({
  id: 'updateFeed',
  method: 'PUT',
  path: `${base}/{id}`,
  tag,
  summary: 'Changes a feed',
  description: 'Absent fields keep their values. With another token, the previous one can no longer send to the feed.',
  fresh: true,
  permission: 'config:write',
  params: closed({ id: Type.String({ minLength: 1, maxLength: 64 }) }),
  body: closed({
    tokenId: Type.Optional(tokenId),
    ...limits,
  }),
  response: closed({ changed: Type.Boolean() }),
  errors: ['not_found', 'conflict'],
})

export const deleteFeed = operation({
  id: 'deleteFeed',
  method: 'DELETE',
  path: `${base}/{id}`,
  tag,
  summary: 'Deletes a feed and the hosts that only it observes',
  description: 'Events that the feed caused stay in the list of events.',
  fresh: true,
  permission: 'config:write',
  params: closed({ id: Type.String({ minLength: 1, maxLength: 64 }) }),
  response: closed({ deleted: Type.Boolean() }),
  errors: ['not_found'],
})

export const FeedAnswer = closed({
  lines: count('Lines in the body, except empty ones.'),
  ...counts,
  errors: Type.Array(FeedError, { description: 'The first 100 errors.' }),
})
export type FeedAnswer = Static<typeof FeedAnswer>

export const ingestFeed = operation({
  id: 'ingestFeed',
  method: 'POST',
  path: `${base}/{id}`,
  tag,
  summary: 'Sends events to a feed',
  description:
    'The body has one event per line, as JSON or XML, or is a JSON array or a CSV file with a header. Events: Windows Security 6416 as Winlogbeat, NXLog, Wazuh, OpenTelemetry, Azure Monitor and others export it, and Defender `DeviceEvents` with the action `PnpDeviceConnected`. Other events are ignored. UTF-16 with a byte order mark is accepted. Lines are independent: an invalid line is reported and the others are stored. A line that was already received is not counted again. At most 8 MiB and 10,000 lines. With `Content-Encoding: gzip`, the size limit applies to the compressed and the uncompressed body. A compressed byte may expand to at most 300 bytes.',
  permission: 'feeds:write',
  params: closed({ id: Type.String({ minLength: 1, maxLength: 64 }) }),
  rawTypes: ['application/x-ndjson', 'application/json', 'application/xml', 'text/xml', 'text/plain', 'text/csv'],
  bodyLimit: feedLimits.bodyBytes,
  response: FeedAnswer,
  errors: ['not_found', 'forbidden_object', 'payload_too_large', 'too_many_requests'],
})

/** Age and limits of the data that feeds show about a host. */
export const FeedHost = closed({
  uuid: Type.String(),
  firstEventAt: utcTime('Time of the oldest event.'),
  lastEventAt: utcTime('Time of the newest event.'),
  receivedAt: utcTime('Time at which the newest event was received.'),
  events: count('Events of this host.'),
  feeds: Type.Array(Type.String(), { description: 'Names of the feeds that observe the host.' }),
  confidence: Type.Enum(['recent', 'old'], {
    description: '`recent`: the newest event is at most 24 hours old. `old`: devices may have been removed long ago.',
  }),
  notShown: Type.Array(Type.String(), { description: 'Data that feeds cannot show.' }),
})
export type FeedHost = Static<typeof FeedHost>

export const feedHost = operation({
  id: 'feedHost',
  method: 'GET',
  path: '/prime/webui/ingest/feedhosts/{uuid}',
  tag,
  summary: 'Returns what feeds show about a host',
  permission: 'fleet:read',
  params: closed({ uuid: Type.String({ minLength: 1, maxLength: 64 }) }),
  response: FeedHost,
  errors: ['not_found'],
})
