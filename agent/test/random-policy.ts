/** Random devices and rules, and the decision of the policy about them. */
import type { DeviceReport, PolicyRule } from '@portcullis/contract/agent-protocol.ts'
import {
  type AttackToolRow,
  classify,
  createAttackTools,
  decide,
  parseReport,
  policyDevice,
  steadyReport,
} from '@portcullis/domain'
import { devicePresets } from '@portcullis/domain/testing'
import fc from 'fast-check'
import { fingerprintOf } from './enforcing.ts'

export const presets = Object.values(devicePresets)
export const attackTools = createAttackTools(
  [
    { id: 'ducky', group: 'own', vid: '03EB', pid: '2401', name: 'Ducky', kind: 'k', source: 's' },
  ] satisfies AttackToolRow[],
  [],
)

export const anyDevice = fc
  .record({
    preset: fc.constantFrom(...presets),
    serial: fc.constantFrom(undefined, 'A1', 'B2'),
    // Attributes that exist only while a device is authorised must not affect the decision.
    configuration: fc.constantFrom(undefined, 'RQR12.07_B0029'),
    bcdDevice: fc.constantFrom('0100', '0101'),
  })
  .map(
    ({ preset, serial, configuration, bcdDevice }) =>
      (portPath: string) =>
        preset({
          portPath,
          bcdDevice,
          ...(serial === undefined ? {} : { serial }),
          ...(configuration === undefined ? {} : { configuration }),
        }),
  )

const prints = presets.map((preset) => fingerprintOf(preset()))
const fullRule: fc.Arbitrary<PolicyRule> = fc.record(
  {
    id: fc.uuid(),
    effect: fc.constantFrom('allow' as const, 'deny' as const),
    level: fc.constantFrom('grant' as const, 'host' as const, 'tag' as const, 'global' as const),
    vid: fc.constantFrom(...presets.map((preset) => parseReport(preset()).vid)),
    pid: fc.constantFrom(...presets.map((preset) => parseReport(preset()).pid)),
    serial: fc.constantFrom('A1', ''),
    kinds: fc
      .subarray(['Keyboard', 'Mouse', 'HID', 'Mass Storage', 'Network', 'Video', 'Hub'] as const, { minLength: 1 })
      .map((kinds) => [...kinds]),
    fingerprint: fc.constantFrom(...prints),
    expiresAt: fc.constantFrom('2020-01-01T00:00:00Z', '2120-01-01T00:00:00Z'),
    overrideAttackTool: fc.boolean(),
  },
  { requiredKeys: ['id', 'effect', 'level', 'vid', 'pid', 'serial', 'kinds', 'fingerprint'] },
)

/** One or two conditions, because a rule with all conditions matches almost no device. */
export const anyRule: fc.Arbitrary<PolicyRule> = fc
  .tuple(
    fullRule,
    fc.subarray(['vid', 'pid', 'serial', 'kinds', 'fingerprint'] as const, { minLength: 1, maxLength: 2 }),
  )
  .map(([{ id, effect, level, expiresAt, overrideAttackTool, ...asked }, chosen]) => ({
    id,
    effect,
    level,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(overrideAttackTool === undefined ? {} : { overrideAttackTool }),
    ...Object.fromEntries(Object.entries(asked).filter(([key]) => chosen.some((name) => name === key))),
  }))

/** Returns the decision about a device. */
export const effectOf = (report: DeviceReport, rules: readonly PolicyRule[]) => {
  const parsed = parseReport(report)
  const steady = steadyReport(report)
  const { finding } = attackTools.assess({ parsed, report: steady, kinds: classify(parsed, steady).kinds })
  return decide(rules, policyDevice(parsed, report, finding?.level ?? null), Date.now())
}
