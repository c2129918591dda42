/** How a simulated host decides: by the rules its server sent, with the same function as a real one. */
import type { DeviceReport, PolicyRule } from '@portcullis/contract'
import { decide, hasSerial, type PolicyDevice, parseReport, policyDevice } from '@portcullis/domain'

/** Designs of the fleet: 10,000 hosts share some hundred, so each is parsed once. */
const designs = new Map<string, { device: PolicyDevice; hasSerial: boolean }>()

const deviceOf = (report: DeviceReport): PolicyDevice => {
  const key = `${report.descriptors} ${report.manufacturer ?? ''} ${report.product ?? ''}`
  let known = designs.get(key)
  if (known === undefined) {
    const parsed = parseReport(report)
    // Without the list of attack tools: such a host blocks them as it does whatever no rule allows.
    known = { device: policyDevice(parsed, report, null), hasSerial: hasSerial(parsed, report) }
    designs.set(key, known)
  }
  return { ...known.device, serial: known.hasSerial ? (report.serial ?? '') : '' }
}

/** Decisions of an armed host. A device that `isExempt` was there when it was armed: only a deny takes it away. */
export const createJudge =
  (rules: readonly PolicyRule[], policyVersion: number, isExempt: (report: DeviceReport) => boolean, now: number) =>
  (report: DeviceReport): DeviceReport => {
    const { effect, source, ruleId } = decide(rules, deviceOf(report), now)
    const isSpared = effect === 'block' && source === 'default' && isExempt(report)
    return {
      ...report,
      authorized: effect === 'allow' || isSpared,
      enforced: { effect, source, ruleId, policyVersion, ...(isSpared ? { guard: 'present' as const } : {}) },
    }
  }
export type Judge = ReturnType<typeof createJudge>
