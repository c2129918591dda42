import { messageOf } from '../exit.ts'
import type { Kernel } from './kernel.ts'
import type { EnforcementMemory } from './memory.ts'

/** What a controller does with new devices while the host is armed: nothing works before it is allowed. */
const ARMED_DEFAULT = '0'

/** Sets the controllers' defaults and gives the old ones back. */
export const createDefaults = (kernel: Pick<Kernel, 'controllers' | 'default' | 'setDefault'>) => {
  /** Refusals told already: a controller that does not take it is one problem, not one per second. */
  let told = new Set<string>()
  return {
    /**
     * Makes every controller hold new devices back. Old values are handed to `remember` before the first write.
     *
     * @param old values remembered so far, by controller
     * @returns what the kernel refused, once each
     */
    take(old: Readonly<Record<string, string>>, remember: (old: Record<string, string>) => void): string[] {
      const values = kernel.controllers().flatMap((name) => {
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
      return Object.entries(old).flatMap(([name, value]) => {
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

/**
 * Lifts every block: the old defaults first, so that nothing that comes meanwhile is held back, then every device that is
 * not authorised, hubs before what hangs on them. What somebody else had de-authorised before arming is left alone.
 *
 * @param ports of all devices, in port order
 * @returns what the kernel refused
 */
export const lift = (
  kernel: Pick<Kernel, 'isAuthorized' | 'setAuthorized' | 'instance'>,
  defaults: Defaults,
  ports: readonly string[],
  memory: Pick<EnforcementMemory, 'defaults' | 'foreign'>,
): string[] => {
  const problems = defaults.giveBack(memory.defaults)
  for (const port of ports) {
    if (kernel.isAuthorized(port) !== false || memory.foreign.includes(`${port}|${kernel.instance(port)}`)) continue
    const result = kernel.setAuthorized(port, true)
    if (result.kind === 'refused') problems.push(`${port}: ${result.reason}`)
  }
  return problems
}
