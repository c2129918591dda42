import { closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { findingVerdicts } from './host-findings.ts'
import { findingLabels, PeripheralModel, Vulnerability } from './peripherals.ts'

/** Limits of the page of one model. */
export const modelPassportLimits = { devices: 20_000, decisions: 50, fingerprints: 100, days: 90 } as const

const count = (description: string) => Type.Integer({ minimum: 0, description })

/** Devices of a model with the same decision by the same rule, or by no rule. */
export const ModelDecision = closed({
  decision: Type.Enum(['allow', 'block'], { 'x-labels': { allow: 'Allowed', block: 'Not allowed' } }),
  reason: Type.String({ description: 'Reason of the decision.' }),
  ruleID: nullable(Type.String(), { description: 'Rule or grant that decided. `null`: none did.' }),
  hosts: count('Hosts with such a device.'),
  devices: count('Attached devices with this decision.'),
})
export type ModelDecision = Static<typeof ModelDecision>

/** One variant of a model. */
export const ModelFingerprint = closed({
  fingerprint: Type.String({ description: 'Rule fingerprint.' }),
  revision: Type.String({ description: 'Revision that the devices report, four hex digits.' }),
  product: Type.String({ description: 'Product name that the devices report.' }),
  interfaces: Type.String({ description: 'USB interfaces, each as class:subclass:protocol.' }),
  severity: Type.Integer({ 'x-labels': findingLabels, description: 'Severity of the finding about the fingerprint.' }),
  hosts: count('Hosts with an attached device of the fingerprint.'),
  devices: count('Attached devices of the fingerprint.'),
  firstSeen: utcTime('First attachment on any host.'),
})
export type ModelFingerprint = Static<typeof ModelFingerprint>

export const getModelPassport = operation({
  id: 'getModelPassport',
  method: 'GET',
  path: '/prime/webui/models/{model}',
  tag: 'Peripherals',
  summary: 'Returns where the devices of a model are, and what is known about them',
  description: `Returns the row of the model in the list of models, with its variants, decisions, findings and serial numbers. Counts of decisions, days and serial numbers cover at most ${modelPassportLimits.devices} devices. Returns at most ${modelPassportLimits.fingerprints} fingerprints and ${modelPassportLimits.decisions} decisions, those with the most devices first.`,
  permission: 'fleet:read',
  params: closed({
    model: Type.String({ pattern: '^[0-9A-Fa-f]{4}:[0-9A-Fa-f]{4}$', description: '`VID:PID` of the model.' }),
  }),
  response: closed({
    model: PeripheralModel,
    days: Type.Array(
      closed({
        day: Type.String({ format: 'date', description: 'Day (UTC).' }),
        hosts: count('Hosts on which a device of the model was seen for the first time on this day.'),
      }),
      { maxItems: modelPassportLimits.days, description: 'Days with new hosts, oldest first.' },
    ),
    earlierHosts: count('Hosts that had a device of the model before these days.'),
    decisions: Type.Array(ModelDecision, { maxItems: modelPassportLimits.decisions }),
    fingerprints: Type.Array(ModelFingerprint, { maxItems: modelPassportLimits.fingerprints }),
    vulnerabilities: Type.Array(Vulnerability, { description: 'Published vulnerabilities of all variants.' }),
    findings: Type.Array(
      closed({
        verdict: nullable(Type.Enum([...findingVerdicts]), { description: '`null`: open.' }),
        count: Type.Integer({ minimum: 1 }),
      }),
      { description: 'Number of findings by verdict.' },
    ),
    serials: closed({
      none: count('Devices without a serial number.'),
      placeholder: count('Devices with a placeholder such as `000000`.'),
      unique: count('Devices whose serial number no other device of the model has.'),
      shared: count('Devices whose serial number another device of the model also has, on the same or another host.'),
    }),
    isComplete: Type.Boolean({ description: 'False if a limit left out devices, decisions or fingerprints.' }),
  }),
})
