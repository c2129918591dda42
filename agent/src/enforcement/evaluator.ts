import type { DeviceReport } from '@portcullis/contract/agent-protocol.ts'
import {
  classify,
  cleanText,
  type DriverScope,
  decide,
  driverScopeOf,
  type ParsedDescriptors,
  type PolicyDecision,
  type PolicyDevice,
  parseReport,
  placeOf,
  policyDevice,
  portsOf,
  steadyReport,
} from '@portcullis/domain'
import type { ScannedDevice } from '../platform/platform.ts'
import type { HeldPolicy } from './policy-file.ts'

/** A device with the values that the policy matches. */
export interface IdentifiedDevice {
  portPath: string
  /** Location of its controller, which stays the same when the system numbers its buses anew. */
  controller: string | undefined
  instance: string
  device: PolicyDevice
  /** Parsed report of the device. It is the same before and after the device is authorised. */
  parsed: ParsedDescriptors
  steady: DeviceReport
  /** Place and identity without the firmware revision. It survives a replug at this port and a firmware update. */
  key: string
  /** The key in the memory of an earlier release, without the number of the bus. Undefined if the place is only a port path. */
  earlierKey: string | undefined
  /** Display name: product, manufacturer, or kind with IDs. */
  name: string
}

const nameOf = (report: DeviceReport, device: PolicyDevice): string =>
  cleanText(report.product ?? '', 80) ||
  cleanText(report.manufacturer ?? '', 80) ||
  `${device.kinds[0]} ${device.vid}:${device.pid}`

/** Evaluates devices by a policy. Caches the identity of each attachment, because parsing and fingerprints are expensive. */
export const createEvaluator = () => {
  let held: HeldPolicy | undefined
  let known = new Map<string, { text: string; identified: IdentifiedDevice }>()
  // Stryker disable next-line ArrayDeclaration: A text matches no device and never expires.
  const rules = () => held?.policy.rules ?? []

  function identify({ report, instance }: ScannedDevice): IdentifiedDevice {
    const steady = steadyReport(report)
    // The agent sets the authorisation, so it is not part of the identity.
    const text = JSON.stringify([
      instance,
      { ...steady, serial: report.serial, authorized: undefined, enforced: undefined, mismatch: undefined },
    ])
    const cached = known.get(report.portPath)
    if (cached?.text === text) return cached.identified
    const parsed = parseReport(steady)
    const { kinds } = classify(parsed, steady)
    const finding = held?.attackTools.assess({ parsed, report: steady, kinds }).finding ?? null
    const found = policyDevice(parsed, report, finding?.level ?? null)
    const isAccepted = found.attackTool === 'suspected' && held?.policy.accepted?.includes(found.ruleFingerprint)
    const device = isAccepted ? { ...found, attackTool: null } : found
    const identified = {
      portPath: report.portPath,
      controller: report.controller,
      instance,
      device,
      parsed,
      steady,
      key: `${placeOf(report)}|${device.fingerprintWithoutRevision}|${device.serial}`,
      earlierKey:
        report.controller === undefined
          ? undefined
          : `${portsOf(report.portPath)}|${device.fingerprintWithoutRevision}|${steady.serial ?? ''}`,
      name: nameOf(report, device),
    }
    known.set(report.portPath, { text, identified })
    return identified
  }

  return {
    /** Sets the policy. Without a policy, only hubs are allowed. */
    use(policy: HeldPolicy | undefined): void {
      held = policy
      known = new Map()
    },
    get policy() {
      return held?.policy
    },
    identify,
    /** @param now ms since 1970 */
    decide: (device: PolicyDevice, now: number): PolicyDecision => decide(rules(), device, now),
    /** Returns the scope that allowed a device. Without a rule, a guard for its identity allowed it. */
    scopeOf({ source, ruleId }: PolicyDecision, device: PolicyDevice): DriverScope {
      if (source === 'hub') return { by: 'kinds', kinds: ['Hub'] }
      const rule = held?.policy.rules.find(({ id }) => id === ruleId)
      return rule === undefined ? { by: 'identity' } : driverScopeOf(rule, device)
    },
    /** Returns the reason of a block for the user. */
    reasonOf({ source, ruleId }: PolicyDecision): string {
      const rule = held?.policy.rules.find(({ id }) => id === ruleId)
      const ruleReason = cleanText(rule?.reason ?? '', 200)
      if (ruleReason !== '') return ruleReason
      if (source === 'attack-tool') return 'This device is a known attack tool or behaves like one.'
      if (source === 'deny') return 'Your organisation denies this device.'
      return 'This device is not on the allowlist of your organisation.'
    },
    /** Returns the time in ms since 1970 at which the next grant expires; infinite without one. */
    nextExpiry(now: number): number {
      // Stryker disable next-line StringLiteral: Neither text is a time.
      const ends = rules().map(({ expiresAt = '' }) => Date.parse(expiresAt))
      return Math.min(...ends.filter((at) => at > now))
    },
  }
}
export type Evaluator = ReturnType<typeof createEvaluator>
