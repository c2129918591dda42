import { hostText, whatOf } from './shown-rules.ts'

/** An attached device that a request of "approve all" names: its host, and what the rule for it matches. */
export interface AttachedDevice {
  agentId: string
  vid: string
  pid: string
  serial: string
  fingerprint: string | null
  ruleFingerprint: string | null
}

/** Maximum number of devices that one request names. */
export const maxAttachedDevices = 50_000

/** Returns an attached device as one text. Two devices with the same text get the same rule. */
export const attachedKey = (d: AttachedDevice): string =>
  JSON.stringify([d.agentId, d.vid, d.pid, d.serial, d.fingerprint, d.ruleFingerprint])

/** Returns the line about an attached device in a request, in the form of the rule that an approval writes. */
export const attachedLine = (d: AttachedDevice, names: ReadonlyMap<string, string>): string =>
  `Allow ${whatOf({ ...d, exact_serial: true, kinds: null, rule_fingerprint: d.ruleFingerprint })} on host ${hostText(d.agentId, names)}`

/** Sorts devices without a serial number first, because the rules for them also match others of their model. */
export const sortedAttached = (devices: readonly AttachedDevice[]): AttachedDevice[] =>
  [...new Map(devices.map((d) => [`${d.serial === '' ? 0 : 1} ${attachedKey(d)}`, d])).entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, d]) => d)
