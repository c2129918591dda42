import { hash } from 'node:crypto'
import type { DeviceReport, PolicyRule } from '@portcullis/contract'
import { classify } from './classify.ts'
import { hasSerial, type ParsedDescriptors } from './descriptors.ts'
import { fingerprints } from './fingerprint.ts'
import { isPlainHub } from './hub.ts'
import type { CapabilityKind } from './icons.ts'
import type { AttackLevel } from './risk.ts'
import { cleanText } from './text.ts'

/** What decided, strongest first; `default` is the implicit block of an armed host. */
export const policySources = ['hub', 'attack-tool', 'deny', 'grant', 'host', 'tag', 'global', 'default'] as const
export type PolicySource = (typeof policySources)[number]

/** What the policy says of a device on an armed host. A free host records the same decision and blocks nothing. */
export interface PolicyDecision {
  effect: 'allow' | 'block'
  source: PolicySource
  /** Rule that decided; for `attack-tool`, `hub` and `default` there is none. */
  ruleId: string | null
}

/** All that a decision looks at. */
export interface PolicyDevice {
  /** Four upper-case hex digits. */
  vid: string
  pid: string
  /** Cleaned; empty when the device has none. */
  serial: string
  /** Kinds by the descriptors alone: what is known before a driver binds. `Unknown` is among them when not all is known. */
  kinds: readonly CapabilityKind[]
  /**
   * It may turn out to be a keyboard, so an allow by kind has to name keyboards. True of every HID interface, mice too:
   * what it sends is said by its report descriptor, which is read after it was let in, whatever its protocol claims. True
   * of HID devices without such an interface, too: drivers of remote controls pick them by their ids and send keys.
   */
  mayType: boolean
  /** It has the shape of a hub and of nothing else (`isPlainHub`). Which driver the kernel binds is seen afterwards. */
  isHub: boolean
  fingerprint: string
  fingerprintWithoutRevision: string
  attackTool: AttackLevel | null
}

const HID_CLASS = 0x03

/**
 * The part of a report that a decision may look at. The kernel shows report descriptors and the string of the active
 * configuration only while a device is authorised, and a decision has to be the same before and after. Texts are cleaned,
 * an empty one is none: the server keeps them so. What judges attack tools for a decision has to be given this as well.
 */
export const steadyReport = (report: DeviceReport): DeviceReport => {
  const { reportDescriptors: _, configuration: __, manufacturer, product, serial, ...steady } = report
  const texts = Object.entries({ manufacturer, product, serial }).flatMap(([key, value]) => {
    const clean = cleanText(value ?? '')
    return clean === '' ? [] : [[key, clean]]
  })
  return { ...steady, ...Object.fromEntries(texts) }
}

/**
 * What a decision looks at, from a report. Its fingerprints are of the steady part: a rule that names a fingerprint has to
 * be made from these, not from those of a whole report.
 */
export const policyDevice = (
  parsed: ParsedDescriptors,
  report: DeviceReport,
  attackTool: AttackLevel | null,
): PolicyDevice => {
  const plain = steadyReport(report)
  const prints = fingerprints(parsed, plain)
  const interfaces = parsed.configurations.flatMap((c) => c.interfaces)
  const { capabilities: kinds, hasMore } = classify(parsed, plain)
  const isUnknown = hasMore || !parsed.isComplete
  return {
    vid: parsed.vid,
    pid: parsed.pid,
    serial: hasSerial(parsed, plain) ? (plain.serial ?? '') : '',
    kinds: isUnknown && !kinds.includes('Unknown') ? [...kinds, 'Unknown'] : kinds,
    mayType: !parsed.isComplete || kinds.includes('HID') || interfaces.some((i) => i.class === HID_CLASS),
    isHub: isPlainHub(parsed),
    fingerprint: prints.exact,
    fingerprintWithoutRevision: prints.withoutRevision,
    attackTool,
  }
}

/** Kinds that come along with keyboards (media keys, second collections) and add no way to do harm. */
const companions: ReadonlySet<CapabilityKind> = new Set(['HID'])

const kindsMatch = (rule: PolicyRule, device: PolicyDevice): boolean => {
  const { kinds } = rule
  if (kinds === undefined) return true
  const named = (kind: CapabilityKind): boolean => kinds.includes(kind)
  if (rule.effect === 'deny') return device.kinds.some(named)
  // All that a device can do has to be allowed: a stick that also types is not covered by "allow Mass Storage".
  const canType = named('Keyboard')
  if (device.mayType && !canType) return false
  return device.kinds.every((kind) => named(kind) || (companions.has(kind) && canType))
}

/** Whether a rule speaks of a device. Absent members ask nothing; a rule without any never matches. */
export const ruleMatches = (rule: PolicyRule, device: PolicyDevice): boolean =>
  (rule.vid !== undefined || rule.kinds !== undefined || rule.fingerprint !== undefined) &&
  (rule.vid === undefined || rule.vid === device.vid) &&
  (rule.pid === undefined || rule.pid === device.pid) &&
  (rule.serial === undefined || rule.serial === device.serial) &&
  (rule.fingerprint === undefined ||
    rule.fingerprint === device.fingerprint ||
    rule.fingerprint === device.fingerprintWithoutRevision) &&
  kindsMatch(rule, device)

const isInForce = (rule: PolicyRule, now: number): boolean =>
  rule.expiresAt === undefined || Date.parse(rule.expiresAt) > now

const levels = ['grant', 'host', 'tag', 'global'] as const

/** Which of several matching rules is named: the one that says most, then the smaller id. The effect is the same. */
const surest = (rules: readonly PolicyRule[]): PolicyRule | undefined => {
  const weight = (r: PolicyRule): number =>
    (r.serial === undefined ? 0 : 16) +
    (r.fingerprint === undefined ? 0 : 8) +
    (r.pid === undefined ? 0 : 4) +
    (r.vid === undefined ? 0 : 2) +
    (r.kinds === undefined ? 0 : 1)
  return [...rules].sort((a, b) => weight(b) - weight(a) || (a.id < b.id ? -1 : 1))[0]
}

/**
 * The decision: hub, then attack tool, explicit deny, temporary grant, allow for the host, for a tag, for all, and the
 * implicit block. Pure; the server and the agent run this same function.
 *
 * A hub is what can do nothing else. An attack tool passes only by an allow that says `overrideAttackTool`.
 *
 * @param rules of this host, in any order
 * @param now ms since 1970; rules that expired by then are not in force
 */
export const decide = (rules: readonly PolicyRule[], device: PolicyDevice, now: number): PolicyDecision => {
  if (device.attackTool === null && device.isHub) return { effect: 'allow', source: 'hub', ruleId: null }
  const matching = rules.filter((rule) => isInForce(rule, now) && ruleMatches(rule, device))
  const denied = surest(matching.filter((rule) => rule.effect === 'deny'))
  const allows = matching.filter((rule) => rule.effect === 'allow')
  const usable = device.attackTool === null ? allows : allows.filter((rule) => rule.overrideAttackTool === true)
  if (device.attackTool !== null && usable.length === 0) return { effect: 'block', source: 'attack-tool', ruleId: null }
  if (denied !== undefined) return { effect: 'block', source: 'deny', ruleId: denied.id }
  for (const level of levels) {
    const found = surest(usable.filter((rule) => rule.level === level))
    if (found !== undefined) return { effect: 'allow', source: level, ruleId: found.id }
  }
  return { effect: 'block', source: 'default', ruleId: null }
}

/** Whether a whitelist applies to a host: it is armed, or an allow is in force on it. */
export const hasWhitelist = (armed: boolean, rules: readonly PolicyRule[], now: number): boolean =>
  armed || rules.some((rule) => rule.effect === 'allow' && rule.level !== 'grant' && isInForce(rule, now))

/** Crockford's base 32: no I, L, O, U, so that a number survives a telephone. */
const caseAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * Number that a user reads from his screen and an operator finds the device by: the same on host and server, the same at
 * every attachment of this device to this host. `PC-` and six characters, 30 bits.
 */
export const caseNumber = (
  agentId: string,
  device: Pick<PolicyDevice, 'vid' | 'pid' | 'serial' | 'fingerprintWithoutRevision'> & { portPath: string },
): string => {
  const { vid, pid, serial, portPath, fingerprintWithoutRevision } = device
  const text = JSON.stringify([agentId, vid, pid, serial === '' ? portPath : serial, fingerprintWithoutRevision])
  const bits = hash('sha256', `portcullis-case ${text}`, 'buffer').readUInt32BE(0) >>> 2
  return `PC-${Array.from({ length: 6 }, (_, i) => caseAlphabet[(bits >>> (25 - 5 * i)) & 31]).join('')}`
}
