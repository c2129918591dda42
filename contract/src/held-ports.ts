import { type Static, Type } from 'typebox'
import { agentParams } from './agents.ts'
import { apiPrefix, closed, nullable, operation, utcTime } from './operation.ts'

const tag = 'Held ports'
const base = `${apiPrefix}/heldPorts`

/** A USB port that an agent holds because the kernel bound a driver that is not allowed for the kind of the device. */
export const HeldPortRow = closed({
  id: Type.String({ description: 'UUID of the hold.' }),
  uuid: Type.String({ description: 'uuid of the host.' }),
  hostIdentifier: Type.String(),
  ipAddress: Type.String(),
  portPath: Type.String({ description: 'Bus, then the chain of hub ports (`1-3.2`).' }),
  heldAt: utcTime('When the server received the report.'),
  evidence: Type.String({
    description: 'What the device claimed and what the kernel bound: `claims hub, bound rtl8150`.',
  }),
  vid: Type.String(),
  pid: Type.String(),
  serial: Type.String({ description: 'Empty when the device has none.' }),
  name: Type.String({ description: 'Product or manufacturer name that the device reports.' }),
  fingerprint: Type.String({
    description: 'Exact fingerprint. A deny rule with it blocks the device on all hosts.',
  }),
  isEnforced: Type.Boolean({ description: 'True when the host is Armed, so the port is closed.' }),
  releaseAskedBy: nullable(
    Type.String({
      description:
        'Account that requested a release that the host has not confirmed yet; `null` = no release is pending.',
    }),
  ),
})
export type HeldPortRow = Static<typeof HeldPortRow>

export const listHeldPorts = operation({
  id: 'listHeldPorts',
  method: 'GET',
  path: base,
  tag,
  summary: 'Lists held ports, newest first',
  permission: 'fleet:read',
  query: closed({
    AgentId: Type.Optional(Type.String({ maxLength: 128, description: 'uuid of one host; absent: all hosts.' })),
  }),
  response: closed({ data: Type.Array(HeldPortRow, { description: 'At most 1,000.' }) }),
})

export const releaseHeldPort = operation({
  id: 'releaseHeldPort',
  method: 'POST',
  path: `${base}/{agentId}/{id}/release`,
  tag,
  summary: 'Releases a held port',
  fresh: true,
  description:
    'Sends the host a signed command. The port stays held until the host confirms the release. If the drivers contradict the claim of the device again, the host holds the port again, unless the drivers were accepted.',
  permission: 'fleet:write',
  params: closed({
    ...agentParams.properties,
    id: Type.String({ minLength: 1, maxLength: 64, description: 'Id of the hold.' }),
  }),
  body: closed({
    acceptDrivers: Type.Boolean({
      description:
        'True: this device may use these drivers on this host from now on. Other devices and hosts are not affected. Counts as allowing devices on one host: above the limit it needs a second approver.',
    }),
  }),
  response: closed({ commands: Type.Integer({ description: 'Commands queued: 1.' }) }),
  errors: ['not_found', 'second_person_required'],
})
