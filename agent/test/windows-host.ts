import type { DeviceReport, PolicyRule } from '@portcullis/contract/agent-protocol.ts'
import { createDefaults } from '../src/enforcement/defaults.ts'
import { createEnforcer } from '../src/enforcement/enforcer.ts'
import { type EnforcementMemory, freshMemory } from '../src/enforcement/memory.ts'
import { createLog } from '../src/log.ts'
import { type HostNeeds, noInterfaces, noWatchdog, type ScannedDevice } from '../src/platform/platform.ts'
import { createWindowsEnforcement } from '../src/platform/windows/enforcement/enforcement.ts'
import { createRegistry, type RawRegistry, type RegistryKey } from '../src/platform/windows/registry.ts'
import { heldPolicy } from './passing.ts'
import { createMemoryRegistry } from './registry-memory.ts'
import { createWindowsMachine, type MachineOptions, type Quirks } from './windows-machine.ts'

const VERSION_KEY: RegistryKey = 'HKLM\\Software\\Microsoft\\Windows NT\\CurrentVersion'

/**
 * A host: a stand-in for Windows with the agent's enforcement, which a test can kill before any change.
 *
 * @param options `raw` is a real registry to use instead of one in memory
 */
export const createWindowsHost = (options: Partial<MachineOptions> = {}) => {
  const memoryRegistry = createMemoryRegistry()
  const actual = options.raw ?? memoryRegistry.raw
  const registry = createRegistry(actual)
  registry.writeText(VERSION_KEY, 'CurrentBuildNumber', '22631')
  registry.writeDword(VERSION_KEY, 'UBR', 3000)
  registry.writeText(VERSION_KEY, 'EditionID', 'Professional')
  registry.writeText('HKLM\\Software\\Policies\\Microsoft\\Windows', 'Name', 'kept')

  /** Number of changes until the agent is killed. A killed agent changes nothing. */
  let left = Number.POSITIVE_INFINITY
  let changes = 0
  /** An action of another program, after a number of changes by the agent. */
  let other: { after: number; act: () => void } | undefined
  function beforeChange(): void {
    if (left <= 0) throw new Error('The agent was killed.')
    left--
    changes++
  }
  const change =
    <A extends readonly unknown[], R>(call: (...args: A) => R) =>
    (...args: A): R => {
      beforeChange()
      const result = call(...args)
      if (other !== undefined && changes >= other.after) {
        const { act } = other
        other = undefined
        act()
      }
      return result
    }
  const raw: RawRegistry = {
    ...actual,
    set: change(actual.set),
    remove: change(actual.remove),
    removeTree: change(actual.removeTree),
  }
  const machine = createWindowsMachine({ ...options, raw: actual, beforeCall: beforeChange })
  let stored: EnforcementMemory = freshMemory('a', 'boot')
  let time = 0
  const clock = { now: () => 1_700_000_000_000 + time, monotonic: () => time }
  const reported: string[] = []
  const log = createLog({ clock, level: 'error', write: () => undefined })

  function startAgent(needs: HostNeeds) {
    const { gate, inventory } = createWindowsEnforcement({
      registry: createRegistry(raw),
      calls: machine.calls,
      clock,
      nodes: machine.nodes,
      neededNodes: machine.nodes,
      readHub: machine.readHub,
      stamp: () => '',
      systemDisks: () => [],
    })
    const scan = (): Map<string, ScannedDevice> => inventory.scan().devices
    const enforcer = createEnforcer({
      agentId: 'a',
      gate,
      interfaces: noInterfaces,
      inventory,
      needs,
      defaults: createDefaults(gate),
      memory: stored,
      saveMemory: (next) => {
        beforeChange()
        stored = next
      },
      policy: undefined,
      notify: { add: () => undefined, stop: () => undefined },
      publicStatus: { show: () => undefined },
      watchdog: noWatchdog,
      clock,
      keepTime: () => undefined,
      log,
      reports: { add: (code, message) => void reported.push(`${code}: ${message}`) },
      rescan: () => void enforcer.enforce(scan()),
      onState: () => undefined,
    })
    return { enforcer, gate, scan, platform: { gate, inventory, interfaces: noInterfaces } }
  }

  let needs: HostNeeds = { otherKeyboards: () => 1, bootPorts: () => new Set() }
  let agent = startAgent(needs)
  const host = {
    machine,
    memoryRegistry,
    reported,
    clock,
    /** Number of changes that the agent made so far. */
    changes: () => changes,
    gate: () => agent.gate,
    platform: () => agent.platform,
    enforcer: () => agent.enforcer,
    memory: () => stored,
    pass: (ms = 0) => {
      time += ms
    },
    /** Attaches a device before the agent notices it. */
    plug: (report: DeviceReport, quirks?: Quirks) => machine.plug(report, quirks),
    /** Lets the agent see the devices, as after an event. */
    settle(): void {
      for (let i = 0; i < 3; i++) agent.enforcer.enforce(agent.scan())
    },
    arm(rules: readonly PolicyRule[], applyToPresent = false, revertMinutes = 0): void {
      agent.enforcer.arm(heldPolicy(rules), applyToPresent, [...agent.scan().values()], revertMinutes)
    },
    /** Starts the agent again after it ended or was killed. `rules` is its policy on disk. */
    restart(rules?: readonly PolicyRule[], nextNeeds: HostNeeds = needs): void {
      left = Number.POSITIVE_INFINITY
      needs = nextNeeds
      agent = startAgent(needs)
      // The facts of the first check-in call it too.
      agent.gate.grade()
      if (rules !== undefined) agent.enforcer.usePolicy(heldPolicy(rules))
      agent.enforcer.start()
      host.settle()
    },
    isKilled: () => left <= 0,
    /** Kills the agent before the change after this many more. */
    killAfter(more: number): void {
      left = more
    },
    /** Runs an action of another program after the agent changed the registry this many times. */
    actAfter(after: number, act: () => void): void {
      other = { after, act }
    },
    /** Returns all keys and values of the registry. */
    everything(): unknown {
      const keys = (key: RegistryKey): string[] => [
        key.toLowerCase(),
        ...memoryRegistry.raw.keys(key).names.flatMap((name) => keys(`${key}\\${name}` as RegistryKey)),
      ]
      return { keys: keys('HKLM\\Software').sort(), values: memoryRegistry.dump() }
    },
  }
  return host
}
export type WindowsHost = ReturnType<typeof createWindowsHost>
