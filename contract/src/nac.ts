import { type Static, Type } from 'typebox'
import { booleanFilter, enumFilter, textFilter, timeFilter } from './filters.ts'
import { testOperation } from './general-config.ts'
import { closed, listQuery, nullable, operation, page, utcTime } from './operation.ts'

/** Systems that take a host off the network: Cisco ISE, Forescout CounterACT. By the name of their configuration. */
export const nacSystems = ['ise', 'cact'] as const
export type NacSystem = (typeof nacSystems)[number]
export const nacSystemNames: Readonly<Record<NacSystem, string>> = {
  ise: 'Cisco ISE',
  cact: 'Forescout CounterACT',
}

/**
 * Life of a quarantine. `waiting`: for a person. `wanted`: written down. `applying`: being asked for. `applied`: the system
 * took it. `verified`: it was read back there. `clearing`: being taken back. `cleared`: read back that it is gone.
 * `failed`: not in force, or not seen to be; the error says what helps. `dismissed`: a person, or time, decided against it.
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

/** What happened to a quarantine, in the order of its story. */
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

/** Hours a quarantine may be asked for, hosts of one request, addresses of one host. */
export const quarantineLimits = { hours: 8_760, hosts: 100, macs: 16 } as const

export const QuarantineStep = closed({
  at: utcTime('When.'),
  step: Type.Enum(quarantineSteps),
  ok: Type.Boolean(),
  by: Type.String({ description: 'Who; `system` for the product.' }),
  message: Type.String({ description: 'What was seen, or what helps.' }),
})

export const Quarantine = closed({
  id: Type.String(),
  system: Type.Enum(nacSystems),
  state: Type.Enum(quarantineStates),
  isActive: Type.Boolean({ description: 'Neither cleared nor dismissed.' }),
  uuid: Type.String({ description: 'uuid of the host.' }),
  hostIdentifier: Type.String({ description: 'Name of the host when it was asked for.' }),
  ipAddress: Type.String(),
  macs: Type.Array(Type.String(), { description: 'Addresses of the host that are meant, `AA:BB:CC:DD:EE:FF`.' }),
  targets: Type.Array(Type.String(), {
    description: 'Those that this server quarantined: they, and no others, are cleared.',
  }),
  place: Type.String({
    description: 'Where the system is that took it, host and port; empty: none did yet.',
  }),
  isMoved: Type.Boolean({
    description:
      'To be cleared, and the settings name another place that knows nothing of it: it ends when the settings name `place` again, or when a person asks once more to clear it, having done so there by hand.',
  }),
  policy: Type.String({ description: 'ANC policy, or property of CounterACT.' }),
  reason: Type.String(),
  isAutomatic: Type.Boolean({ description: 'Because of an attack tool, without a person.' }),
  deviceID: Type.String({ description: 'Device that caused it; empty: a person did.' }),
  by: Type.String({ description: 'Who asked for it.' }),
  createdAt: utcTime('When it was asked for.'),
  updatedAt: utcTime('Last change.'),
  expiresAt: nullable(utcTime('When it is cleared by itself; null: it is not.')),
  error: Type.String({ description: 'What is wrong now, and what helps; empty: nothing.' }),
  attempts: Type.Integer({ minimum: 0, description: 'Tries of the present step that failed.' }),
  timeline: Type.Array(QuarantineStep, { description: 'Oldest first, at most the newest 50.' }),
})
export type Quarantine = Static<typeof Quarantine>

const base = '/prime/webui/nac'
const tag = 'Network access control'

export const quarantineFilters = {
  system: enumFilter('system', nacSystems),
  state: enumFilter('state', quarantineStates),
  isActive: booleanFilter('isActive'),
  isAutomatic: booleanFilter('isAutomatic'),
  hostIdentifier: textFilter('hostIdentifier'),
  ipAddress: textFilter('ipAddress'),
  uuid: textFilter('uuid'),
  mac: textFilter('macs'),
  by: textFilter('by'),
  createdAt: timeFilter('createdAt'),
}

export const listQuarantines = operation({
  id: 'listQuarantines',
  method: 'GET',
  path: `${base}/quarantines`,
  tag,
  summary: 'Lists quarantines with their story, newest first',
  permission: 'fleet:read',
  query: closed({ ...quarantineFilters, ...listQuery }),
  response: page(Quarantine),
  responseKind: 'list',
})

export const quarantineHosts = operation({
  id: 'quarantineHosts',
  method: 'POST',
  path: `${base}/quarantines`,
  tag,
  summary: 'Asks for the quarantine of hosts',
  description:
    'It is written down and answered at once; it is carried out, and read back, afterwards: follow its state. All interfaces of a host that are up are meant, but for addresses that are never quarantined. A host without a MAC address, or a system that is not in use: 422, nothing is asked for. A host that is quarantined there already keeps that; one that failed is tried again.',
  permission: 'fleet:write',
  body: closed({
    agentIds: Type.Array(Type.String({ maxLength: 64 }), {
      minItems: 1,
      maxItems: quarantineLimits.hosts,
      uniqueItems: true,
      description: 'uuids of hosts.',
    }),
    system: Type.Enum(nacSystems),
    hours: Type.Optional(
      nullable(
        Type.Integer({
          minimum: 0,
          maximum: quarantineLimits.hours,
          description: 'Ends by itself after so many; 0: it does not. Absent: as configured.',
        }),
      ),
    ),
    reason: Type.String({ minLength: 1, maxLength: 500, description: 'For the story and the audit trail.' }),
  }),
  response: closed({
    accepted: Type.Array(closed({ id: Type.String(), uuid: Type.String() })),
    existing: Type.Array(closed({ id: Type.String(), uuid: Type.String() }), {
      description: 'Quarantined there already, or about to be.',
    }),
    notFound: Type.Array(Type.String(), { description: 'uuids that name no host.' }),
  }),
  errors: ['unprocessable'],
})

const ids = closed({
  ids: Type.Array(Type.String({ maxLength: 64 }), {
    minItems: 1,
    maxItems: 1_000,
    uniqueItems: true,
    description: 'Ids of quarantines.',
  }),
})
const QuarantinesChanged = closed({
  accepted: Type.Array(Type.String(), { description: 'Ids this was done for.' }),
  unchanged: Type.Array(Type.String(), { description: 'Ids whose state does not allow it, or makes it needless.' }),
  notFound: Type.Array(Type.String(), { description: 'Ids that name nothing.' }),
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
  'Takes quarantines back',
  'Written down and answered at once; the system is asked, and read back, afterwards. One that was never asked for there is cleared at once, and so is one that is being taken back at an address that the settings do not name any more: a person took it back there.',
)
export const approveQuarantines = decide(
  'approveQuarantines',
  'approve',
  'Carries out quarantines that wait for a person',
  'Its time begins now.',
)
export const dismissQuarantines = decide(
  'dismissQuarantines',
  'dismiss',
  'Decides against quarantines that wait for a person',
  'The device that caused it causes another one only when it is attached again.',
)

const Knowing = {
  status: Type.Enum(['ok', 'off', 'failed'] as const, { description: '`off`: not in use.' }),
  message: Type.String({ description: 'Why it could not be asked, and what helps; empty: it was.' }),
}

export const NacEndpoint = closed({
  ise: closed({
    ...Knowing,
    endpoints: Type.Array(
      closed({
        mac: Type.String(),
        isKnown: Type.Boolean({ description: 'ISE has an endpoint with this address.' }),
        groupId: Type.String(),
        ancPolicy: Type.String({ description: 'Policy that is applied to it; empty: none.' }),
        attributes: Type.Record(Type.String(), Type.String(), { description: 'Custom attributes, at most 64.' }),
        session: nullable(
          closed({
            userName: Type.String(),
            address: Type.String(),
            nasAddress: Type.String({ description: 'Switch or controller.' }),
            nasPort: Type.String(),
            server: Type.String({ description: 'Policy service node.' }),
          }),
          { description: 'Live session; null: none, or not readable.' },
        ),
      }),
    ),
  }),
  cact: closed({
    ...Knowing,
    endpoints: Type.Array(
      closed({
        mac: Type.String(),
        isKnown: Type.Boolean({ description: 'CounterACT has a host with this address.' }),
        address: Type.String(),
        property: Type.String({ description: 'Value of the configured property; empty: not set.' }),
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
  summary: 'Says what Cisco ISE and CounterACT know of a host, asked now',
  description:
    'The first four addresses of the host that are up; waits at most eight seconds for each system. Four at once: others get 503 with `retry-after`.',
  permission: 'fleet:read',
  params: closed({ agentId: Type.String({ maxLength: 64 }) }),
  response: NacEndpoint,
  errors: ['unavailable'],
})

export const testIse = testOperation('testIse', 'TestISE', 'ise', 'Tries Cisco ISE; changes nothing there')
export const testCact = testOperation('testCact', 'TestCACT', 'cact', 'Tries CounterACT; changes nothing there')
