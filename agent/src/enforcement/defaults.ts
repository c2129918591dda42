import { messageOf } from '../exit.ts'
import type { Interfaces } from './interfaces.ts'
import type { Kernel } from './kernel.ts'
import type { EnforcementMemory } from './memory.ts'

/** Value of `authorized_default` on an armed host: the kernel authorises no new device. */
const ARMED_DEFAULT = '0'

/** Closes the defaults of the USB controllers and restores the old values. */
export const createDefaults = (kernel: Pick<Kernel, 'switches' | 'default' | 'setDefault'>) => {
  /** Controllers whose refusal was reported, so that it is reported once and not every second. */
  let reported = new Set<string>()
  return {
    /**
     * Makes every controller block new devices. Passes the old values to `remember` before the first write.
     *
     * @param old values stored so far, by switch
     * @returns new refusals of the kernel
     */
    close(old: Readonly<Record<string, string>>, remember: (old: Record<string, string>) => void): string[] {
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
          reported.delete(name)
        } catch (error) {
          if (!reported.has(name)) problems.push(`${name}: ${messageOf(error)}`)
          reported.add(name)
        }
      }
      return problems
    },
    /** Restores the old values and skips removed controllers. Returns the refusals of the kernel. */
    restore(old: Readonly<Record<string, string>>): string[] {
      reported = new Set()
      // Interfaces first, because a device attached in between would be authorised without its interfaces.
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

/** Returns the old values that the kernel has not restored yet. */
export const notRestored = (
  kernel: Pick<Kernel, 'default'>,
  old: Readonly<Record<string, string>>,
): Record<string, string> =>
  Object.fromEntries(Object.entries(old).filter(([name, value]) => ![undefined, value].includes(kernel.default(name))))

export type Defaults = ReturnType<typeof createDefaults>

export interface UnblockDeps {
  kernel: Pick<Kernel, 'isAuthorized' | 'setAuthorized' | 'instance'>
  interfaces: Pick<Interfaces, 'of' | 'open'>
  defaults: Defaults
  /** Port paths of all devices, in port order. */
  ports: readonly string[]
  memory: Pick<EnforcementMemory, 'defaults' | 'foreign'>
}

/**
 * Unblocks all devices. Restores the old defaults first, so that new devices work, and then authorises every blocked
 * device, hubs before their children. Devices that were blocked before the host was armed stay blocked.
 *
 * @returns refusals of the kernel
 */
export const unblockAll = ({ kernel, interfaces, defaults, ports, memory }: UnblockDeps): string[] => {
  const problems = defaults.restore(memory.defaults)
  const isForeign = (name: string, port: string): boolean => memory.foreign.includes(`${name}|${kernel.instance(port)}`)
  for (const port of ports) {
    const isClosed = kernel.isAuthorized(port) === false
    if (isClosed && isForeign(port, port)) continue
    if (isClosed) {
      // After the defaults are restored, this also authorises all interfaces of the device.
      const result = kernel.setAuthorized(port, true)
      if (result.kind === 'refused') problems.push(`${port}: ${result.reason}`)
    }
    for (const { name, isAuthorized } of interfaces.of(port))
      if (!isAuthorized && !isForeign(name, port)) interfaces.open(name, 'any')
  }
  return problems
}
