import { apiPrefix, closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { agentParams } from '#features/agents/contract/agents.ts'

const tag = 'Held ports'
const base = `${apiPrefix}/heldPorts`

/** A USB port that an agent disabled because the kernel bound a driver that is not allowed for the kind of the device. */
export const HeldPortRow = closed({
  id: Type.String({ description: 'ID (UUID) of the held port.' }),
  uuid: Type.String({ description: 'UUID of the host.' }),
  hostIdentifier: Type.String(),
  ipAddress: Type.String(),
  portPath: Type.String({ description: 'Bus and chain of hub ports, for example `1-3.2`.' }),
  heldAt: utcTime('Time at which the server received the report.'),
  evidence: Type.String({
    description:
      'The kind that the device claims and the driver that the kernel bound, for example `claims hub, bound rtl8150`.',
  }),
  vid: Type.String(),
  pid: Type.String(),
  serial: Type.String({ description: 'Serial number. Empty if the device has none.' }),
  name: Type.String({ description: 'Product or manufacturer name that the device reports.' }),
  fingerprint: Type.String({
    description: 'Fingerprint for rules. A deny rule with it blocks the device on all hosts.',
  }),
  isEnforced: Type.Boolean({ description: 'True if the host is Armed, so the port is disabled.' }),
  releaseAskedBy: nullable(
    Type.String({
      description:
        'Account that requested a release that the host has not confirmed yet. `null`: no release is pending.',
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
    AgentId: Type.Optional(Type.String({ maxLength: 128, description: 'UUID of a host. Absent: all hosts.' })),
  }),
  response: closed({ data: Type.Array(HeldPortRow, { description: 'At most 1,000 rows.' }) }),
})

export const releaseHeldPort = operation({
  id: 'releaseHeldPort',
  method: 'POST',
  path: `${base}/{agentId}/{id}/release`,
  tag,
  summary: 'Releases a held port',
  fresh: true,
  description:
    'Sends a signed command to the host. The port stays held until the host confirms the release. If the driver contradicts the claimed kind again, the host holds the port again, unless you accepted the drivers.',
  permission: 'fleet:write',
  params: closed({
    ...agentParams.properties,
    id: Type.String({ minLength: 1, maxLength: 64, description: 'ID of the held port.' }),
  }),
  body: closed({
    acceptDrivers: Type.Boolean({
      description:
        'True: this device may use these drivers on this host from now on. Other devices and hosts are not affected. This counts as allowing devices on one host and needs a second approver above the limit.',
    }),
  }),
  response: closed({ commands: Type.Integer({ description: 'Commands queued: 1.' }) }),
  errors: ['not_found', 'second_person_required'],
})
