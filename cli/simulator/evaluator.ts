/** Evaluates the devices of a simulated host by the rules of its server, with the same function as a real agent. */

import { decide, hasSerial, type PolicyDevice, parseReport, policyDevice } from '@portcullis/domain'
import type { DeviceReport, PolicyRule } from '@portcullis/features/contract.ts'

/** Cached devices. 10,000 hosts share a few hundred of them. */
const parsedDevices = new Map<string, { device: PolicyDevice; hasSerial: boolean }>()

const deviceOf = (report: DeviceReport): PolicyDevice => {
  const key = `${report.descriptors} ${report.manufacturer ?? ''} ${report.product ?? ''}`
  let known = parsedDevices.get(key)
  if (known === undefined) {
    const parsed = parseReport(report)
    // A simulated host does not know attack tools. It blocks them because no rule allows them.
    known = { device: policyDevice(parsed, report, null), hasSerial: hasSerial(parsed, report) }
    parsedDevices.set(key, known)
  }
  return { ...known.device, serial: known.hasSerial ? (report.serial ?? '') : '' }
}

/** Creates the evaluator of an armed host. An exempt device was present at arming, so only a deny blocks it. */
export const createEvaluator =
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
export type Evaluator = ReturnType<typeof createEvaluator>
