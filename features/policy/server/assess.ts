import { sourceNumber } from '@portcullis/domain'
import { createYielder } from '@portcullis/platform/server/yielder.ts'
import type { StoredVerdict } from '#features/agents/server/index.ts'
import type { PeripheralWrite } from '#features/devices/server/index.ts'
import { type HostPeripheral, judgeHost, verdictOf } from './host.ts'
import type { HostPolicy } from './rule-set.ts'

export interface HostToAssess {
  agentId: string
  stored: readonly HostPeripheral[]
  /** Its current peripherals. Unchanged ones are the same objects as in `stored`. */
  current: readonly HostPeripheral[]
}

/** The decisions and the verdict of a host, from its rules and the fingerprints of its devices. */
export interface Assessment {
  agentId: string
  peripherals: readonly HostPeripheral[]
  /** The peripherals that differ from the stored ones. */
  moved: readonly HostPeripheral[]
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

export const rowOf = (agentId: string, p: HostPeripheral): PeripheralWrite => ({
  agentId,
  deviceId: p.deviceId,
  fingerprintId: p.design.id,
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
