import type { PeripheralWrite } from '#features/devices/peripherals/index.ts'
import type { StoredVerdict } from '#features/fleet/agents/index.ts'
import { createYielder } from '#platform/yielder.ts'
import { type HostPeripheral, judgeHost, sourceNumber, verdictOf } from './host.ts'
import type { HostPolicy } from './rule-set.ts'

/** A locked host that is to be assessed. */
export interface HostToAssess {
  agentId: string
  /** Its peripherals as they are stored. */
  stored: readonly HostPeripheral[]
  /** Its peripherals as they are now. Those that did not change are the same objects as in `stored`. */
  current: readonly HostPeripheral[]
}

/** What the rules and the designs of its devices make of a host. */
export interface Assessment {
  agentId: string
  /** All its peripherals, with their decisions and severities. */
  peripherals: readonly HostPeripheral[]
  /** Those that differ from what is stored. */
  moved: readonly HostPeripheral[]
  verdict: StoredVerdict
}

/** Others get their turn after so many milliseconds: a hundred hosts with a thousand devices each take 300. */
const turnMs = 10

/**
 * Decides about the devices of hosts and computes their verdicts. Reports, changed rules and changed knowledge all come
 * through here. `policies` were opened after the hosts were locked.
 */
export const assessHosts = async (
  hosts: readonly HostToAssess[],
  policies: ReadonlyMap<string, HostPolicy>,
  now: number,
): Promise<Assessment[]> => {
  const yieldNow = createYielder(turnMs)
  const assessed: Assessment[] = []
  for (const { agentId, stored, current } of hosts) {
    await yieldNow()
    const policy = policies.get(agentId)
    if (policy === undefined) throw new Error(`host ${agentId} has no opened policy`)
    const before = new Map(stored.map((p) => [p.deviceId, p]))
    const peripherals = judgeHost(agentId, current, policy, now)
    assessed.push({
      agentId,
      peripherals,
      moved: peripherals.filter((p) => before.get(p.deviceId) !== p),
      verdict: { agentId, ...verdictOf(peripherals, policy.hasWhitelist(now)) },
    })
  }
  return assessed
}

/** A peripheral as it is written. */
export const rowOf = (agentId: string, p: HostPeripheral): PeripheralWrite => ({
  agentId,
  deviceId: p.deviceId,
  designId: p.design.id,
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
})
