import { closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { deploymentModes } from '#features/agents/contract/agent-list.ts'

/** Version of `data` in messages of the asset stream, part of each `dataschema`. New versions only add fields. */
export const assetSchemaVersion = 1

/** Types of messages in the asset stream. */
export const assetMessageTypes = [
  'asset.upserted',
  'asset.removed',
  'asset.location.previous',
  'replay.started',
  'replay.completed',
] as const
export type AssetMessageType = (typeof assetMessageTypes)[number]

/**
 * Limits of the asset stream: readers per server process and per account, characters of a consumer's name, and stored
 * consumers in total and per account. The limits per account prevent one account from using all of them.
 */
export const assetStreamLimits = {
  readers: 32,
  readersOfAccount: 8,
  consumerName: 64,
  consumers: 200,
  consumersOfAccount: 20,
} as const

const uuid = Type.String({ description: 'UUID of the host, as in GET agents.' })

export const AssetLocation = closed({
  address: Type.String({ description: 'Address from which the host connects to the server. Empty if unknown.' }),
  subnet: Type.String({ description: 'Network of the address with its prefix length. Empty if unknown.' }),
  switchIp: Type.String({ description: 'IP address of the switch that the host is connected to. Empty if unknown.' }),
  switchName: Type.String(),
  portId: Type.String({ description: 'Port of that switch. Empty if unknown.' }),
  portName: Type.String(),
})
export type AssetLocation = Static<typeof AssetLocation>

/** `data` of `asset.upserted` for a host. */
export const AssetAgent = closed({
  uuid,
  hostIdentifier: Type.String({ description: 'Name that the host reports.' }),
  address: Type.String({ description: 'Address from which the host connects to the server. Empty if unknown.' }),
  subnet: Type.String({ description: 'Network of the address with its prefix length. Empty if unknown.' }),
  nics: Type.Array(
    closed({
      name: Type.String(),
      mac: Type.String({ description: 'MAC address, lower case with colons.' }),
      addresses: Type.Array(Type.String(), { description: 'At most 32 addresses, without prefix length.' }),
      isUp: Type.Boolean(),
    }),
    { description: 'At most 64 network interfaces.' },
  ),
  os: Type.String({ description: 'Operating system with version, for display.' }),
  version: Type.String({ description: 'Version of the agent. Empty for an agentless host.' }),
  pcModel: Type.String({ description: '`vendor model||chassis||sku`.' }),
  deploymentMode: Type.Enum(deploymentModes),
  operationalStatus: Type.Enum(['Free', 'Armed'], {
    description: '`Free`: the host only reports. `Armed`: the host enforces the policy.',
  }),
  hashtags: Type.Array(Type.String(), { description: 'Names of tags, sorted ignoring case.' }),
  location: AssetLocation,
  firstSeen: utcTime('Time of the enrolment or first poll.'),
})
export type AssetAgent = Static<typeof AssetAgent>

/** `data` of `asset.upserted` for a device. */
export const AssetPeripheral = closed({
  uuid,
  deviceID: Type.String({ description: 'ID of the device, unique on its host, as in GET peripherals.' }),
  vid: Type.String({ description: 'Vendor ID (VID), four upper-case hex digits.' }),
  pid: Type.String({ description: 'Product ID (PID), four upper-case hex digits.' }),
  bcdDevice: Type.String({ description: 'Revision that the device reports, four hex digits.' }),
  serialNumber: Type.String({ description: 'Serial number. Empty if the device has none.' }),
  manufacturer: Type.String({ description: 'Manufacturer that the device reports.' }),
  product: Type.String({ description: 'Product name that the device reports, otherwise the name in usb.ids.' }),
  vendor: Type.String({ description: 'Vendor name in usb.ids.' }),
  kind: Type.String({ description: 'Kind of the device, for example `Mass Storage`. The values are the icon names.' }),
  portPath: Type.String({ description: 'Port path, for example `1-3.2`.' }),
  interfaces: Type.String({ description: 'USB interfaces, each as class:subclass:protocol.' }),
  present: Type.Boolean({ description: 'True if the device is attached.' }),
  hashtags: Type.Array(Type.String(), { description: 'Names of tags, sorted ignoring case.' }),
  firstSeen: utcTime('Time of the first attachment.'),
})
export type AssetPeripheral = Static<typeof AssetPeripheral>

/** `data` of `asset.removed`. */
export const AssetRemoved = closed({
  uuid,
  deviceID: Type.Optional(
    Type.String({
      description: 'ID of the device. Absent: the host itself was removed. Each of its devices has its own message.',
    }),
  ),
})

/** `data` of `asset.location.previous`. */
export const AssetPreviousLocation = closed({
  uuid,
  hostIdentifier: Type.String({ description: 'Name of the host at the time of publication.' }),
  since: utcTime('Time at which the host arrived at this location.'),
  until: utcTime('Time at which the host was seen at another location.'),
  location: AssetLocation,
})

/** `data` of `replay.started` and `replay.completed`. */
export const AssetReplayMark = closed({
  jobId: Type.String(),
  assets: Type.Integer({ minimum: 0, description: 'Number of assets at the time of the request.' }),
  published: Type.Optional(Type.Integer({ minimum: 0, description: 'Number of assets that were published again.' })),
})

/** Schemas of `data`, by the name in `urn:portcullis:schema:<name>:<version>`. */
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
      description: 'Sequence number. It stays the same if the message is sent again.',
    }),
    source: Type.String({ description: '`urn:portcullis:<uuid of the installation>`.' }),
    type: Type.Enum([...type]),
    subject: Type.String({ description: '`agent/<uuid>`, `peripheral/<uuid>/<deviceID>` or `replay/<jobId>`.' }),
    time: utcTime('Time at which the message was added to the stream.'),
    datacontenttype: Type.Literal('application/json'),
    dataschema: Type.Literal(assetSchemaUrn(schema)),
    sequence: Type.String({
      pattern: '^[0-9]{20}$',
      description: 'Position in the stream, padded with zeros so that it sorts as text.',
    }),
    data: assetDataSchemas[schema],
  })

/** A message of the asset stream: a CloudEvent 1.0 in JSON format. */
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
  summary: 'Streams the inventory and its changes',
  description:
    'The stream contains CloudEvents 1.0, one JSON object per line (`application/x-ndjson`), or server-sent events if Accept is `text/event-stream`. Each message contains the current state of an asset, and only the newest message of each asset is kept. A client that reads from position 0 and applies the messages in order has the complete inventory. With server-sent events, the event ID is the sequence number, and `Last-Event-ID` overrides `after`. After 15 seconds without a message, the server sends an empty line or comment. The stream ends when the token expires. A server accepts 32 readers, 8 of them from one account; further ones get 503 with Retry-After. A position beyond the newest message or another `source` gets 409, because the server was restored from a backup. Discard the data and start at 0.',
  permission: 'fleet:read',
  query: closed({
    after: Type.Optional(
      position(
        'Sequence of the last applied message, with leading zeros (`00000000000000004711`) or without (`4711`). 0 or absent: start at the beginning.',
      ),
    ),
    source: Type.Optional(
      Type.String({
        maxLength: 64,
        description: '`source` of the applied messages. If it has changed, the server returns 409: start at 0.',
      }),
    ),
    follow: Type.Optional(
      Type.Boolean({ default: true, description: 'False: the stream ends after the newest message.' }),
    ),
    consumer: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: assetStreamLimits.consumerName,
        description:
          'Name of the consumer. The server stores the position under this name. Default for an API token: the name of its account. The position of a session without a name is not stored.',
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
  summary: 'Returns the JSON Schemas of messages and their data',
  permission: 'fleet:read',
  response: closed({
    message: Type.Unknown({ description: 'JSON Schema of a message.' }),
    data: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of `data`, by `dataschema`.' }),
  }),
})

export const AssetReplay = closed({
  jobId: Type.String({
    description:
      'ID of the replay and of its job. GET jobs/{id} returns the job, and POST jobs/{id}/cancel cancels it.',
  }),
  status: Type.Enum(['queued', 'running', 'completed', 'failed'], {
    description: '`failed` includes cancelled replays. See `error`.',
  }),
  assets: Type.Integer({ minimum: 0, description: 'Number of assets at the time of the request.' }),
  published: Type.Integer({ minimum: 0, description: 'Number of assets that were published again so far.' }),
  startedAt: nullable(utcTime('Time of the message `replay.started`. `null`: not started yet.')),
  completedAt: nullable(utcTime('End of the replay. `null`: not ended yet.')),
  error: Type.String({ description: 'Why the replay failed. Otherwise empty.' }),
})
export type AssetReplay = Static<typeof AssetReplay>

export const replayAll = operation({
  id: 'replayAll',
  method: 'POST',
  path: `${base}/ReplayAll`,
  tag,
  summary: 'Publishes every asset again',
  description:
    'Starts a job that survives restarts. It publishes `replay.started`, every asset and `replay.completed` to the stream and its sinks. Only one replay can run at a time: during a replay, the server returns 409 with its ID.',
  permission: 'fleet:write',
  response: closed({
    jobId: Type.String(),
    assets: Type.Integer({ minimum: 0, description: 'Number of assets: hosts and devices.' }),
  }),
  errors: ['conflict'],
})

export const getAssetReplay = operation({
  id: 'getAssetReplay',
  method: 'GET',
  path: `${base}/replays/{jobId}`,
  tag,
  summary: 'Returns the progress of a replay',
  permission: 'fleet:read',
  params: closed({ jobId: Type.String({ maxLength: 64 }) }),
  response: AssetReplay,
})

export const sendMonitorOldLocation = operation({
  id: 'sendMonitorOldLocation',
  method: 'POST',
  path: `${base}/SendMonitorOldLocation`,
  tag,
  summary: 'Publishes the previous locations of hosts',
  description:
    'Consumers can then remove these locations. The server publishes one `asset.location.previous` for each location that a host has left since the last call. Each location is published once. If a host moves from A to B and back to A, only B is published.',
  permission: 'fleet:write',
  response: closed({
    published: Type.Integer({ minimum: 0, description: 'Number of messages that this call published.' }),
  }),
})

export const AssetLocationEntry = closed({
  since: utcTime('Time at which the host arrived at this location.'),
  until: nullable(utcTime('Time at which the host was seen at another location. `null`: it is still here.')),
  location: AssetLocation,
  announced: Type.Boolean({ description: 'True if consumers were notified that the host has left this location.' }),
})
export type AssetLocationEntry = Static<typeof AssetLocationEntry>

export const getAssetLocations = operation({
  id: 'getAssetLocations',
  method: 'GET',
  path: `${base}/locations/{agentId}`,
  tag,
  summary: 'Lists the locations of a host, newest first',
  description: 'Returns the newest 100 locations. The list of an unknown host is empty.',
  permission: 'fleet:read',
  params: closed({ agentId: Type.String({ maxLength: 64 }) }),
  response: closed({ data: Type.Array(AssetLocationEntry) }),
})

export const assetConsumerKinds = ['http', 'nats', 'kafka'] as const

export const AssetConsumer = closed({
  kind: Type.Enum([...assetConsumerKinds], {
    description: '`http`: a reader of GET assetproducer/stream. Others: sinks of this server.',
  }),
  name: Type.String({ description: 'Name that the reader gave, otherwise its account. For a sink, its destination.' }),
  position: Type.Integer({
    minimum: 0,
    description: 'Sequence of the last message that was sent. For a sink, of the last acknowledged message.',
  }),
  lag: Type.Integer({
    minimum: 0,
    description: 'Distance from the newest message: the maximum number of messages left to read.',
  }),
  isConnected: Type.Boolean({ description: 'True if the consumer is reading. For a sink: a server publishes to it.' }),
  lastSeen: utcTime('Time at which the consumer was last connected.'),
  error: Type.String({ description: 'Why the server cannot publish to the sink. Otherwise empty.' }),
})
export type AssetConsumer = Static<typeof AssetConsumer>

export const listAssetConsumers = operation({
  id: 'listAssetConsumers',
  method: 'GET',
  path: `${base}/consumers`,
  tag,
  summary: 'Lists the consumers of the asset stream with their positions',
  description:
    'Lists all sinks and the 200 most recent HTTP readers, at most 20 from each account. Sinks come first, then the most recent readers.',
  permission: 'fleet:read',
  response: closed({ data: Type.Array(AssetConsumer) }),
})

export const forgetAssetConsumer = operation({
  id: 'forgetAssetConsumer',
  method: 'DELETE',
  path: `${base}/consumers/{kind}/{name}`,
  tag,
  summary: 'Deletes a consumer that is no longer used',
  description:
    'A connected reader and an active sink get 409. If a deleted sink is used again, it continues from the position that its receiver reports, otherwise from 0.',
  permission: 'fleet:write',
  params: closed({ kind: Type.String({ maxLength: 16 }), name: Type.String({ maxLength: 256 }) }),
  response: closed({ forgotten: AssetConsumer }),
  errors: ['conflict'],
})

export const AssetStreamState = closed({
  source: Type.String({ description: 'Value of `source` in the messages of this installation.' }),
  newest: Type.Integer({ minimum: 0, description: 'Sequence of the newest message. 0: no messages.' }),
  waiting: Type.Integer({
    minimum: 0,
    description: 'Number of changes that are not in the stream yet, counted up to 100,000.',
  }),
  waitingSeconds: nullable(Type.Number({ minimum: 0 }), {
    description: 'Seconds for which changes have been waiting. `null`: none are waiting.',
  }),
  readers: Type.Integer({ minimum: 0, description: 'Number of HTTP readers of this server.' }),
  oldLocations: Type.Integer({
    minimum: 0,
    description: 'Number of messages that SendMonitorOldLocation would publish, counted up to 100,000.',
  }),
  replay: nullable(AssetReplay, { description: 'Last replay. `null`: none in the last 30 days.' }),
})
export type AssetStreamState = Static<typeof AssetStreamState>

export const getAssetStreamState = operation({
  id: 'getAssetStreamState',
  method: 'GET',
  path: `${base}/state`,
  tag,
  summary: 'Returns the state of the asset stream',
  permission: 'fleet:read',
  response: AssetStreamState,
})
