import type { DeviceReport } from '@portcullis/contract/agent-protocol'
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
  policyDevice,
  steadyReport,
} from '@portcullis/domain'
import type { ScannedDevice } from '../collectors/sysfs.ts'
import type { HeldPolicy } from './policy-file.ts'

/** A device as the policy sees it. */
export interface JudgedDevice {
  portPath: string
  instance: string
  device: PolicyDevice
  /** The report of the device, the same before and after it is authorised. */
  parsed: ParsedDescriptors
  steady: DeviceReport
  /** Place and identity but for the firmware: the same after a replug at this port or a firmware update. */
  key: string
  /** For people: cleaned product or maker, else the ids. */
  name: string
}

const nameOf = (report: DeviceReport, device: PolicyDevice): string =>
  cleanText(report.product ?? '', 80) ||
  cleanText(report.manufacturer ?? '', 80) ||
  `${device.kinds[0] ?? 'Unknown'} ${device.vid}:${device.pid}`

/** Judges devices by a policy, remembering what each attachment is: parsing and fingerprints are the dear part. */
export const createJudge = () => {
  let held: HeldPolicy | undefined
  let known = new Map<string, { text: string; judged: JudgedDevice }>()

  function identify({ report, instance }: ScannedDevice): JudgedDevice {
    const steady = steadyReport(report)
    // Authorisation is our own doing and no part of what the device is.
    const text = JSON.stringify([
      instance,
      { ...steady, authorized: undefined, enforced: undefined, mismatch: undefined },
    ])
    const cached = known.get(report.portPath)
    if (cached?.text === text) return cached.judged
    const parsed = parseReport(steady)
    const { kinds } = classify(parsed, steady)
    const finding = held?.attackTools.assess({ parsed, report: steady, kinds }).finding ?? null
    const device = policyDevice(parsed, steady, finding?.level ?? null)
    const judged = {
      portPath: report.portPath,
      instance,
      device,
      parsed,
      steady,
      key: `${report.portPath}|${device.fingerprintWithoutRevision}|${device.serial}`,
      name: nameOf(report, device),
    }
    known.set(report.portPath, { text, judged })
    return judged
  }

  return {
    /** From here on this policy counts; undefined: only hubs are known to pass. */
    use(policy: HeldPolicy | undefined): void {
      held = policy
      known = new Map()
    },
    get policy() {
      return held?.policy
    },
    identify,
    /** @param now ms since 1970 */
    decide: (device: PolicyDevice, now: number): PolicyDecision => decide(held?.policy.rules ?? [], device, now),
    /** What allowed a device. Without a rule it is its identity: it was attached before, or worked a moment ago. */
    scopeOf({ source, ruleId }: PolicyDecision, device: PolicyDevice): DriverScope {
      if (source === 'hub') return { by: 'kinds', kinds: ['Hub'] }
      const rule = held?.policy.rules.find(({ id }) => id === ruleId)
      return rule === undefined ? { by: 'identity' } : driverScopeOf(rule, device)
    },
    /** What a person is told of a block. */
    reasonOf({ source, ruleId }: PolicyDecision): string {
      const rule = held?.policy.rules.find(({ id }) => id === ruleId)
      const said = cleanText(rule?.reason ?? '', 200)
      if (said !== '') return said
      if (source === 'attack-tool') return 'It is known or acts as an attack tool.'
      if (source === 'deny') return 'A rule of your organisation denies it.'
      return 'It is not approved by your organisation.'
    },
    /** When the next grant ends, ms since 1970; infinite when none does. */
    nextExpiry(now: number): number {
      let next = Number.POSITIVE_INFINITY
      for (const { expiresAt } of held?.policy.rules ?? []) {
        const at = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt)
        if (at > now && at < next) next = at
      }
      return next
    },
  }
}
export type Judge = ReturnType<typeof createJudge>
