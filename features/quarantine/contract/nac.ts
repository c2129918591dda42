import { booleanFilter, enumFilter, textFilter, timeFilter } from '@portcullis/platform/contract/filters.ts'
import { list } from '@portcullis/platform/contract/list.ts'
import {
  closed,
  listQuery,
  nullable,
  operation,
  page,
  typedText,
  utcTime,
} from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { testOperation } from '#features/settings/contract/general-config.ts'

/** Network access control systems, by the name of their settings group. */
export const nacSystems = ['ise', 'cact'] as const
export type NacSystem = (typeof nacSystems)[number]
export const nacSystemNames: Readonly<Record<NacSystem, string>> = {
  ise: 'Cisco ISE',
  cact: 'Forescout CounterACT',
}

/**
 * States of a quarantine. `waiting`: needs approval. `wanted`: stored. `applying`: the request is being sent. `applied`: the
 * system accepted it. `verified`: the system confirmed it. `clearing`: is being cleared. `cleared`: the system confirmed that
 * it ended. `failed`: not in force, or not confirmed; `error` gives the cure. `dismissed`: rejected, or expired unapproved.
 */
export const quarantineStates = [
  'waiting',
  'wanted',
  'applying',
  'applied',
  'verified',
  'clearing',
  'cleared',
  'failed',
  'dismissed',
] as const
export type QuarantineState = (typeof quarantineStates)[number]
export const quarantineStateLabels: Readonly<Record<QuarantineState, string>> = {
  waiting: 'Awaiting approval',
  wanted: 'Queued',
  applying: 'Requesting',
  applied: 'Accepted, not verified yet',
  verified: 'Quarantined',
  clearing: 'Releasing',
  cleared: 'Released',
  failed: 'Failed',
  dismissed: 'Dismissed',
}

/** Steps in the timeline of a quarantine. */
export const quarantineSteps = [
  'asked',
  'waiting',
  'approved',
  'dismissed',
  'applying',
  'applied',
  'verified',
  'attributes',
  'delayed',
  'failed',
  'clear',
  'cleared',
] as const
export type QuarantineStepName = (typeof quarantineSteps)[number]

/** Maximum hours of a quarantine, hosts of a request and addresses of a host. */
export const quarantineLimits = { hours: 8_760, hosts: 100, macs: 16 } as const

export const QuarantineStep = closed({
  at: utcTime('Time of the step.'),
  step: Type.Enum(quarantineSteps),
  ok: Type.Boolean(),
  by: Type.String({ description: 'Account that performed the step. `system`: the server.' }),
  message: Type.String({ description: 'Result of the step, or the cure if it failed.' }),
})

export const Quarantine = closed({
  id: Type.String(),
  system: Type.Enum(nacSystems, { 'x-labels': nacSystemNames }),
  state: Type.Enum(quarantineStates, { 'x-labels': quarantineStateLabels }),
  isActive: Type.Boolean({
    'x-label': 'Active or pending',
    description: 'True unless the quarantine is cleared or dismissed.',
  }),
  awaitsApproval: Type.Boolean({
    'x-label': 'Awaiting approval',
    description: 'True if the quarantine, or a part of its addresses, awaits approval.',
  }),
  uuid: Type.String({ 'x-label': 'Host ID', description: 'UUID of the host.' }),
  hostIdentifier: Type.String({ 'x-label': 'Host', description: 'Name of the host at the time of the request.' }),
  ipAddress: Type.String({ 'x-label': 'Address' }),
  macs: Type.Array(Type.String(), {
    'x-label': 'MAC',
    description: 'MAC addresses of the host to quarantine, for example `AA:BB:CC:DD:EE:FF`.',
  }),
  targets: Type.Array(Type.String(), {
    description: 'MAC addresses that this server quarantined. Only these are cleared.',
  }),
  unconfirmed: Type.Array(Type.String(), {
    description:
      'MAC addresses of an automatic quarantine that await approval, because the system does not see them at the address that the host connects from.',
  }),
  place: Type.String({
    description: 'Host and port of the system that accepted the quarantine. Empty: none has accepted it yet.',
  }),
  isMoved: Type.Boolean({
    description:
      'True if the quarantine is being cleared but the settings now name another system. To finish, enter `place` in the settings again, or clear the quarantine manually in that system and call `clear` again.',
  }),
  policy: Type.String({ description: 'ANC policy of Cisco ISE, or property of CounterACT.' }),
  reason: Type.String(),
  isAutomatic: Type.Boolean({
    'x-label': 'Automatic',
    description: 'True if an attack tool triggered the quarantine.',
  }),
  deviceID: Type.String({ description: 'Device that triggered the quarantine. Empty: a person requested it.' }),
  by: Type.String({ 'x-label': 'Requested by', description: 'Account that requested the quarantine.' }),
  createdAt: utcTime('Time of the request.', { 'x-label': 'Requested' }),
  updatedAt: utcTime('Time of the last change.', { 'x-label': 'Last change' }),
  expiresAt: nullable(utcTime('Time at which the quarantine ends automatically. `null`: it does not expire.'), {
    'x-label': 'Expires',
  }),
  error: Type.String({
    'x-label': 'Problem and remedy',
    description: 'Current problem and its cure. Empty: no problem.',
  }),
  attempts: Type.Integer({
    'x-label': 'Failed attempts',
    minimum: 0,
    description: 'Number of failed attempts of the current step.',
  }),
  timeline: Type.Array(QuarantineStep, { description: 'The newest 50 steps, oldest first.' }),
})
export type Quarantine = Static<typeof Quarantine>

const base = '/prime/webui/nac'
const tag = 'Network access control'

export const quarantineList = list({
  title: 'Quarantines',
  row: Quarantine,
  unsorted: ['targets', 'unconfirmed', 'timeline'],
  filters: {
    system: enumFilter('system', nacSystems),
    state: enumFilter('state', quarantineStates),
    isActive: booleanFilter('isActive'),
    awaitsApproval: booleanFilter('awaitsApproval'),
    isAutomatic: booleanFilter('isAutomatic'),
    hostIdentifier: textFilter('hostIdentifier'),
    ipAddress: textFilter('ipAddress'),
    uuid: textFilter('uuid'),
    mac: textFilter('macs'),
    by: textFilter('by'),
    createdAt: timeFilter('createdAt'),
  },
  table: {
    defaultSort: 'createdAt_desc',
    filters: [
      ...(['state', 'isActive', 'awaitsApproval', 'system', 'isAutomatic', 'hostIdentifier'] as const),
      ...(['ipAddress', 'mac', 'uuid', 'by', 'createdAt'] as const),
    ],
    columns: [
      { id: 'host', of: 'hostIdentifier', width: 116, grow: true, shown: true },
      { id: 'system', width: 96, shown: true },
      { id: 'state', width: 190, shown: true },
      { id: 'reason', width: 116, grow: true, shown: true },
      { id: 'error', width: 116, grow: true, shown: true },
      { id: 'by', width: 76, shown: true, title: 'By' },
      { id: 'since', of: 'createdAt', width: 76, shown: true, title: 'Since' },
      { id: 'ends', of: 'expiresAt', width: 70, shown: true, first: 'asc' },
      { id: 'changed', of: 'updatedAt', width: 96 },
      { id: 'address', of: 'ipAddress', width: 124 },
      { id: 'macs', width: 150 },
      { id: 'policy', width: 120 },
      { id: 'automatic', of: 'isAutomatic', width: 120 },
      { id: 'attempts', width: 92 },
    ],
  },
})

export const listQuarantines = operation({
  id: 'listQuarantines',
  method: 'GET',
  path: `${base}/quarantines`,
  tag,
  summary: 'Lists quarantines with their timelines, newest first',
  permission: 'fleet:read',
  query: closed({ ...quarantineList.filters, ...listQuery }),
  response: page(Quarantine),
  responseKind: 'list',
})

export const quarantineHosts = operation({
  id: 'quarantineHosts',
  method: 'POST',
  path: `${base}/quarantines`,
  tag,
  summary: 'Quarantines hosts',
  description:
    'The server stores the request and responds at once. It then sends the request to the system and verifies the result: follow `state`. A quarantine applies to all network interfaces of the host that are up, except excluded addresses. If a host has no MAC address or the system is not enabled, the server returns 422 and quarantines no host. A host that is already quarantined stays so. A failed quarantine is retried.',
  permission: 'fleet:write',
  body: closed({
    agentIds: Type.Array(Type.String({ maxLength: 64 }), {
      minItems: 1,
      maxItems: quarantineLimits.hosts,
      uniqueItems: true,
      description: 'UUIDs of hosts.',
    }),
    system: Type.Enum(nacSystems),
    hours: Type.Optional(
      nullable(
        Type.Integer({
          minimum: 0,
          maximum: quarantineLimits.hours,
          description:
            'Hours until the quarantine ends automatically. 0: it does not expire. Absent or `null`: the configured number.',
        }),
      ),
    ),
    reason: typedText({ minLength: 1, maxLength: 500, description: 'Reason, for the timeline and the audit trail.' }),
  }),
  response: closed({
    accepted: Type.Array(closed({ id: Type.String(), uuid: Type.String() })),
    existing: Type.Array(closed({ id: Type.String(), uuid: Type.String() }), {
      description: 'Hosts that are already quarantined in this system, or will be.',
    }),
    notFound: Type.Array(Type.String(), { description: 'UUIDs without a host.' }),
  }),
  errors: ['unprocessable'],
})

const ids = closed({
  ids: Type.Array(Type.String({ maxLength: 64 }), {
    minItems: 1,
    maxItems: 1_000,
    uniqueItems: true,
    description: 'IDs of quarantines.',
  }),
})
const QuarantinesChanged = closed({
  accepted: Type.Array(Type.String(), { description: 'IDs of the quarantines that were changed.' }),
  unchanged: Type.Array(Type.String(), {
    description: 'IDs of quarantines whose state does not allow the change or does not need it.',
  }),
  notFound: Type.Array(Type.String(), { description: 'IDs that do not exist.' }),
})
export type QuarantinesChanged = Static<typeof QuarantinesChanged>

const decide = (id: string, path: string, summary: string, description: string) =>
  operation({
    id,
    method: 'POST',
    path: `${base}/quarantines/${path}`,
    tag,
    summary,
    description,
    permission: 'fleet:write',
    body: ids,
    response: QuarantinesChanged,
  })

export const clearQuarantines = decide(
  'clearQuarantines',
  'clear',
  'Clears quarantines',
  'The server stores the request and responds at once. It then sends the request to the system and verifies the result. A quarantine that was never sent is cleared at once. The same applies to one with `isMoved`, which you have cleared manually in the old system.',
)
export const approveQuarantines = decide(
  'approveQuarantines',
  'approve',
  'Approves waiting quarantines',
  'The server carries out the quarantines, with the addresses in `unconfirmed`. Their duration starts now.',
)
export const dismissQuarantines = decide(
  'dismissQuarantines',
  'dismiss',
  'Dismisses waiting quarantines',
  'If only the addresses in `unconfirmed` await approval, the rest of the quarantine stays in force. The device that triggered a quarantine triggers another one only when it is attached again.',
)

const Knowing = {
  status: Type.Enum(['ok', 'off', 'failed'] as const, { description: '`off`: not enabled.' }),
  message: Type.String({ description: 'Why the query failed, and the cure. Empty: it succeeded.' }),
}

export const NacEndpoint = closed({
  ise: closed({
    ...Knowing,
    endpoints: Type.Array(
      closed({
        mac: Type.String(),
        isKnown: Type.Boolean({ description: 'True if ISE has an endpoint with this address.' }),
        groupId: Type.String(),
        ancPolicy: Type.String({ description: 'ANC policy that is applied to the endpoint. Empty: none.' }),
        attributes: Type.Record(Type.String(), Type.String(), { description: 'Custom attributes, at most 64.' }),
        session: nullable(
          closed({
            userName: Type.String(),
            address: Type.String(),
            nasAddress: Type.String({ description: 'Switch or controller.' }),
            nasPort: Type.String(),
            server: Type.String({ description: 'Policy service node.' }),
          }),
          { description: 'Live session. `null`: no session, or it cannot be read.' },
        ),
      }),
    ),
  }),
  cact: closed({
    ...Knowing,
    endpoints: Type.Array(
      closed({
        mac: Type.String(),
        isKnown: Type.Boolean({ description: 'True if CounterACT has a host with this address.' }),
        address: Type.String(),
        property: Type.String({ description: 'Value of the configured property. Empty: not set.' }),
      }),
    ),
  }),
})
export type NacEndpoint = Static<typeof NacEndpoint>

export const readNacEndpoint = operation({
  id: 'readNacEndpoint',
  method: 'GET',
  path: `${base}/endpoint/{agentId}`,
  tag,
  summary: 'Queries Cisco ISE and CounterACT for a host',
  description:
    'Queries the first four network interfaces of the host that are up. The server waits at most eight seconds for each system and runs four queries at a time; further ones get 503 with Retry-After.',
  permission: 'fleet:read',
  params: closed({ agentId: Type.String({ maxLength: 64 }) }),
  response: NacEndpoint,
  errors: ['unavailable'],
})

export const testIse = testOperation(
  'testIse',
  'TestISE',
  'ise',
  'Tests the connection to Cisco ISE without changing data there',
)
export const testCact = testOperation(
  'testCact',
  'TestCACT',
  'cact',
  'Tests the connection to CounterACT without changing data there',
)
