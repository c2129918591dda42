import { type Static, Type } from 'typebox'
import { booleanFilter, enumFilter, textFilter, timeFilter } from './filters.ts'
import { channels } from './notification-groups.ts'
import { apiPrefix, closed, listQuery, nullable, operation, page, utcTime } from './operation.ts'

const base = `${apiPrefix}/systemNotification`
const tag = 'Deliveries'

/**
 * `waiting`: for its time, or for a receiver that is away. `delivered`: the receiver took it. `failed`: the receiver refused
 * it for good; a person may send it again. `dropped`: a person, or a change of the group, decided against it.
 */
export const deliveryStates = ['waiting', 'delivered', 'failed', 'dropped'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** One message to one receiver. */
export const Delivery = closed({
  id: Type.String(),
  groupName: Type.String(),
  channel: Type.Enum(['email', 'webhook'] as const),
  destination: Type.String({ description: 'Mail address, or host of the webhook.' }),
  title: Type.String({ description: 'What it tells.' }),
  state: Type.Enum(deliveryStates),
  attempts: Type.Integer({ minimum: 0, description: 'Tries so far.' }),
  isStuck: Type.Boolean({ description: 'Failed, or waiting after at least one try.' }),
  createdAt: utcTime('When it was written down.'),
  nextAt: nullable(utcTime('When it is tried next.'), { description: 'Null: it is not.' }),
  endedAt: nullable(utcTime('When it was delivered, refused or dropped.')),
  error: Type.String({ description: 'What the last try met, and what helps; empty: nothing.' }),
})
export type Delivery = Static<typeof Delivery>

export const listDeliveries = operation({
  id: 'listDeliveries',
  method: 'GET',
  path: `${base}/deliveries`,
  tag,
  summary: 'Lists messages to people and webhooks, newest first',
  description: 'Delivered and dropped ones are kept for 30 days.',
  permission: 'config:read',
  query: closed({
    ...listQuery,
    groupName: textFilter('groupName'),
    channel: enumFilter('channel', ['email', 'webhook']),
    destination: textFilter('destination'),
    title: textFilter('title'),
    state: enumFilter('state', deliveryStates),
    isStuck: booleanFilter('isStuck'),
    createdAt: timeFilter('createdAt'),
  }),
  response: page(Delivery),
  responseKind: 'list',
})

const ids = closed({
  ids: nullable(
    Type.Array(Type.String({ maxLength: 64 }), { maxItems: 10_000, uniqueItems: true, description: 'Ids.' }),
    { description: 'Null: all that are stuck.' },
  ),
})
const Done = closed({
  accepted: Type.Integer({ minimum: 0, description: 'Deliveries this was done for.' }),
  notFound: Type.Array(Type.String(), { description: 'Ids that name none, or one that has ended otherwise.' }),
})

export const retryDeliveries = operation({
  id: 'retryDeliveries',
  method: 'POST',
  path: `${base}/deliveries/retry`,
  tag,
  summary: 'Sends deliveries that wait or failed now',
  permission: 'notices:dismiss',
  body: ids,
  response: Done,
})

export const dropDeliveries = operation({
  id: 'dropDeliveries',
  method: 'POST',
  path: `${base}/deliveries/drop`,
  tag,
  summary: 'Drops deliveries that wait or failed; they are never sent',
  description: 'Audited.',
  permission: 'config:write',
  body: ids,
  response: Done,
})

/** A stream of events to a SIEM, or in batches to a webhook: where it stands. */
export const EventOutput = closed({
  groupId: Type.Integer({ minimum: 1 }),
  groupName: Type.String(),
  channel: Type.Enum([channels[1], channels[2]]),
  destination: Type.String({ description: 'Address, protocol and format.' }),
  position: Type.Integer({ minimum: 0, description: 'eventID up to which the receiver has everything it is to have.' }),
  behind: Type.Integer({ minimum: 0, description: 'Events after the position, wanted or not.' }),
  sent: Type.Integer({ minimum: 0, description: 'Events that the receiver took since the output was made.' }),
  failures: Type.Integer({ minimum: 0, description: 'Tries in a row that failed.' }),
  isPaused: Type.Boolean({ description: 'After several failures only one try is made from time to time.' }),
  nextAt: nullable(utcTime('When it is tried next, after a failure.')),
  succeededAt: nullable(utcTime('Last success.')),
  failedAt: nullable(utcTime('Last failure.')),
  error: Type.String({ description: 'What the last try met, and what helps; empty: nothing.' }),
})
export type EventOutput = Static<typeof EventOutput>

export const listEventOutputs = operation({
  id: 'listEventOutputs',
  method: 'GET',
  path: `${base}/outputs`,
  tag,
  summary: 'Lists streams of events to SIEMs and webhooks',
  permission: 'config:read',
  response: Type.Array(EventOutput),
})

const output = closed({
  groupId: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  channel: Type.Enum([channels[1], channels[2]]),
})

export const retryEventOutput = operation({
  id: 'retryEventOutput',
  method: 'POST',
  path: `${base}/outputs/retry`,
  tag,
  summary: 'Tries a stream of events now',
  permission: 'notices:dismiss',
  body: output,
  response: Type.Array(EventOutput),
  errors: ['not_found'],
})

export const skipEventOutput = operation({
  id: 'skipEventOutput',
  method: 'POST',
  path: `${base}/outputs/skip`,
  tag,
  summary: 'Lets a stream of events go on with the newest; what it was behind is never sent',
  description: 'Audited, with the ids that were skipped.',
  permission: 'config:write',
  body: output,
  response: Type.Array(EventOutput),
  errors: ['not_found'],
})
