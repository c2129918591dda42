import type { Enforced } from '@portcullis/contract'
import {
  caseNumber,
  decide,
  deviceSeverity,
  isAllowing,
  mustExist,
  type PolicyDecision,
  type PolicySource,
  riskScore,
  severityOf,
  sourceOf,
} from '@portcullis/domain'
import { deviceOf, type Fingerprint, type KernelReport, type StoredPeripheral } from '#features/devices/server/index.ts'
import type { HostPolicy } from './rule-set.ts'

/** A peripheral of one host, with the policy decision about it. */
export interface HostPeripheral {
  deviceId: string
  design: Fingerprint
  portPath: string
  serial: string
  speed: number
  present: boolean
  authorized: boolean
  /** 10 to 50: the severity of its fingerprint or of being unapproved, whichever is higher. */
  severity: number
  /** The action that the host reported; null: the host enforces nothing. */
  enforced: Enforced | null
  source: PolicySource
  ruleId: string | null
  /** Attached, and not on the allowlist of its host. */
  unapproved: boolean
  /** Set when the device is first blocked; shown to the user of the host. */
  caseNumber: string
  /**
   * The kind that the device claims and the driver that the kernel bound, if they contradict each other; else empty.
   */
  driverMismatch: string
  kernel: KernelReport
  /** Location of its controller; empty: not reported. Null: an earlier release stored it, with a cleaned serial number. */
  controller: string | null
}

/** Builds the state of a host from its stored rows. */
export const hostOf = (
  rows: readonly StoredPeripheral[],
  designs: ReadonlyMap<number, Fingerprint>,
): HostPeripheral[] =>
  rows.map((row) => ({
    deviceId: row.device_id,
    design: mustExist(designs.get(row.design_id), 'the fingerprint of a device'),
    portPath: row.port_path,
    serial: row.serial,
    speed: row.speed,
    present: row.present,
    authorized: row.authorized,
    severity: row.severity,
    enforced: row.enforced,
    source: sourceOf(row.source),
    ruleId: row.rule_id,
    unapproved: row.unapproved,
    caseNumber: row.case_number,
    driverMismatch: row.driver_mismatch,
    kernel: row.kernel,
    controller: row.controller,
  }))

/** Returns the decision that an armed host makes by its rules. */
const decideFor = (host: HostPolicy, p: HostPeripheral, now: number): PolicyDecision =>
  decide(host.rulesFor(p.design), deviceOf(p.design, p), now)

/**
 * Decides about all peripherals of a host. Unchanged peripherals are returned as the same objects, so the caller writes
 * only changes.
 */
export const judgeHost = (
  agentId: string,
  all: readonly HostPeripheral[],
  host: HostPolicy,
  now: number,
): HostPeripheral[] => {
  const whitelist = host.hasWhitelist(now)
  return all.map((p) => {
    const { source, ruleId, effect } = decideFor(host, p, now)
    const unapproved = p.present && whitelist && effect === 'block'
    const number =
      p.caseNumber === '' && effect === 'block' && !p.authorized
        ? caseNumber(agentId, { ...deviceOf(p.design, p), portPath: p.portPath })
        : p.caseNumber
    const severity = deviceSeverity(p.design.severity, unapproved)
    return p.source === source &&
      p.ruleId === ruleId &&
      p.unapproved === unapproved &&
      p.severity === severity &&
      p.caseNumber === number
      ? p
      : { ...p, source, ruleId, unapproved, severity, caseNumber: number }
  })
}

const vulnerablePoints = (design: Fingerprint): number =>
  Math.max(...design.vulnerabilities.map((v) => Math.round((v.cvss ?? 5) * (v.confidence === 'firmware' ? 3 : 2))))

/** Points of unapproved devices: 10 each, 30 at most, so that ten unapproved mice do not outweigh an attack tool. */
const unapprovedPoints = (count: number): number => Math.min(30, count * 10)

const nameOf = (design: Fingerprint): string =>
  `${design.vid}:${design.pid} ${design.productName || design.vendorName}`.trim()

/** Returns the verdict on a host: the maximum of its present peripherals, with the reasons. */
export const verdictOf = (all: readonly HostPeripheral[], whitelist: boolean) => {
  const present = all.filter((p) => p.present)
  const unapproved = present.filter((p) => p.unapproved)
  const designs = [...new Map(present.map((p) => [p.design.id, p.design])).values()]
  const factors = designs.flatMap((design) => {
    const name = nameOf(design)
    return [
      ...(design.attackTool === null
        ? []
        : [
            {
              factor: `${design.attackTool === 'confirmed' ? 'Confirmed' : 'Suspected'} attack tool`,
              points: design.attackTool === 'confirmed' ? 80 : 50,
              evidence: `${name}: ${design.evidence.join('; ')}`,
            },
          ]),
      ...(!design.vulnerable
        ? []
        : [
            {
              factor: 'Vulnerable peripheral',
              points: vulnerablePoints(design),
              evidence: `${name}: ${design.vulnerabilities.map((v) => v.id).join(', ')}`,
            },
          ]),
    ]
  })
  if (unapproved.length > 0)
    factors.push({
      factor: 'Not on the allowlist',
      points: unapprovedPoints(unapproved.length),
      evidence: [...new Set(unapproved.map((p) => nameOf(p.design)))].slice(0, 5).join('; '),
    })
  const score = riskScore(factors)
  const gone = all.filter((p) => !p.present)
  return {
    severity: Math.max(severityOf({}), ...present.map((p) => deviceSeverity(p.design.severity, p.unapproved))),
    risk: score.score,
    riskFactors: score.factors.slice(0, 50),
    approvedPresent: present.length - unapproved.length,
    approvedGone: whitelist ? gone.filter((p) => isAllowing(p.source)).length : gone.length,
    notApproved: unapproved.length,
    vulnerable: designs.some((d) => d.vulnerable),
    attackTool: designs.some((d) => d.attackTool !== null),
    whitelist,
  }
}
