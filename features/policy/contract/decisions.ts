import { agentLimits } from '@portcullis/contract/agent-limits.ts'
import { closed, nullable, operation } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { groupOfRules } from './rule-groups.ts'

const identity = (what: string) => Type.Optional(nullable(Type.String({ maxLength: 255, description: what })))

/** A device on one host, or all devices of a model on it. */
const device = {
  uuid: identity('UUID of the host.'),
  hostIdentifier: identity('Host name, ignoring case.'),
  ipAddress: identity('IP address of the host.'),
  vid: Type.String({ pattern: '^[0-9A-Fa-f]{4}$', description: 'Vendor ID (VID).' }),
  pid: Type.String({ pattern: '^[0-9A-Fa-f]{4}$', description: 'Product ID (PID).' }),
  serialNumber: Type.Optional(
    nullable(
      Type.String({ maxLength: agentLimits.escapedString, description: 'Only devices with this serial number.' }),
    ),
  ),
  deviceID: Type.Optional(nullable(Type.String({ maxLength: 2048, description: 'Only the device with this ID.' }))),
}

export const peripheralsCommand = operation({
  id: 'peripheralsCommand',
  method: 'POST',
  path: '/prime/webui/peripherals/command',
  tag: 'Peripherals',
  summary: 'Approves or denies devices on hosts',
  description:
    '`APPROVE` creates an allow rule for the host, `DISAPPROVE` a deny rule. An earlier approval or denial of the same device is removed. Each item identifies exactly one host. Only an Administrator can approve a suspected or confirmed attack tool, with `overrideAttackTool` and a reason.',
  permission: 'fleet:write',
  fresh: 'it approves an attack tool',
  plainErrors: true,
  body: closed({
    opCode: Type.String({ maxLength: 16, description: '`APPROVE` or `DISAPPROVE`, ignoring case.' }),
    peripheralsIds: nullable(Type.Array(closed(device), { maxItems: 100_000 })),
    reason: Type.Optional(
      nullable(Type.String({ maxLength: 200, description: 'Reason. It is shown with the decision.' })),
    ),
    overrideAttackTool: Type.Optional(
      nullable(Type.Boolean({ description: 'True: approve attack tools. Only for Administrators.' })),
    ),
  }),
  response: Type.Array(Type.String(), { description: 'UUIDs of the hosts, each once.' }),
  errors: ['forbidden_object', 'policy_tests_failed', 'second_person_required'],
})

const decided = {
  decision: Type.Enum(['allow', 'deny', 'grant'], {
    description: '`grant`: an allow rule that expires at `expiresAt`.',
  }),
  devices: Type.Array(closed(device), { minItems: 1, maxItems: 10_000 }),
  expiresAt: Type.Optional(
    Type.String({ maxLength: 64, description: 'ISO 8601. Required for a grant, otherwise refused.' }),
  ),
  overrideAttackTool: Type.Optional(Type.Boolean({ default: false })),
}

/** A decision about devices, for a preview. */
export const DecisionDraft = closed(decided, {
  description: 'The decision that `decideDevices` makes with these members.',
})
export type DecisionDraft = Static<typeof DecisionDraft>

/** Makes one decision about many devices. */
export const decideDevices = operation({
  id: 'decideDevices',
  method: 'POST',
  path: '/prime/webui/policy/decisions',
  tag: 'Policy',
  summary: 'Allows, denies or grants many devices in one change',
  description:
    'The change is applied completely or not at all. It creates one version of the policy and one audit record, and `undoPolicyVersion` undoes it. Each device is decided on for its host only. A change that newly allows devices on more hosts than the limit becomes a change request. Only an Administrator can allow an attack tool, with `overrideAttackTool`.',
  permission: 'fleet:write',
  fresh: 'it allows an attack tool',
  body: closed({
    ...decided,
    reason: Type.String({
      maxLength: 200,
      description:
        'Reason. It is shown with the decision. Required to allow or grant devices on more than one host, and for attack tools.',
    }),
    group: groupOfRules,
  }),
  response: closed({
    version: Type.Integer({ description: 'Version of the policy after this call.' }),
    isChanged: Type.Boolean({ description: 'False if all devices already had this decision.' }),
    rules: Type.Integer({ description: 'Number of rules that make up the decision.' }),
    agents: Type.Integer({ description: 'Number of hosts of the devices.' }),
    jobId: nullable(
      Type.String({
        description: 'ID of the job that applies the decision to the hosts. `null` if no job was needed.',
      }),
    ),
  }),
  errors: ['forbidden_object', 'policy_tests_failed', 'second_person_required'],
})
