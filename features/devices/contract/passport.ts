import { closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

/** Limits of one passport. */
export const passportLimits = { hosts: 500, hostsWithStays: 50, stays: 500, decisions: 500, descriptors: 10 } as const

const uuid = Type.String({ description: 'UUID of the host.' })
const deviceID = Type.String({ description: '`deviceID` of the device on that host.' })
const hostIdentifier = Type.String({ description: 'Name of the host.' })
const fingerprint = Type.String({ description: 'Fingerprint for rules.' })

/** A host that the device is or was attached to. */
export const PassportHost = closed({
  uuid,
  hostIdentifier,
  deviceID,
  hierarchy: Type.String({ description: 'Port path of the last attachment.' }),
  present: Type.Boolean({ description: 'True if the device is attached.' }),
  firstSeen: utcTime('Time of the first attachment.'),
  lastSeen: utcTime('Time of the last attachment or, for a detached device, of its removal.'),
  fingerprint,
})

/** A time during which the device was attached to a host. */
export const PassportStay = closed({
  uuid,
  hostIdentifier,
  deviceID,
  from: utcTime('Time of the attachment on the host, by the clock of the server.'),
  to: nullable(utcTime('Time of the removal.'), { description: '`null`: still attached.' }),
  isApproximate: Type.Boolean({
    description: 'True if an end of the stay follows from the list of devices, because no event of it is stored.',
  }),
  blocked: Type.Boolean({ description: 'True if the host blocked the device during the stay.' }),
})
export type PassportStay = Static<typeof PassportStay>

/** A decision about the device when it was made. */
export const PassportDecision = closed({
  at: utcTime('Time of the decision.'),
  uuid,
  hostIdentifier,
  deviceID,
  decision: Type.Enum(['allow', 'block'], { 'x-labels': { allow: 'Allowed', block: 'Not allowed' } }),
  reason: Type.String({ description: 'Reason of the decision. If the rule was deleted, its own reason is missing.' }),
  ruleID: nullable(Type.String(), { description: 'Rule or grant that decided. `null`: none did.' }),
  ruleExists: Type.Boolean({ description: 'True if that rule still exists.' }),
  policyVersion: Type.Integer({ description: 'Version of the policy at that time.' }),
  knowledgeVersion: Type.String({
    description: 'Version of the knowledge that the server evaluated the fingerprint with at that time.',
  }),
  fingerprint,
})

/** What it means if several hosts or fingerprints have one serial number. */
export const PassportWarning = closed({
  kind: Type.Enum(['fingerprints', 'hosts', 'placeholder'], {
    description:
      '`fingerprints`: devices with this model and serial number have different descriptors. `hosts`: two hosts had it at the same time. `placeholder`: the vendor gives this serial number to many devices.',
  }),
  text: Type.String({ description: 'What was found.' }),
  consequence: Type.String({ description: 'What it means for rules and approvals.' }),
})
export type PassportWarning = Static<typeof PassportWarning>

/** The descriptors of a device with one fingerprint. */
export const PassportDescriptors = closed({
  fingerprint,
  uuid,
  hostIdentifier,
  deviceID,
  bytes: Type.String({
    contentEncoding: 'base64',
    description:
      'Device and configuration descriptors as the host read them, as Linux shows them in the file `descriptors`.',
  }),
})
export type PassportDescriptors = Static<typeof PassportDescriptors>

/** A debug log of a host, collected since the device was first attached to it. */
export const PassportLog = closed({
  uuid,
  hostIdentifier,
  id: Type.String({ description: 'ID of the log. `getDebugLog` returns it.' }),
  collectedAt: utcTime('Time when the server received it.'),
  size: Type.Integer({ description: 'Bytes.' }),
})
export type PassportLog = Static<typeof PassportLog>

export const getDevicePassport = operation({
  id: 'getDevicePassport',
  method: 'GET',
  path: '/prime/webui/peripherals/{uuid}/passport',
  tag: 'Peripherals',
  summary: 'Returns where a device was, and each decision about it',
  description: `A device is its model and serial number on all hosts. Without a serial number, or with a placeholder, it is the device of the given host. Returns at most ${passportLimits.hosts} hosts, and the stays and debug logs of the newest ${passportLimits.hostsWithStays} of them. Stays come from events, so they go back as far as events are kept. Decisions are recorded when they change.`,
  permission: 'fleet:read',
  params: closed({
    uuid: Type.String({ minLength: 1, maxLength: 128, description: 'UUID of a host with the device.' }),
  }),
  query: closed({
    deviceID: Type.String({ minLength: 1, maxLength: 1_024, description: '`deviceID` of the device on that host.' }),
  }),
  response: closed({
    isOneDevice: Type.Boolean({
      description: 'True if the serial number identifies the device, so that the passport covers all hosts.',
    }),
    hosts: Type.Array(PassportHost, { description: 'Newest first.' }),
    stays: Type.Array(PassportStay, { description: 'Newest first.' }),
    decisions: Type.Array(PassportDecision, { description: 'Newest first.' }),
    warnings: Type.Array(PassportWarning),
    descriptors: Type.Array(PassportDescriptors, {
      maxItems: passportLimits.descriptors,
      description: 'One for each fingerprint, that of the newest host first.',
    }),
    logs: Type.Array(PassportLog, { description: 'Newest first.' }),
    isComplete: Type.Boolean({ description: 'False if a limit left out hosts, stays or decisions.' }),
  }),
})
