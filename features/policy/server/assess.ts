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
  sourceNumber,
  sourceOf,
} from '@portcullis/domain'
import { type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import { createYielder } from '@portcullis/platform/server/yielder.ts'
import type { StoredVerdict } from '#features/agents/server/index.ts'
import type { Enforced } from '#features/contract.ts'
import {
  type DeviceFinding,
  deviceOf,
  type FindingWrite,
  type Fingerprint,
  isOpen,
  type KernelReport,
  nextFinding,
  type PeripheralWrite,
  pointsOf,
  type StoredPeripheral,
} from '#features/devices/server/index.ts'
import type { Affected } from './affected.store.ts'
import type { PolicyBaseContext } from './context.ts'
import type { HostPolicy, OpenPolicy } from './open-policy.ts'

/** A peripheral of one host, with the policy decision about it. */
export interface HostPeripheral {
  deviceId: string
  fingerprint: Fingerprint
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
  /** The latest finding about it on this host. */
  finding: DeviceFinding | null
}

/** Returns the fingerprints that the state of hosts refers to. */
export const fingerprintIdsOf = (rows: readonly StoredPeripheral[]): number[] =>
  rows.flatMap(({ design_id, finding }) => (finding === null ? [design_id] : [design_id, finding.fingerprintId]))

const findingOf = (
  { finding }: StoredPeripheral,
  fingerprints: ReadonlyMap<number, Fingerprint>,
): DeviceFinding | null =>
  finding === null
    ? null
    : {
        ...finding,
        fingerprint: mustExist(fingerprints.get(finding.fingerprintId), 'the fingerprint of a finding'),
        lastAttached: new Date(finding.lastAttached),
        detachedAt: finding.detachedAt === null ? null : new Date(finding.detachedAt),
      }

/** Builds the state of a host from its stored rows. */
export const hostOf = (
  rows: readonly StoredPeripheral[],
  fingerprints: ReadonlyMap<number, Fingerprint>,
): HostPeripheral[] =>
  rows.map((row) => ({
    deviceId: row.device_id,
    fingerprint: mustExist(fingerprints.get(row.design_id), 'the fingerprint of a device'),
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
    finding: findingOf(row, fingerprints),
  }))

/** Returns the decision that an armed host makes by its rules. */
const decideFor = (host: HostPolicy, p: HostPeripheral, now: number): PolicyDecision =>
  decide(host.rulesFor(p.fingerprint, p.serial), deviceOf(p.fingerprint, p), now)

/**
 * Decides about all peripherals of a host. Unchanged peripherals are returned as the same objects, so the caller writes
 * only changes.
 */
const evaluateHost = (
  agentId: string,
  all: readonly HostPeripheral[],
  host: HostPolicy,
  attached: HostToAssess['attached'],
  now: number,
): HostPeripheral[] => {
  const whitelist = host.hasWhitelist(now)
  return all.map((p) => {
    const { source, ruleId, effect } = decideFor(host, p, now)
    const unapproved = p.present && whitelist && effect === 'block'
    const number =
      p.caseNumber === '' && effect === 'block' && !p.authorized
        ? caseNumber(agentId, { ...deviceOf(p.fingerprint, p), portPath: p.portPath })
        : p.caseNumber
    const severity = deviceSeverity(p.fingerprint.severity, unapproved)
    const finding = nextFinding(p.finding, p, attached?.get(p.deviceId), now)
    return p.source === source &&
      p.ruleId === ruleId &&
      p.unapproved === unapproved &&
      p.severity === severity &&
      p.caseNumber === number &&
      p.finding === finding
      ? p
      : { ...p, source, ruleId, unapproved, severity, caseNumber: number, finding }
  })
}

const vulnerablePoints = (fingerprint: Fingerprint): number =>
  Math.max(...fingerprint.vulnerabilities.map((v) => Math.round((v.cvss ?? 5) * (v.confidence === 'firmware' ? 3 : 2))))

/** Points of unapproved devices: 10 each, 30 at most, so that ten unapproved mice do not outweigh an attack tool. */
const unapprovedPoints = (count: number): number => Math.min(30, count * 10)

const nameOf = (fingerprint: Fingerprint): string =>
  `${fingerprint.vid}:${fingerprint.pid} ${fingerprint.productName || fingerprint.vendorName}`.trim()

/** Returns the worst finding for each fingerprint: an attached device before the one that was removed last. */
const byFingerprint = (open: readonly DeviceFinding[]): DeviceFinding[] => {
  const removedAt = ({ detachedAt }: DeviceFinding) => detachedAt?.getTime() ?? Number.POSITIVE_INFINITY
  const sorted = open.toSorted((a, b) => removedAt(a) - removedAt(b))
  return [...new Map(sorted.map((finding) => [finding.fingerprint.id, finding])).values()]
}

/**
 * Returns the verdict on a host, with the reasons: the maximum of its open findings, which outlive the removal of their
 * devices, and of its attached devices that are not on the allowlist.
 */
export const verdictOf = (all: readonly HostPeripheral[], whitelist: boolean, now: number) => {
  const present = all.filter((p) => p.present)
  const unapproved = present.filter((p) => p.unapproved)
  const open = all.flatMap(({ finding }) => (isOpen(finding) ? [finding] : []))
  const factors = byFingerprint(open).flatMap((finding) => {
    const { fingerprint, detachedAt } = finding
    const name = `${detachedAt === null ? '' : `Removed on ${detachedAt.toISOString().slice(0, 10)}. `}${nameOf(fingerprint)}`
    return [
      ...(fingerprint.attackTool === null
        ? []
        : [
            {
              factor: `${fingerprint.attackTool === 'confirmed' ? 'Confirmed' : 'Suspected'} attack tool`,
              points: pointsOf(finding, fingerprint.attackTool === 'confirmed' ? 80 : 50, now),
              evidence: `${name}: ${fingerprint.evidence.join('; ')}`,
            },
          ]),
      ...(!fingerprint.vulnerable
        ? []
        : [
            {
              factor: 'Vulnerable peripheral',
              points: pointsOf(finding, vulnerablePoints(fingerprint), now),
              evidence: `${name}: ${fingerprint.vulnerabilities.map((v) => v.id).join(', ')}`,
            },
          ]),
    ]
  })
  if (unapproved.length > 0)
    factors.push({
      factor: 'Not on the allowlist',
      points: unapprovedPoints(unapproved.length),
      evidence: [...new Set(unapproved.map((p) => nameOf(p.fingerprint)))].slice(0, 5).join('; '),
    })
  const score = riskScore(factors)
  const gone = all.filter((p) => !p.present)
  return {
    severity: Math.max(severityOf({ unapproved: unapproved.length > 0 }), ...open.map((finding) => finding.severity)),
    risk: score.score,
    riskFactors: score.factors.slice(0, 50),
    approvedPresent: present.length - unapproved.length,
    approvedGone: whitelist ? gone.filter((p) => isAllowing(p.source)).length : gone.length,
    notApproved: unapproved.length,
    vulnerable: open.some(({ fingerprint }) => fingerprint.vulnerable),
    attackTool: open.some(({ fingerprint }) => fingerprint.attackTool !== null),
    whitelist,
  }
}

export interface HostToAssess {
  agentId: string
  stored: readonly HostPeripheral[]
  /** Its current peripherals. Unchanged ones are the same objects as in `stored`. */
  current: readonly HostPeripheral[]
  /** The worst fingerprint of each device that a report attached, whether or not it was removed again. */
  attached?: ReadonlyMap<string, Fingerprint>
}

/** The decisions and the verdict of a host, from its rules and the fingerprints of its devices. */
export interface Assessment {
  agentId: string
  peripherals: readonly HostPeripheral[]
  /** The peripherals that differ from the stored ones. */
  moved: readonly HostPeripheral[]
  /** The findings that were opened, ended, or changed with their devices. */
  findings: readonly FindingWrite[]
  verdict: StoredVerdict
}

/** Yields to other work after this time in milliseconds: a hundred hosts with a thousand devices each take 300. */
const turnMs = 10

/**
 * Decides about the devices of hosts and computes their verdicts. Reports, changed rules and changed knowledge all use
 * this function. The caller opens `policies` after it locks the hosts.
 */
export const assessHosts = async (
  hosts: readonly HostToAssess[],
  policies: ReadonlyMap<string, HostPolicy>,
  now: number,
): Promise<Assessment[]> => {
  const yieldNow = createYielder(turnMs)
  const assessed: Assessment[] = []
  for (const { agentId, stored, current, attached } of hosts) {
    await yieldNow()
    const policy = policies.get(agentId)
    if (policy === undefined) throw new Error(`host ${agentId} has no opened policy`)
    const before = new Map(stored.map((p) => [p.deviceId, p]))
    const peripherals = evaluateHost(agentId, current, policy, attached, now)
    assessed.push({
      agentId,
      peripherals,
      moved: peripherals.filter((p) => before.get(p.deviceId) !== p),
      findings: peripherals.flatMap(({ deviceId, finding }) =>
        finding === null || finding === before.get(deviceId)?.finding ? [] : [{ agentId, deviceId, finding }],
      ),
      verdict: { agentId, ...verdictOf(peripherals, policy.hasWhitelist(now), now) },
    })
  }
  return assessed
}

export const rowOf = (agentId: string, p: HostPeripheral): PeripheralWrite => ({
  agentId,
  deviceId: p.deviceId,
  fingerprintId: p.fingerprint.id,
  portPath: p.portPath,
  serial: p.serial,
  speed: p.speed,
  severity: p.severity,
  present: p.present,
  authorized: p.authorized,
  enforced: p.enforced,
  source: sourceNumber(p.source),
  ruleId: p.ruleId,
  unapproved: p.unapproved,
  caseNumber: p.caseNumber,
  driverMismatch: p.driverMismatch,
  kernel: p.kernel,
  controller: p.controller,
})

/** Number of hosts per transaction: about 6,000 peripherals, about 200 ms. */
const hostsAtOnce = 500

/** Recalculates stored decisions when rules, tags or modes change. */
export const createReassess = (
  { db, clock, agents, peripherals, jobs, announce }: PolicyBaseContext,
  { takeQueued }: Affected,
  openPolicies: OpenPolicy['open'],
) => {
  /** Recalculates the decisions about all devices of these hosts. Armed hosts are notified to fetch a changed policy. */
  async function hosts(tx: Tx, agentIds: readonly string[], isPolicyChanged = true): Promise<void> {
    const now = clock.now()
    const states = await agents.lockStates(tx, [...agentIds].sort())
    const ids = states.map((state) => state.agent_id)
    const { policies } = await openPolicies(tx, states)
    const rowsOf = Map.groupBy(await peripherals.storedOf(tx, ids), (row: StoredPeripheral) => row.agent_id)
    const fingerprints = await peripherals.fingerprints.byIds(fingerprintIdsOf([...rowsOf.values()].flat()))
    const assessed = await assessHosts(
      ids.map((agentId) => {
        const stored = hostOf(rowsOf.get(agentId) ?? [], fingerprints)
        return { agentId, stored, current: stored }
      }),
      policies,
      now,
    )
    await peripherals.writeDecisions(
      tx,
      new Date(now),
      assessed.flatMap(({ agentId, moved }) => moved.map((p) => rowOf(agentId, p))),
    )
    await peripherals.writeFindings(
      tx,
      new Date(now),
      assessed.flatMap(({ findings }) => findings),
    )
    await agents.writeVerdicts(
      tx,
      assessed.map(({ verdict }) => verdict),
    )
    const changed = assessed.filter(({ moved }) => moved.length > 0).map(({ agentId }) => agentId)
    const armed = states.filter((state) => state.armed && isPolicyChanged).map((state) => state.agent_id)
    await agents.markPolicyDue(tx, armed)
    if (armed.length > 0) await agents.wake(tx, armed)
    await announce(tx, { agents: ids, peripherals: changed })
  }

  /** Processes one batch of the queue; returns false if the queue was empty. */
  const step = (): Promise<boolean> =>
    transactionAgain(db, async (tx) => {
      const taken = await takeQueued(tx, hostsAtOnce)
      if (taken.length === 0) return false
      await hosts(
        tx,
        taken.map((t) => t.agent_id),
      )
      for (const [jobId, of] of Map.groupBy(taken, (t) => t.job_id))
        if (jobId !== null) await jobs.count(tx, [{ jobId, done: of.length, failed: 0 }])
      return true
    })

  let draining: Promise<void> | null = null
  return {
    hosts,
    /** Works until the queue is empty. At most one run at a time in this process. */
    drain: (): Promise<void> => {
      draining ??= (async () => {
        while (await step());
      })().finally(() => {
        draining = null
      })
      return draining
    },
  }
}
