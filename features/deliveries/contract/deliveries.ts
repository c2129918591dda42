import { booleanFilter, enumFilter, textFilter, timeFilter } from '@portcullis/platform/contract/filters.ts'
import { list } from '@portcullis/platform/contract/list.ts'
import {
  apiPrefix,
  closed,
  listQuery,
  nullable,
  operation,
  page,
  utcTime,
} from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { channelLabels, channels } from '#features/alerts/contract/notification-groups.ts'

const base = `${apiPrefix}/systemNotification`
const tag = 'Deliveries'

/**
 * States of a delivery. `waiting`: waits for its time or for an unavailable recipient. `delivered`: the recipient accepted
 * it. `failed`: the recipient refused it; a person can retry it. `dropped`: a person or a change of the group discarded it.
 */
export const deliveryStates = ['waiting', 'delivered', 'failed', 'dropped'] as const
export type DeliveryState = (typeof deliveryStates)[number]

const deliveryChannels = ['email', 'webhook'] as const
export const deliveryStateLabels: Readonly<Record<DeliveryState, string>> = {
  waiting: 'waiting',
  delivered: 'delivered',
  failed: 'refused',
  dropped: 'dropped',
}

/** A message to one recipient. */
export const Delivery = closed({
  id: Type.String(),
  groupName: Type.String({ 'x-label': 'Group' }),
  channel: Type.Enum(deliveryChannels, { 'x-labels': channelLabels }),
  destination: Type.String({ 'x-label': 'Receiver', description: 'Email address, or host of the webhook.' }),
  title: Type.String({ 'x-label': 'Subject', description: 'Subject of the message.' }),
  state: Type.Enum(deliveryStates, { 'x-labels': deliveryStateLabels }),
  attempts: Type.Integer({ minimum: 0, description: 'Number of attempts.' }),
  isStuck: Type.Boolean({
    'x-label': 'Stuck',
    description: 'True if the delivery failed, or waits after a failed attempt.',
  }),
  createdAt: utcTime('Time at which the delivery was created.', { 'x-label': 'Created' }),
  nextAt: nullable(utcTime('Time of the next attempt.'), {
    'x-label': 'Next attempt',
    description: 'Time of the next attempt. `null`: none is planned.',
  }),
  endedAt: nullable(utcTime('Time at which the message was delivered, refused or discarded.'), { 'x-label': 'Ended' }),
  error: Type.String({
    'x-label': 'Problem and remedy',
    description: 'Error of the last attempt and its cure. Empty: no error.',
  }),
})
export type Delivery = Static<typeof Delivery>

export const deliveryList = list({
  title: 'Deliveries',
  row: Delivery,
  filters: {
    groupName: textFilter('groupName'),
    channel: enumFilter('channel', deliveryChannels),
    destination: textFilter('destination'),
    title: textFilter('title'),
    state: enumFilter('state', deliveryStates),
    isStuck: booleanFilter('isStuck'),
    createdAt: timeFilter('createdAt'),
  },
  table: {
    defaultSort: 'createdAt_desc',
    filters: ['isStuck', 'state', 'channel', 'groupName', 'destination', 'title', 'createdAt'],
    columns: [
      { id: 'state', width: 92, shown: true },
      // The width that a window of 1,024 pixels leaves. The tooltip and the drawer show longer subjects completely.
      { id: 'title', width: 300, grow: true, shown: true, isTitle: true },
      { id: 'to', of: 'destination', width: 90, grow: true, shown: true, title: 'To' },
      { id: 'error', width: 100, grow: true, shown: true },
      { id: 'created', of: 'createdAt', width: 88, shown: true },
      { id: 'next', of: 'nextAt', width: 76, first: 'asc', show: 'until' },
      { id: 'group', of: 'groupName', width: 120 },
      { id: 'channel', width: 84 },
      { id: 'attempts', width: 64 },
      { id: 'ended', of: 'endedAt', width: 76 },
    ],
  },
})

export const listDeliveries = operation({
  id: 'listDeliveries',
  method: 'GET',
  path: `${base}/deliveries`,
  tag,
  summary: 'Lists deliveries by email and webhook, newest first',
  description: 'Delivered and discarded messages are kept for 30 days.',
  permission: 'config:read',
  query: closed({ ...listQuery, ...deliveryList.filters }),
  response: page(Delivery),
  responseKind: 'list',
})

const ids = closed({
  ids: nullable(
    Type.Array(Type.String({ maxLength: 64 }), {
      maxItems: 10_000,
      description: 'IDs of deliveries.',
    }),
    { description: '`null`: all deliveries with `isStuck`.' },
  ),
})
const Done = closed({
  accepted: Type.Integer({ minimum: 0, description: 'Number of changed deliveries.' }),
  notFound: Type.Array(Type.String(), {
    description: 'IDs that do not exist or belong to deliveries that have ended.',
  }),
})

export const retryDeliveries = operation({
  id: 'retryDeliveries',
  method: 'POST',
  path: `${base}/deliveries/retry`,
  tag,
  summary: 'Retries waiting or failed deliveries now',
  permission: 'notices:dismiss',
  body: ids,
  response: Done,
})

export const dropDeliveries = operation({
  id: 'dropDeliveries',
  method: 'POST',
  path: `${base}/deliveries/drop`,
  tag,
  summary: 'Discards waiting or failed deliveries',
  description: 'The messages are never sent. The call is audited.',
  permission: 'config:write',
  body: ids,
  response: Done,
})

/** State of a stream of events to a SIEM, or in batches to a webhook. */
export const EventOutput = closed({
  groupId: Type.Integer({ minimum: 1 }),
  groupName: Type.String(),
  channel: Type.Enum([channels[1], channels[2]]),
  destination: Type.String({ description: 'Address, protocol and format.' }),
  position: Type.Integer({ minimum: 0, description: '`eventID` of the last event that was delivered or skipped.' }),
  behind: Type.Integer({
    minimum: 0,
    description: 'Number of events after the position, including events that the filters exclude.',
  }),
  sent: Type.Integer({ minimum: 0, description: 'Number of events that were delivered since the output was created.' }),
  failures: Type.Integer({ minimum: 0, description: 'Number of failed attempts in a row.' }),
  isPaused: Type.Boolean({ description: 'True after several failures. The server then retries only occasionally.' }),
  nextAt: nullable(utcTime('Time of the next attempt after a failure.')),
  succeededAt: nullable(utcTime('Time of the last success.')),
  failedAt: nullable(utcTime('Time of the last failure.')),
  error: Type.String({ description: 'Error of the last attempt and its cure. Empty: no error.' }),
})
export type EventOutput = Static<typeof EventOutput>

export const listEventOutputs = operation({
  id: 'listEventOutputs',
  method: 'GET',
  path: `${base}/outputs`,
  tag,
  summary: 'Lists the outputs: streams of events to SIEMs and webhooks',
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
  summary: 'Retries an output now',
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
  summary: 'Skips all waiting events of an output',
  description:
    'The output continues with new events. The skipped events are never sent; the audit trail records their IDs.',
  permission: 'config:write',
  body: output,
  response: Type.Array(EventOutput),
  errors: ['not_found'],
})
