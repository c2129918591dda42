import { type Static, Type } from 'typebox'
import { closed, nullable, operation, utcTime } from './operation.ts'

/** Version of the shape of `data` in messages of the asset stream; part of each `dataschema`. Members are only ever added. */
export const assetSchemaVersion = 1

/** Types of messages. */
export const assetMessageTypes = [
  'asset.upserted',
  'asset.removed',
  'asset.location.previous',
  'replay.started',
  'replay.completed',
] as const
export type AssetMessageType = (typeof assetMessageTypes)[number]

/**
 * Readers of one server process at a time, and of one account; characters of a consumer's name; consumers that are
 * remembered, and of one account: nobody takes the places of all others.
 */
export const assetStreamLimits = {
  readers: 32,
  readersOfAccount: 8,
  consumerName: 64,
  consumers: 200,
  consumersOfAccount: 20,
} as const

const uuid = Type.String({ description: 'uuid of the agent, as in GET agents.' })

export const AssetLocation = closed({
  address: Type.String({ description: 'Address the host reaches the server from; empty when unknown.' }),
  subnet: Type.String({ description: 'Network of the address with its prefix length; empty when unknown.' }),
  switchIp: Type.String({ description: 'Switch it is connected to; empty when unknown.' }),
  switchName: Type.String(),
  portId: Type.String({ description: 'Port of that switch; empty when unknown.' }),
  portName: Type.String(),
})
export type AssetLocation = Static<typeof AssetLocation>

/** `data` of `asset.upserted` for a host. */
export const AssetAgent = closed({
  uuid,
  hostIdentifier: Type.String({ description: 'Host name as the host calls itself.' }),
  address: Type.String({ description: 'Address the host reaches the server from; empty when unknown.' }),
  subnet: Type.String({ description: 'Network of the address with its prefix length; empty when unknown.' }),
  nics: Type.Array(
    closed({
      name: Type.String(),
      mac: Type.String({ description: 'Lower case with colons.' }),
      addresses: Type.Array(Type.String(), { description: 'Without prefix length, at most 32.' }),
      isUp: Type.Boolean(),
    }),
    { description: 'Network interfaces, at most 64.' },
  ),
  os: Type.String({ description: 'Operating system with version, for people.' }),
  version: Type.String({ description: 'Version of the agent; empty without one.' }),
  pcModel: Type.String({ description: '`vendor model||chassis||sku`.' }),
  deploymentMode: Type.Enum(['Agent', 'Agentless']),
  operationalStatus: Type.Enum(['Free', 'Armed'], { description: 'Free observes, Armed enforces.' }),
  hashtags: Type.Array(Type.String(), { description: 'Names of its tags, sorted ignoring case.' }),
  location: AssetLocation,
  firstSeen: utcTime('Enrolment or first poll.'),
})
export type AssetAgent = Static<typeof AssetAgent>

/** `data` of `asset.upserted` for a peripheral. */
export const AssetPeripheral = closed({
  uuid,
  deviceID: Type.String({ description: 'Unique on its host, as in GET peripherals.' }),
  vid: Type.String({ description: 'Vendor id, four upper-case hex digits.' }),
  pid: Type.String({ description: 'Product id, four upper-case hex digits.' }),
  bcdDevice: Type.String({ description: 'Revision the device states, four hex digits.' }),
  serialNumber: Type.String({ description: 'Empty when the device has none.' }),
  manufacturer: Type.String({ description: 'As the device says.' }),
  product: Type.String({ description: 'As the device says, else by usb.ids.' }),
  vendor: Type.String({ description: 'Name of the vendor by usb.ids.' }),
  kind: Type.String({ description: 'What it is, for example `Mass Storage`; the names of the icons.' }),
  portPath: Type.String({ description: 'Place of attachment, for example `1-3.2`.' }),
  interfaces: Type.String({ description: 'class:subclass:protocol of each interface.' }),
  present: Type.Boolean({ description: 'Attached now.' }),
  hashtags: Type.Array(Type.String(), { description: 'Names of its tags, sorted ignoring case.' }),
  firstSeen: utcTime('First attachment seen.'),
})
export type AssetPeripheral = Static<typeof AssetPeripheral>

/** `data` of `asset.removed`. */
export const AssetRemoved = closed({
  uuid,
  deviceID: Type.Optional(
    Type.String({ description: 'Absent: the host itself. Each of its peripherals has a message of its own.' }),
  ),
})

/** `data` of `asset.location.previous`. */
export const AssetPreviousLocation = closed({
  uuid,
  hostIdentifier: Type.String({ description: 'Name of the host when this was announced.' }),
  since: utcTime('When the host came there.'),
  until: utcTime('When it was seen elsewhere.'),
  location: AssetLocation,
})

/** `data` of `replay.started` and `replay.completed`. */
export const AssetReplayMark = closed({
  jobId: Type.String(),
  assets: Type.Integer({ minimum: 0, description: 'Assets there were when it was asked for.' }),
  published: Type.Optional(Type.Integer({ minimum: 0, description: 'Assets that were published again.' })),
})

/** Where the schema of a message's data is named: `urn:portcullis:schema:<name>:<version>`. */
export const assetDataSchemas = {
  agent: AssetAgent,
  peripheral: AssetPeripheral,
  removed: AssetRemoved,
  'previous-location': AssetPreviousLocation,
  replay: AssetReplayMark,
} as const
export type AssetDataSchema = keyof typeof assetDataSchemas
export const assetSchemaUrn = (name: AssetDataSchema): string => `urn:portcullis:schema:${name}:${assetSchemaVersion}`

const message = (type: readonly AssetMessageType[], schema: AssetDataSchema) =>
  closed({
    specversion: Type.Literal('1.0'),
    id: Type.String({
      pattern: '^[1-9][0-9]{0,18}$',
      description: 'The sequence; the same whenever this is sent again.',
    }),
    source: Type.String({ description: '`urn:portcullis:<uuid of the installation>`.' }),
    type: Type.Enum([...type]),
    subject: Type.String({ description: '`agent/<uuid>`, `peripheral/<uuid>/<deviceID>` or `replay/<jobId>`.' }),
    time: utcTime('When it got its place in the stream.'),
    datacontenttype: Type.Literal('application/json'),
    dataschema: Type.Literal(assetSchemaUrn(schema)),
    sequence: Type.String({
      pattern: '^[0-9]{20}$',
      description: 'Position in the stream, of equal length so that texts sort.',
    }),
    data: assetDataSchemas[schema],
  })

/** A message of the stream: a CloudEvent 1.0 in its JSON form. */
export const AssetMessage = Type.Union([
  message(['asset.upserted'], 'agent'),
  message(['asset.upserted'], 'peripheral'),
  message(['asset.removed'], 'removed'),
  message(['asset.location.previous'], 'previous-location'),
  message(['replay.started', 'replay.completed'], 'replay'),
])
export type AssetMessage = Static<typeof AssetMessage>

const base = '/prime/webui/assetproducer'
const tag = 'AssetProducer'
const position = (description: string) => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })

export const assetStream = operation({
  id: 'assetStream',
  method: 'GET',
  path: `${base}/stream`,
  tag,
  summary: 'Follows the inventory: every asset, then every change',
  description:
    'CloudEvents 1.0, one JSON object a line (`application/x-ndjson`), or as server-sent events when Accept names `text/event-stream` (their id is the sequence as a number, and `Last-Event-ID`, with or without leading zeros, goes before `after`). Messages carry state: of each asset the newest only, as it is when it is sent, so whoever reads from 0 and applies messages in order holds the inventory. Every 15 seconds without a message an empty line (or comment) is sent. It ends when the token does. 32 readers at once, 8 of them of one account: others get 503 with `retry-after`. A position beyond the newest, or another `source`, is 409: the server was restored from a backup; forget what was held and start at 0.',
  permission: 'fleet:read',
  query: closed({
    after: Type.Optional(
      position(
        'Sequence of the last message that was applied, as it was sent (`00000000000000004711`) or as a number (`4711`); 0, or none: from the beginning.',
      ),
    ),
    source: Type.Optional(
      Type.String({
        maxLength: 64,
        description: '`source` of the messages that were applied. When it is another one now, 409: start at 0.',
      }),
    ),
    follow: Type.Optional(Type.Boolean({ default: true, description: 'False: ends after the newest message.' })),
    consumer: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: assetStreamLimits.consumerName,
        description:
          'Name under which the position is shown; else that of the account, for an API token. A session without a name is not remembered.',
      }),
    ),
  }),
  response: AssetMessage,
  responseKind: 'stream',
  errors: ['conflict', 'unavailable'],
  examples: {
    response: {
      specversion: '1.0',
      id: '4711',
      source: 'urn:portcullis:5c9c1f5e-6f8b-4f0e-9d53-0f2f4b6f0a11',
      type: 'asset.removed',
      subject: 'agent/01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f',
      time: '2031-05-04T10:11:12.345Z',
      datacontenttype: 'application/json',
      dataschema: assetSchemaUrn('removed'),
      sequence: '00000000000000004711',
      data: { uuid: '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f' },
    },
  },
})

export const assetSchema = operation({
  id: 'assetSchema',
  method: 'GET',
  path: `${base}/schema`,
  tag,
  summary: 'Gives the JSON Schema of messages, and of their data by `dataschema`',
  permission: 'fleet:read',
  response: closed({
    message: Type.Unknown({ description: 'JSON Schema of a message.' }),
    data: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of `data`, by `dataschema`.' }),
  }),
})

export const AssetReplay = closed({
  jobId: Type.String({
    description: 'Also the id of its job: GET jobs/{id} shows it, and POST jobs/{id}/cancel ends it.',
  }),
  status: Type.Enum(['queued', 'running', 'completed', 'failed'], {
    description: '`failed`: cancelled, too; see error.',
  }),
  assets: Type.Integer({ minimum: 0, description: 'Assets there were when it was asked for.' }),
  published: Type.Integer({ minimum: 0, description: 'Assets that have a new place in the stream.' }),
  startedAt: nullable(utcTime('When replay.started got its place; null: not yet.')),
  completedAt: nullable(utcTime('When it ended; null: not yet.')),
  error: Type.String({ description: 'Why it ended before its end; empty: it did not.' }),
})
export type AssetReplay = Static<typeof AssetReplay>

export const replayAll = operation({
  id: 'replayAll',
  method: 'POST',
  path: `${base}/ReplayAll`,
  tag,
  summary: 'Publishes every asset again',
  description:
    'A job that survives restarts: `replay.started`, each asset there is, `replay.completed`, all in the stream and its sinks. One at a time: while one is under way, 409 names it.',
  permission: 'fleet:write',
  response: closed({
    jobId: Type.String(),
    assets: Type.Integer({ minimum: 0, description: 'Assets there are: hosts and peripherals.' }),
  }),
  errors: ['conflict'],
})

export const getAssetReplay = operation({
  id: 'getAssetReplay',
  method: 'GET',
  path: `${base}/replays/{jobId}`,
  tag,
  summary: 'Tells how far a replay is',
  permission: 'fleet:read',
  params: closed({ jobId: Type.String({ maxLength: 64 }) }),
  response: AssetReplay,
})

export const sendMonitorOldLocation = operation({
  id: 'sendMonitorOldLocation',
  method: 'POST',
  path: `${base}/SendMonitorOldLocation`,
  tag,
  summary: 'Publishes the places that hosts have left, so that consumers retire them',
  description:
    'An `asset.location.previous` for each place a host was at since this was last called, and is not at now: each is published once. From A to B and back to A retires B only.',
  permission: 'fleet:write',
  response: closed({
    published: Type.Integer({ minimum: 0, description: 'Messages that were published by this call.' }),
  }),
})

export const AssetLocationEntry = closed({
  since: utcTime('When the host came there.'),
  until: nullable(utcTime('When it was seen elsewhere; null: it is there.')),
  location: AssetLocation,
  announced: Type.Boolean({ description: 'Consumers were told that it ended.' }),
})
export type AssetLocationEntry = Static<typeof AssetLocationEntry>

export const getAssetLocations = operation({
  id: 'getAssetLocations',
  method: 'GET',
  path: `${base}/locations/{agentId}`,
  tag,
  summary: 'Lists the places of a host, newest first',
  description: 'At most the newest 100. An unknown host has none.',
  permission: 'fleet:read',
  params: closed({ agentId: Type.String({ maxLength: 64 }) }),
  response: closed({ data: Type.Array(AssetLocationEntry) }),
})

export const assetConsumerKinds = ['http', 'nats', 'kafka'] as const

export const AssetConsumer = closed({
  kind: Type.Enum([...assetConsumerKinds], {
    description: '`http`: reads GET assetproducer/stream; others: sinks of this server.',
  }),
  name: Type.String({ description: 'As the reader calls itself, else its account; of a sink, where it publishes.' }),
  position: Type.Integer({
    minimum: 0,
    description: 'Sequence of the last message that was sent; of a sink, acknowledged.',
  }),
  lag: Type.Integer({ minimum: 0, description: 'Places between there and the newest: at most so many messages.' }),
  isConnected: Type.Boolean({ description: 'Reads now; of a sink, a server publishes to it.' }),
  lastSeen: utcTime('When it was there last.'),
  error: Type.String({ description: 'Why nothing can be published to a sink now; empty: it can.' }),
})
export type AssetConsumer = Static<typeof AssetConsumer>

export const listAssetConsumers = operation({
  id: 'listAssetConsumers',
  method: 'GET',
  path: `${base}/consumers`,
  tag,
  summary: 'Lists who follows the asset stream, and how far',
  description:
    'The 200 HTTP readers that were there last, 20 of each account, and the sinks. Sinks first, then those seen last.',
  permission: 'fleet:read',
  response: closed({ data: Type.Array(AssetConsumer) }),
})

export const forgetAssetConsumer = operation({
  id: 'forgetAssetConsumer',
  method: 'DELETE',
  path: `${base}/consumers/{kind}/{name}`,
  tag,
  summary: 'Forgets a consumer that is gone',
  description:
    'One that reads now, and a sink in use, is 409. A sink that is forgotten and used again begins where its peer says, else at 0.',
  permission: 'fleet:write',
  params: closed({ kind: Type.String({ maxLength: 16 }), name: Type.String({ maxLength: 256 }) }),
  response: closed({ forgotten: AssetConsumer }),
  errors: ['conflict'],
})

export const AssetStreamState = closed({
  source: Type.String({ description: '`source` of the messages of this installation.' }),
  newest: Type.Integer({ minimum: 0, description: 'Sequence of the newest message; 0: there is none.' }),
  waiting: Type.Integer({ minimum: 0, description: 'Changes that have no place yet; counted up to 100,000.' }),
  waitingSeconds: nullable(Type.Number({ minimum: 0 }), {
    description: 'How long this server has seen some wait; null: none do.',
  }),
  readers: Type.Integer({ minimum: 0, description: 'HTTP readers of this server.' }),
  oldLocations: Type.Integer({
    minimum: 0,
    description: 'Messages that SendMonitorOldLocation would publish; counted up to 100,000.',
  }),
  replay: nullable(AssetReplay, { description: 'The last replay; null: none in 30 days.' }),
})
export type AssetStreamState = Static<typeof AssetStreamState>

export const getAssetStreamState = operation({
  id: 'getAssetStreamState',
  method: 'GET',
  path: `${base}/state`,
  tag,
  summary: 'Tells how the asset stream is',
  permission: 'fleet:read',
  response: AssetStreamState,
})
