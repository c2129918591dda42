import { agentLimits } from '@portcullis/contract/agent-limits.ts'
import { apiPrefix, closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

const tag = 'Policy'
const base = `${apiPrefix}/policy/acceptedFindings`

/** The acceptance of a device's suspected finding, as lists of devices show it. */
export const Acceptance = closed({
  id: Type.String({ description: 'ID (UUID) of the acceptance.' }),
  reason: Type.String(),
  acceptedBy: Type.String(),
  acceptedAt: utcTime('Time of the acceptance.'),
})
export type Acceptance = Static<typeof Acceptance>

export const AcceptedFinding = closed({
  ...Acceptance.properties,
  fingerprint: Type.String({
    description:
      'Rule fingerprint: it is the same at every port and speed, and for every firmware revision. 32 hex digits.',
  }),
  finding: Type.String({ description: 'The accepted finding. Another finding about the device is not accepted.' }),
  vid: Type.String(),
  pid: Type.String(),
  hosts: Type.Integer({ description: 'Number of hosts that have or had a device with this fingerprint.' }),
})
export type AcceptedFinding = Static<typeof AcceptedFinding>

export const listAcceptedFindings = operation({
  id: 'listAcceptedFindings',
  method: 'GET',
  path: base,
  tag,
  summary: 'Lists accepted findings, newest first',
  permission: 'fleet:read',
  response: closed({ data: Type.Array(AcceptedFinding, { maxItems: agentLimits.accepted }) }),
})

export const acceptFinding = operation({
  id: 'acceptFinding',
  method: 'POST',
  path: base,
  tag,
  summary: 'Accepts the suspected finding about a device',
  fresh: 'it is not a dry run',
  errors: ['not_found', 'second_person_required', 'finding_confirmed', 'conflict'],
  description:
    'Devices with the same rule fingerprint and the same finding no longer count as suspected attack tools, on any host: they raise no alerts, and rules decide about them. The acceptance itself allows nothing. It ends when the finding changes or becomes confirmed. A confirmed finding cannot be accepted. If more hosts than the limit block the device as an attack tool, the acceptance becomes a change request. Agents before 0.3.0 keep blocking the device.',
  permission: 'fleet:write',
  body: closed({
    uuid: Type.String({ minLength: 1, maxLength: 128, description: 'UUID of a host that has or had the device.' }),
    deviceID: Type.String({ minLength: 1, maxLength: 512, description: 'Device ID on this host.' }),
    reason: Type.String({ maxLength: 200, description: 'Reason. Required, except for a dry run.' }),
    dryRun: Type.Optional(Type.Boolean({ default: false, description: 'Only returns what the call would do.' })),
  }),
  response: closed({
    acceptance: nullable(AcceptedFinding),
    finding: Type.String({ description: 'Name of the finding.' }),
    evidence: Type.Array(Type.String(), { description: 'Evidence for the finding, as text.' }),
    hosts: Type.Integer({
      description: 'Number of hosts whose decision blocks the device as an attack tool, including free hosts.',
    }),
    version: nullable(Type.Integer({ description: 'Version of the policy after this call. `null` for a dry run.' })),
  }),
})

export const revokeAcceptedFinding = operation({
  id: 'revokeAcceptedFinding',
  method: 'DELETE',
  path: `${base}/{id}`,
  tag,
  summary: 'Revokes the acceptance of a finding',
  description: 'The finding counts again on all hosts, and armed hosts block the device again.',
  permission: 'fleet:write',
  params: closed({ id: Type.String({ minLength: 1, maxLength: 64, description: 'ID of the acceptance.' }) }),
  query: closed({ reason: Type.Optional(Type.String({ maxLength: 200, description: 'Reason for the audit trail.' })) }),
  response: closed({ version: Type.Integer({ description: 'Version of the policy after this call.' }) }),
})
