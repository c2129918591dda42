// Invariant: Server and agent decide alike, by the documented precedence.

import type { PolicyRule } from '@portcullis/contract/agent-protocol.ts'
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
import { createTree } from './harness.ts'
import { anyDevice, anyRule, attackTools, effectOf } from './random-policy.ts'

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
            keepTime: () => undefined,
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
