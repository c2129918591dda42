import { messageOf } from '../exit.ts'
import type { Gate, Interfaces, Programs } from '../platform/platform.ts'
import type { EnforcementMemory } from './memory.ts'

/** Value of a switch on an armed host: no new device works. */
const ARMED_DEFAULT = '0'

/** Closes the switches that decide about new devices and restores the old values. */
export const createDefaults = (gate: Pick<Gate, 'switches' | 'default' | 'setDefault'>) => {
  /** Switches whose refusal was reported, so that it is reported once and not every second. */
  let reported = new Set<string>()
  return {
    /**
     * Blocks new devices. Passes the old values to `remember` before the first write.
     *
     * @param old values stored so far, by switch
     * @param open switches that get their old values
     * @returns new refusals of the system
     */
    close(
      old: Readonly<Record<string, string>>,
      remember: (old: Record<string, string>) => void,
      open: ReadonlySet<string> = new Set(),
    ): string[] {
      const values = gate.switches().flatMap((name) => {
        const value = gate.default(name)
        return value === undefined ? [] : [{ name, value }]
      })
      const fresh = values.filter(({ name }) => !Object.hasOwn(old, name))
      if (fresh.length > 0) remember({ ...old, ...Object.fromEntries(fresh.map(({ name, value }) => [name, value])) })
      const problems: string[] = []
      for (const { name, value } of values) {
        const wanted = open.has(name) ? (old[name] ?? value) : ARMED_DEFAULT
        if (value === wanted) continue
        try {
          gate.setDefault(name, wanted)
          reported.delete(name)
        } catch (error) {
          if (!reported.has(name)) problems.push(`${name}: ${messageOf(error)}`)
          reported.add(name)
        }
      }
      return problems
    },
    /** Restores the old values and skips removed switches. Returns the refusals of the system. */
    restore(old: Readonly<Record<string, string>>): string[] {
      reported = new Set()
      // Interfaces first, because a device attached in between would be authorised without its interfaces.
      const order = Object.entries(old).sort(([a], [b]) => Number(b.includes('/')) - Number(a.includes('/')))
      return order.flatMap(([name, value]) => {
        const now = gate.default(name)
        if (now === undefined || now === value) return []
        try {
          gate.setDefault(name, value)
          return []
        } catch (error) {
          return [`${name}: ${messageOf(error)}`]
        }
      })
    },
  }
}

/** Returns the old values that the system has not restored yet. */
export const notRestored = (
  gate: Pick<Gate, 'default'>,
  old: Readonly<Record<string, string>>,
): Record<string, string> =>
  Object.fromEntries(Object.entries(old).filter(([name, value]) => ![undefined, value].includes(gate.default(name))))

/**
 * Returns the switches that an agent closed, if its file is missing or damaged. Their old values are unknown, and 1 is the
 * default of every system. A lasting switch may also be half closed.
 */
export const closedDefaults = (gate: Pick<Gate, 'switches' | 'default' | 'isLasting'>): Record<string, string> =>
  Object.fromEntries(
    gate
      .switches()
      .filter((name) => gate.default(name) === '0' || (gate.isLasting === true && gate.default(name) !== '1'))
      .map((name) => [name, '1']),
  )

export type Defaults = ReturnType<typeof createDefaults>

export interface UnblockDeps {
  gate: Pick<Gate, 'isAuthorized' | 'setAuthorized' | 'instance'>
  interfaces: Pick<Interfaces, 'of' | 'open'>
  programs?: Pick<Programs, 'withdraw' | 'announce'> | undefined
  defaults: Defaults
  /** Port paths of all devices, in port order. */
  ports: readonly string[]
  memory: Pick<EnforcementMemory, 'defaults' | 'foreign'>
}

/**
 * Unblocks all devices. Restores the old defaults first, so that new devices work, and then authorises every blocked
 * device, hubs before their children. Devices that were blocked before the host was armed stay blocked.
 *
 * @returns refusals of the system
 */
export const unblockAll = ({ gate, interfaces, programs, defaults, ports, memory }: UnblockDeps): string[] => {
  const problems = defaults.restore(memory.defaults)
  const isForeign = (name: string, port: string): boolean => memory.foreign.includes(`${name}|${gate.instance(port)}`)
  for (const port of ports) {
    const isClosed = gate.isAuthorized(port) === false
    if (isClosed && isForeign(port, port)) continue
    if (isClosed) {
      programs?.withdraw(port)
      // After the defaults are restored, this also authorises all interfaces of the device.
      const result = gate.setAuthorized(port, true)
      if (result.kind === 'refused') problems.push(`${port}: ${result.reason}`)
    }
    const closed = interfaces.of(port).filter(({ name, isAuthorized }) => !isAuthorized && !isForeign(name, port))
    interfaces.open(closed.map(({ name }) => ({ name, wanted: 'any' })))
    if (isClosed) programs?.announce(port)
  }
  return problems
}
