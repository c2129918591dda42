import { messageOf } from '../exit.ts'
import type { Interfaces } from './interfaces.ts'
import type { Kernel } from './kernel.ts'
import type { EnforcementMemory } from './memory.ts'

/** What a controller does with new devices while the host is armed: nothing works before it is allowed. */
const ARMED_DEFAULT = '0'

/** Sets the controllers' defaults and gives the old ones back. */
export const createDefaults = (kernel: Pick<Kernel, 'switches' | 'default' | 'setDefault'>) => {
  /** Refusals told already: a controller that does not take it is one problem, not one per second. */
  let told = new Set<string>()
  return {
    /**
     * Makes every controller hold new devices back. Old values are handed to `remember` before the first write.
     *
     * @param old values remembered so far, by switch
     * @returns what the kernel refused, once each
     */
    take(old: Readonly<Record<string, string>>, remember: (old: Record<string, string>) => void): string[] {
      const values = kernel.switches().flatMap((name) => {
        const value = kernel.default(name)
        return value === undefined ? [] : [{ name, value }]
      })
      const fresh = values.filter(({ name }) => !Object.hasOwn(old, name))
      if (fresh.length > 0) remember({ ...old, ...Object.fromEntries(fresh.map(({ name, value }) => [name, value])) })
      const problems: string[] = []
      for (const { name, value } of values) {
        if (value === ARMED_DEFAULT) continue
        try {
          kernel.setDefault(name, ARMED_DEFAULT)
          told.delete(name)
        } catch (error) {
          if (!told.has(name)) problems.push(`${name}: ${messageOf(error)}`)
          told.add(name)
        }
      }
      return problems
    },
    /** Writes the old values back; controllers that are gone need none. Returns what the kernel refused. */
    giveBack(old: Readonly<Record<string, string>>): string[] {
      told = new Set()
      // Interfaces first: otherwise a device attached in between would be authorised without its interfaces.
      const order = Object.entries(old).sort(([a], [b]) => Number(b.includes('/')) - Number(a.includes('/')))
      return order.flatMap(([name, value]) => {
        const now = kernel.default(name)
        if (now === undefined || now === value) return []
        try {
          kernel.setDefault(name, value)
          return []
        } catch (error) {
          return [`${name}: ${messageOf(error)}`]
        }
      })
    },
  }
}
/** Old values that the kernel does not hold again: as long as there are any, the way back is not over. */
export const notRestored = (
  kernel: Pick<Kernel, 'default'>,
  old: Readonly<Record<string, string>>,
): Record<string, string> =>
  Object.fromEntries(Object.entries(old).filter(([name, value]) => ![undefined, value].includes(kernel.default(name))))

export type Defaults = ReturnType<typeof createDefaults>

export interface LiftDeps {
  kernel: Pick<Kernel, 'isAuthorized' | 'setAuthorized' | 'instance'>
  interfaces: Pick<Interfaces, 'of' | 'open'>
  defaults: Defaults
  /** Of all devices, in port order. */
  ports: readonly string[]
  memory: Pick<EnforcementMemory, 'defaults' | 'foreign'>
}

/**
 * Lifts every block: the old defaults first, so that nothing that comes meanwhile is held back, then every device that is
 * not authorised, hubs before what hangs on them. What somebody else had closed before arming is left alone.
 *
 * @returns what the kernel refused
 */
export const lift = ({ kernel, interfaces, defaults, ports, memory }: LiftDeps): string[] => {
  const problems = defaults.giveBack(memory.defaults)
  const isForeign = (name: string, port: string): boolean => memory.foreign.includes(`${name}|${kernel.instance(port)}`)
  for (const port of ports) {
    const isClosed = kernel.isAuthorized(port) === false
    if (isClosed && isForeign(port, port)) continue
    if (isClosed) {
      // With the old defaults back, all interfaces of a device that is authorised now are let in with it.
      const result = kernel.setAuthorized(port, true)
      if (result.kind === 'refused') problems.push(`${port}: ${result.reason}`)
    }
    for (const { name, isAuthorized } of interfaces.of(port))
      if (!isAuthorized && !isForeign(name, port)) interfaces.open(name, 'any')
  }
  return problems
}
