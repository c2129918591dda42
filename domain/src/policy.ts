import { hash } from 'node:crypto'
import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import type { PolicyRule } from '@portcullis/contract/policy-and-commands.ts'
import { classify } from './classify.ts'
import type { ParsedDescriptors } from './descriptors.ts'
import { isSameSerial } from './device-id.ts'
import { fingerprints, ruleFingerprint } from './fingerprint.ts'
import { isPlainHub } from './hub.ts'
import type { CapabilityKind } from './icons.ts'
import type { AttackLevel } from './risk.ts'
import { cleanText, escapeText, unescapeText } from './text.ts'

/** Sources of decisions, strongest first. `default` is the implicit block of an armed host. */
export const policySources = ['hub', 'attack-tool', 'deny', 'grant', 'host', 'tag', 'global', 'default'] as const
export type PolicySource = (typeof policySources)[number]

/** Returns the number of a source in the database. */
export const sourceNumber = (source: PolicySource): number => policySources.indexOf(source)

/** Returns the source with this number in the database. */
export const sourceOf = (n: number): PolicySource => policySources[n] ?? 'default'

/** Returns the numbers of sources as a list in SQL, for `in`. */
export const sourcesSql = (...sources: readonly PolicySource[]): string => `(${sources.map(sourceNumber).join(', ')})`

export const isAllowing = (source: PolicySource): boolean => !['attack-tool', 'deny', 'default'].includes(source)

/** Decisions that approving attached devices replaces: the block without a rule, and grants because they expire. */
export const approvableSources = ['grant', 'default'] as const satisfies PolicySource[]

/** Decisions about devices that wait for an approval. */
export const waitingSources = ['attack-tool', 'default'] as const satisfies PolicySource[]

/** The decision on a device on an armed host. A Free host records the same decision and blocks nothing. */
export interface PolicyDecision {
  effect: 'allow' | 'block'
  source: PolicySource
  /** ID of the rule that decided. Null for `attack-tool`, `hub` and `default`. */
  ruleId: string | null
}

/** The data about a device that decides. */
export interface PolicyDevice {
  /** Four upper-case hex digits. */
  vid: string
  pid: string
  /** Escaped (`escapeText`). Empty if the device has none. */
  serial: string
  /** Kinds according to the descriptors, before a driver binds. Includes `Unknown` if the descriptors are incomplete. */
  kinds: readonly CapabilityKind[]
  /**
   * True if the device may turn out to be a keyboard, so an allow rule by kind must include keyboards. This applies to
   * every HID interface, including mice. Only the report descriptor defines the data that it sends, and the kernel
   * reads it after the device is allowed. It also applies to HID devices without such an interface, because drivers of
   * remote controls bind by VID and PID and send keys.
   */
  mayType: boolean
  /** True if the descriptors are those of a hub only (`isPlainHub`). The bound driver is checked later. */
  isHub: boolean
  fingerprint: string
  fingerprintWithoutRevision: string
  /** The fingerprint that rules name since they hold at every port and speed. */
  ruleFingerprint: string
  attackTool: AttackLevel | null
}

const HID_CLASS = 0x03

/**
 * Returns the part of a report that a decision may use. The kernel exposes report descriptors and the active configuration
 * only while a device is authorised. The decision must be the same before and after. Texts are cleaned and empty strings
 * removed, because they describe the device; its identity is `PolicyDevice.serial`. Evaluate attack tools for a decision
 * with this part as well.
 */
export const steadyReport = (report: DeviceReport): DeviceReport => {
  const {
    reportDescriptors: _,
    configuration: __,
    configurationValue: ___,
    closedInterfaces: ____,
    isOverNetwork: _____,
    manufacturer,
    product,
    serial,
    ...steady
  } = report
  const texts = Object.entries({ manufacturer, product, serial }).flatMap(([key, value]) => {
    const clean = cleanText(value ?? '')
    return clean === '' ? [] : [[key, clean]]
  })
  return { ...steady, ...Object.fromEntries(texts) }
}

/**
 * Extracts the data for a decision from a report with original texts. The fingerprints cover only the steady part. Rules
 * must use these fingerprints and not those of a complete report.
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
    serial: escapeText(report.serial ?? ''),
    kinds: isUnknown && !kinds.includes('Unknown') ? [...kinds, 'Unknown'] : kinds,
    mayType: !parsed.isComplete || kinds.includes('HID') || interfaces.some((i) => i.class === HID_CLASS),
    isHub: isPlainHub(parsed),
    fingerprint: prints.exact,
    fingerprintWithoutRevision: prints.withoutRevision,
    ruleFingerprint: ruleFingerprint(parsed, plain),
    attackTool,
  }
}

/** Kinds that accompany keyboards (media keys, second collections) without additional risk. */
const companions: ReadonlySet<CapabilityKind> = new Set(['HID'])

const kindsMatch = (rule: PolicyRule, device: PolicyDevice): boolean => {
  const { kinds } = rule
  if (kinds === undefined) return true
  const named = (kind: CapabilityKind): boolean => kinds.includes(kind)
  if (rule.effect === 'deny') return device.kinds.some(named)
  // All capabilities must be allowed: "allow Mass Storage" does not cover a storage device that can also type.
  const canType = named('Keyboard')
  if (device.mayType && !canType) return false
  return device.kinds.every((kind) => named(kind) || (companions.has(kind) && canType))
}

/** Compares serial numbers. A rule of an earlier release has a cleaned one, which matches every serial number with this cleaned form. */
const serialMatches = ({ serial, hasCleanedSerial }: PolicyRule, device: PolicyDevice): boolean => {
  if (serial === undefined || isSameSerial(serial, device.serial)) return true
  return hasCleanedSerial === true && isSameSerial(serial, escapeText(cleanText(unescapeText(device.serial))))
}

const fingerprintMatches = ({ fingerprint, ruleFingerprint }: PolicyRule, device: PolicyDevice): boolean =>
  fingerprint === undefined ||
  // Stryker disable next-line ConditionalExpression: Every device has a rule fingerprint.
  (ruleFingerprint !== undefined && ruleFingerprint === device.ruleFingerprint) ||
  [device.ruleFingerprint, device.fingerprint, device.fingerprintWithoutRevision].includes(fingerprint)

/** Returns true if a rule matches a device. Absent fields match everything, but a rule without conditions never matches. */
export const ruleMatches = (rule: PolicyRule, device: PolicyDevice): boolean =>
  (rule.vid !== undefined || rule.kinds !== undefined || rule.fingerprint !== undefined) &&
  (rule.vid === undefined || rule.vid === device.vid) &&
  (rule.pid === undefined || rule.pid === device.pid) &&
  serialMatches(rule, device) &&
  fingerprintMatches(rule, device) &&
  kindsMatch(rule, device)

const isInForce = (rule: PolicyRule, now: number): boolean =>
  rule.expiresAt === undefined || Date.parse(rule.expiresAt) > now

const levels = ['grant', 'host', 'tag', 'global'] as const

/** Selects the matching rule to report: the most specific, then the smallest ID. The effect is the same for all. */
const mostSpecific = (rules: readonly PolicyRule[]): PolicyRule | undefined => {
  const weight = (r: PolicyRule): number =>
    (r.serial === undefined ? 0 : 16) +
    (r.fingerprint === undefined ? 0 : 8) +
    (r.pid === undefined ? 0 : 4) +
    (r.vid === undefined ? 0 : 2) +
    (r.kinds === undefined ? 0 : 1)
  // Stryker disable next-line EqualityOperator: No two rules have the same id.
  return [...rules].sort((a, b) => weight(b) - weight(a) || (a.id < b.id ? -1 : 1))[0]
}

/**
 * Decides on a device: hub, then attack tool, deny, grant, allow for the host, allow for a tag, allow for all hosts, and
 * the implicit block. The server and the agent use this function.
 *
 * A hub is a device without other functions. An attack tool is allowed only by a rule with `overrideAttackTool`.
 *
 * @param rules of this host, in any order
 * @param now ms since 1970; rules that have expired by then do not apply
 */
export const decide = (rules: readonly PolicyRule[], device: PolicyDevice, now: number): PolicyDecision => {
  if (device.attackTool === null && device.isHub) return { effect: 'allow', source: 'hub', ruleId: null }
  const matching = rules.filter((rule) => isInForce(rule, now) && ruleMatches(rule, device))
  const denied = mostSpecific(matching.filter((rule) => rule.effect === 'deny'))
  const allows = matching.filter((rule) => rule.effect === 'allow')
  const usable = device.attackTool === null ? allows : allows.filter((rule) => rule.overrideAttackTool === true)
  if (device.attackTool !== null && usable.length === 0) return { effect: 'block', source: 'attack-tool', ruleId: null }
  if (denied !== undefined) return { effect: 'block', source: 'deny', ruleId: denied.id }
  for (const level of levels) {
    const found = mostSpecific(usable.filter((rule) => rule.level === level))
    if (found !== undefined) return { effect: 'allow', source: level, ruleId: found.id }
  }
  return { effect: 'block', source: 'default', ruleId: null }
}

/** Returns true if an allowlist applies to a host: the host is armed, or an allow rule applies to it. */
export const hasWhitelist = (armed: boolean, rules: readonly PolicyRule[], now: number): boolean =>
  armed || rules.some((rule) => rule.effect === 'allow' && rule.level !== 'grant' && isInForce(rule, now))

/** Crockford's base 32 without I, L, O and U, so that users can read a number aloud on the phone. */
const caseAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * Returns the case number that a user sees and an operator searches for. It is the same on host and server and for every
 * attachment of this device to this host. `PC-` and six characters, 30 bits.
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
