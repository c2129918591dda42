import type { DeviceReport, PolicyRule } from '@portcullis/contract/agent-protocol'
import {
  type AttackToolRow,
  classify,
  createAttackTools,
  decide,
  parseReport,
  policyDevice,
  steadyReport,
} from '@portcullis/domain'
import {
  flipperBadUsb,
  hub,
  networkAdapter,
  phone,
  plainKeyboard,
  plainMouse,
  rubberDucky,
  spoofedUnifying,
  storageStick,
  unifyingReceiver1207,
  webcam,
  yubiKey,
} from '@portcullis/domain/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../src/clock.ts'
import { createDefaults } from '../src/enforcement/defaults.ts'
import { createEnforcer } from '../src/enforcement/enforcer.ts'
import { freshMemory } from '../src/enforcement/memory.ts'
import { createLog } from '../src/log.ts'
import { createInterfaces } from '../src/platform/linux/interfaces.ts'
import { createKernel } from '../src/platform/linux/kernel.ts'
import { createSysfsCollector } from '../src/platform/linux/sysfs.ts'
import { fingerprintOf } from './enforcing.ts'
import { createTree } from './harness.ts'

const presets = [
  flipperBadUsb,
  hub,
  networkAdapter,
  phone,
  plainKeyboard,
  plainMouse,
  rubberDucky,
  spoofedUnifying,
  storageStick,
  unifyingReceiver1207,
  webcam,
  yubiKey,
]
const attackTools = createAttackTools(
  [
    { id: 'ducky', group: 'own', vid: '03EB', pid: '2401', name: 'Ducky', kind: 'k', source: 's' },
  ] satisfies AttackToolRow[],
  [],
)

const anyDevice = fc
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
const anyRule: fc.Arbitrary<PolicyRule> = fc
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

const effectOf = (report: DeviceReport, rules: readonly PolicyRule[]) => {
  const parsed = parseReport(report)
  const steady = steadyReport(report)
  const { finding } = attackTools.assess({ parsed, report: steady, kinds: classify(parsed, steady).kinds })
  return decide(rules, policyDevice(parsed, report, finding?.level ?? null), Date.now())
}

describe('the agent', () => {
  it('follows the decision for any devices and any rules', () => {
    const tree = createTree()
    const log = createLog({ clock: systemClock, level: 'error', write: () => undefined })
    const gate = createKernel({ sysfsRoot: tree.root })
    const inventory = createSysfsCollector({ sysfsRoot: tree.root })
    let allowed = 0
    let blocked = 0
    fc.assert(
      fc.property(
        fc.array(anyDevice, { minLength: 1, maxLength: 5 }),
        fc.array(anyRule, { maxLength: 10 }),
        fc.array(anyRule, { maxLength: 10 }),
        fc.boolean(),
        (makers, rules, later, hurries) => {
          const notified: string[] = []
          const enforcer = createEnforcer({
            agentId: 'a',
            gate,
            interfaces: createInterfaces({ sysfsRoot: tree.root }),
            inventory,
            needs: { otherKeyboards: () => 1, bootPorts: () => new Set() },
            defaults: createDefaults(gate),
            memory: freshMemory('a', 'boot'),
            saveMemory: () => undefined,
            policy: undefined,
            notify: { add: ({ caseNumber }) => notified.push(caseNumber), stop: () => undefined },
            publicStatus: { show: () => undefined },
            watchdog: { start: () => undefined, end: () => undefined },
            clock: systemClock,
            log,
            reports: { add: () => undefined },
            rescan: () => void enforcer.enforce(inventory.scan().devices),
            onState: () => undefined,
          })
          const held = (version: number, some: readonly PolicyRule[]) => ({
            policy: {
              kind: 'policy' as const,
              agentId: 'a',
              nonce: '',
              version,
              issuedAt: '',
              rules: [...some],
              knowledgeHash: '',
              contact: '',
            },
            attackTools,
          })
          const devices = makers.map((make, i) => make(`1-${i + 1}`))
          const check = (some: readonly PolicyRule[]) => {
            for (const device of devices) {
              const decision = effectOf(device, some)
              expect(tree.isAuthorized(device.portPath)).toBe(decision.effect === 'allow')
              expect(enforcer.enforced(device)).toMatchObject(decision)
              if (decision.effect === 'allow') allowed++
              else blocked++
            }
          }
          enforcer.arm(held(1, rules), false, [])
          for (const device of devices) tree.plug(device)
          if (hurries) enforcer.enforceNew()
          else enforcer.enforce(inventory.scan().devices)
          check(rules)
          expect(notified).toHaveLength(
            devices.filter((device) => effectOf(device, rules).effect === 'block').length * (hurries ? 0 : 1),
          )
          enforcer.usePolicy(held(2, later))
          check(later)
          enforcer.free('')
          for (const { portPath } of devices) {
            expect(tree.isAuthorized(portPath)).toBe(true)
            tree.unplug(portPath)
          }
          expect(tree.read('usb1', 'authorized_default')).toBe('1')
        },
      ),
      { numRuns: 200 },
    )
    expect(Math.min(allowed, blocked)).toBeGreaterThan(50)
  })
})
