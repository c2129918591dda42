import type { DeviceReport, PolicyRule } from '@portcullis/contract/agent-protocol.ts'
import { parseReport } from '@portcullis/domain'
import { plainKeyboard, storageStick, webcam } from '@portcullis/domain/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RESTRICTIONS } from '../src/platform/windows/enforcement/restriction-keys.ts'
import { dwordValue, textOf } from '../src/platform/windows/registry.ts'
import { rule } from './enforcing.ts'
import { heldPolicy } from './passing.ts'
import { anyRule, effectOf, presets } from './random-policy.ts'
import { createWindowsHost, type WindowsHost } from './windows-host.ts'
import type { MachineOptions } from './windows-machine.ts'

const PORTS = ['1-1', '1-2', '1-3', '1-4'] as const
/** A device has the same serial number wherever it is attached. Its instance ID then identifies it. */
const model = fc.record({
  preset: fc.constantFrom(...presets),
  serial: fc.constantFrom(undefined, 'A1', 'B2'),
})
type Model = typeof model extends fc.Arbitrary<infer T> ? T : never
const reportOf = ({ preset, serial }: Model, portPath: string): DeviceReport =>
  preset({ portPath, removable: 'removable', ...(serial === undefined ? {} : { serial: `${serial}` }) })

/** A random rule rarely allows a device, so half of the rules allow a model. */
const allowModel: fc.Arbitrary<PolicyRule> = fc.record({
  id: fc.uuid(),
  effect: fc.constant('allow' as const),
  level: fc.constant('global' as const),
  vid: fc.constantFrom(...presets.map((preset) => parseReport(preset()).vid)),
})
const rules = fc.array(fc.oneof(anyRule, allowModel), { maxLength: 6 })
const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('plug' as const), port: fc.constantFrom(...PORTS), model }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('unplug' as const), port: fc.constantFrom(...PORTS) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('policy' as const), rules }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('agent-restart' as const, 'host-restart' as const) }) },
)
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never
const machine: fc.Arbitrary<Partial<MachineOptions>> = fc.record({ areChildrenRemovable: fc.boolean() })

const allowed = ({ memoryRegistry }: WindowsHost): (string | undefined)[] =>
  memoryRegistry.registry.list(`${RESTRICTIONS}\\AllowInstanceIDs`).map((value) => textOf(value))

/** Runs actions on an armed host. The devices are attached before the agent notices them. */
const createRun = (host: WindowsHost, first: readonly PolicyRule[]) => {
  const attached = new Map<string, DeviceReport>()
  let current = first
  return {
    attached,
    rules: () => current,
    act(step: Action): void {
      if (step.do === 'plug') {
        const report = reportOf(step.model, step.port)
        // The same device is not at two ports.
        const isElsewhere = [...attached.values()].some(
          (one) => one.serial !== undefined && one.serial === report.serial,
        )
        if (isElsewhere && attached.get(step.port)?.serial !== report.serial) return
        if (attached.delete(step.port)) host.machine.unplug(step.port)
        host.plug(report)
        attached.set(step.port, report)
      } else if (step.do === 'unplug') {
        if (attached.delete(step.port)) host.machine.unplug(step.port)
      } else if (step.do === 'policy') {
        current = step.rules
        host.enforcer().usePolicy(heldPolicy(current))
      } else if (step.do === 'host-restart') host.machine.restart()
      else host.restart(current)
    },
  }
}

describe('Windows enforcement', () => {
  it('decides like the policy, and gives no driver to a blocked device that arrives', () => {
    let blocked = 0
    let passed = 0
    fc.assert(
      fc.property(machine, rules, fc.array(action, { minLength: 1, maxLength: 12 }), (options, first, steps) => {
        const host = createWindowsHost(options)
        host.arm(first)
        const run = createRun(host, first)
        for (const step of steps) {
          host.machine.started.length = 0
          run.act(step)
          // A device that has just arrived was not evaluated yet.
          for (const [portPath, report] of run.attached) {
            if (effectOf(report, run.rules()).effect === 'allow') continue
            blocked++
            expect(host.machine.started).not.toContain(host.machine.instanceIdOf(portPath))
          }
          host.settle()
          for (const [portPath, report] of run.attached) {
            const isAllowed = effectOf(report, run.rules()).effect === 'allow'
            expect(host.machine.works(portPath)).toBe(isAllowed)
            expect(allowed(host).includes(host.machine.instanceIdOf(portPath))).toBe(isAllowed)
            if (isAllowed) passed++
          }
          // Every installed device is allowed.
          for (const id of host.machine
            .phantoms()
            .filter((one) => /^USB\\VID_[^\\]*\\/.test(one) && !one.includes('&MI_')))
            expect(allowed(host)).toContain(id)
          expect(host.gate().open()).toEqual([])
        }
      }),
      { numRuns: 60 },
    )
    expect(Math.min(blocked, passed)).toBeGreaterThan(15)
  }, 120_000)

  it('loses no value and leaves none behind, whenever the agent is killed', () => {
    let kills = 0
    fc.assert(
      fc.property(
        machine,
        fc.array(fc.tuple(fc.constantFrom(...PORTS), model), { maxLength: 3 }),
        fc.array(model, { maxLength: 2 }),
        rules,
        fc.boolean(),
        fc.array(action, { maxLength: 6 }),
        fc.nat({ max: 80 }),
        fc.boolean(),
        (options, before, known, first, applies, steps, kill, restarts) => {
          const host = createWindowsHost(options)
          host.memoryRegistry.registry.write(RESTRICTIONS, 'DenyRemovableDevices', dwordValue(0))
          host.memoryRegistry.registry.writeText(`${RESTRICTIONS}\\AllowInstanceIDs`, '2', 'USB\\VID_1&PID_2\\OLD')
          for (const one of known) host.machine.addPhantom(reportOf({ ...one, serial: 'OLD' as never }, '1-7'))
          const run = createRun(host, first)
          for (const [port, one] of before) run.act({ do: 'plug', port, model: one })
          const previous = host.everything()
          host.killAfter(kill)
          try {
            host.arm(first, applies)
            for (const step of steps) {
              run.act(step)
              host.settle()
            }
            host.enforcer().free('')
          } catch (error) {
            if (!host.isKilled()) throw error
          }
          kills++
          if (restarts) host.machine.restart()
          host.restart(run.rules())
          host.enforcer().free('')
          host.settle()
          expect(host.everything()).toEqual(previous)
          expect(host.memory()).toMatchObject({ mode: 'Free', defaults: {} })
          for (const portPath of run.attached.keys())
            expect([portPath, host.machine.works(portPath)]).toEqual([portPath, true])
        },
      ),
      { numRuns: 60 },
    )
    expect(kills).toBeGreaterThan(50)
  }, 60_000)

  it('keeps the values of Group Policy, whenever they arrive and whenever the agent is killed', () => {
    const allow = [rule({ effect: 'allow', kinds: ['Mass Storage'] })]
    /** Lists that a policy sets. It first removes all entries of a list, as Windows does. */
    const policies: Record<string, readonly string[]>[] = [
      { AllowInstanceIDs: ['USB\\VID_1234&PID_5678\\X', 'USB\\VID_1234&PID_5678\\Y'] },
      { DenyDeviceIDs: ['USB\\Class_08', 'USB\\Class_0E'] },
      { DenyInstanceIDs: ['USB\\VID_1234&PID_5678\\X'], AllowInstanceIDs: ['USB\\VID_1234&PID_5678\\Y'] },
      { AllowDeviceIDs: ['PCI\\VEN_8086', 'PCI\\VEN_8087', 'PCI\\VEN_8088', 'PCI\\VEN_8089', 'PCI\\VEN_808A'] },
      { DenyDeviceClasses: ['{36fc9e60-c465-11cf-8056-444553540000}'] },
    ]
    const setPolicy = ({ memoryRegistry: { registry } }: WindowsHost, lists: Record<string, readonly string[]>) => {
      for (const [name, ids] of Object.entries(lists)) {
        const key = `${RESTRICTIONS}\\${name}` as const
        for (const value of registry.list(key)) registry.remove(key, value.name)
        for (const [i, id] of ids.entries()) registry.writeText(key, String(i + 1), id)
        registry.writeDword(RESTRICTIONS, name, 1)
      }
    }
    const begin = () => {
      const host = createWindowsHost()
      host.memoryRegistry.registry.writeDword(RESTRICTIONS, 'AllowDenyLayered', 0)
      host.plug(webcam({ portPath: '1-3' }))
      return host
    }
    const live = (host: WindowsHost) => {
      host.arm([], true)
      host.plug(storageStick({ portPath: '1-2' }))
      host.settle()
      host.enforcer().usePolicy(heldPolicy(allow))
      host.settle()
      host.enforcer().usePolicy(heldPolicy([]))
    }
    const whole = begin()
    const ofLongList = new Set<number>()
    whole.memoryRegistry.onChange((key) => {
      if (/DenyDeviceIDs$/i.test(key)) ofLongList.add(whole.changes())
    })
    live(whole)
    whole.enforcer().free('')
    const total = whole.changes()
    let runs = 0
    // The first three changes belong to the grade.
    for (let at = 3; at < total; at++) {
      // This list has 258 entries. A test of every fiftieth is enough.
      if (ofLongList.has(at) && ofLongList.has(at - 1) && at % 50 > 0) continue
      const lists = policies[at % policies.length] ?? {}
      const expected = begin()
      setPolicy(expected, lists)
      // Each policy arrives with and without a kill after it.
      const isKilled = at % 2 === 0
      const host = begin()
      let arrived = false
      host.actAfter(at, () => {
        setPolicy(host, lists)
        arrived = true
      })
      if (isKilled) host.killAfter(at)
      try {
        live(host)
        if (!isKilled) host.enforcer().tick()
        if (!isKilled && arrived) expect([at, host.gate().grade().grade]).toEqual([at, 'observe'])
        if (host.memory().mode === 'Armed') expect([at, host.gate().open()]).toEqual([at, []])
        host.enforcer().free('')
      } catch (error) {
        if (!isKilled || !host.isKilled()) throw error
      }
      host.restart([])
      if (host.memory().mode === 'Armed') expect([at, host.gate().open()]).toEqual([at, []])
      host.enforcer().free('')
      runs++
      expect(arrived).toBe(true)
      expect([at, isKilled, host.everything()]).toEqual([at, isKilled, expected.everything()])
    }
    expect(runs).toBeGreaterThan(50)
  }, 180_000)

  it('survives a kill at every change while arming, approving, revoking and freeing', () => {
    const allow = [rule({ effect: 'allow', kinds: ['Mass Storage'] })]
    const keyboard = plainKeyboard({ portPath: '1-1' })
    const stick = storageStick({ portPath: '1-2' })
    const camera = webcam({ portPath: '1-3' })
    const begin = () => {
      const host = createWindowsHost({ areChildrenRemovable: true })
      host.machine.addPhantom(storageStick({ portPath: '1-4', serial: 'OLD' }))
      host.plug(keyboard)
      host.plug(camera)
      return host
    }
    const live = (host: WindowsHost) => {
      host.arm([], true)
      host.plug(stick)
      host.settle()
      host.enforcer().usePolicy(heldPolicy(allow))
      host.settle()
      host.enforcer().usePolicy(heldPolicy([]))
      host.enforcer().free('')
    }
    const whole = begin()
    const previous = whole.everything()
    live(whole)
    expect(whole.everything()).toEqual(previous)
    const total = whole.changes()
    expect(total).toBeGreaterThan(50)
    for (let kill = 0; kill < total; kill++) {
      const host = begin()
      host.killAfter(kill)
      try {
        live(host)
      } catch {
        // Killed.
      }
      // The 258 entries of this list are written and removed one by one. Every twentieth of them is enough.
      const denied = host.memoryRegistry.registry.list(`${RESTRICTIONS}\\DenyDeviceIDs`).length
      kill += Math.max(0, Math.min(19, 255 - denied, denied - 3))
      host.restart([])
      // An armed host enforces its policy even after the kill.
      if (host.memory().mode === 'Armed') {
        expect(host.gate().open()).toEqual([])
        expect([kill, host.machine.works('1-3')]).toEqual([kill, false])
      }
      host.enforcer().free('')
      expect([kill, host.everything()]).toEqual([kill, previous])
      expect([kill, host.machine.works('1-1'), host.machine.works('1-3')]).toEqual([kill, true, true])
    }
  }, 180_000)
})
