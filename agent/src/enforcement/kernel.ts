import { closeSync, constants, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { HostFacts } from '@portcullis/contract/agent-protocol'
import { errnoOf, messageOf } from '../exit.ts'

/** The enforcement grade of a host and why it is not higher. The reason is empty for `before-driver`. */
export interface Grade {
  grade: HostFacts['enforcement']
  reason: string
}

/** Result of a write to `authorized`: verified by reading back, device removed, or refused with a reason. */
export type WriteOutcome = { kind: 'done' } | { kind: 'gone' } | { kind: 'refused'; reason: string }

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'latin1').trim()
  } catch {
    return undefined
  }
}

/** Writes a sysfs attribute without creating or truncating it. Some attributes, such as `bind`, cannot be read. */
export const writeAttribute = (path: string, value: string): void => {
  const fd = openSync(path, constants.O_WRONLY)
  try {
    writeSync(fd, value)
  } finally {
    closeSync(fd)
  }
}

export interface KernelDeps {
  sysfsRoot: string
  /** Returns why another program controls USB devices on this host (`rival.ts`). */
  rival?: () => string | undefined
}

/**
 * Accesses the kernel's switches for USB devices (Documentation/usb/authorization.rst). Every write is verified by reading
 * it back.
 *
 * @param sysfsRoot directory to use instead of `/sys`
 */
export const createKernel = ({ sysfsRoot, rival = () => undefined }: KernelDeps) => {
  const root = join(sysfsRoot, 'bus/usb/devices')
  /** Returns the path of a switch: `usb1` is the default for devices, `usb1/interface` the default for interfaces. */
  function defaultPath(name: string): string {
    const [controller = '', of] = name.split('/')
    return join(root, controller, of === undefined ? 'authorized_default' : 'interface_authorized_default')
  }
  const authorizedPath = (device: string): string => join(root, device, 'authorized')

  function controllers(): string[] {
    try {
      return readdirSync(root).filter((name) => /^usb[0-9]+$/.test(name))
    } catch {
      return []
    }
  }

  /** Returns why a switch cannot be written, or undefined. Writes its current value, which changes nothing. */
  function refusal(path: string): string | undefined {
    try {
      writeAttribute(path, readFileSync(path, 'latin1').trim())
      return undefined
    } catch (error) {
      return errnoOf(error) ?? messageOf(error)
    }
  }

  return {
    /** Returns the names of the root hubs (`usb1`), one per controller and speed. */
    controllers,
    /** Returns the names of the defaults for new devices and, if the kernel has them, for new interfaces. */
    switches: (): string[] =>
      controllers().flatMap((name) =>
        read(defaultPath(`${name}/interface`)) === undefined ? [name] : [name, `${name}/interface`],
      ),
    /** Returns the value of a switch, or undefined if the switch does not exist. */
    default: (controller: string): string | undefined => read(defaultPath(controller)),
    /** @throws if the kernel refuses the value or keeps another one */
    setDefault(controller: string, value: string): void {
      writeAttribute(defaultPath(controller), value)
      const now = read(defaultPath(controller))
      if (now !== value)
        throw new Error(`the kernel kept ${basename(defaultPath(controller))} of ${controller} at ${now}`)
    },
    /** Returns undefined if the device was removed or the kernel has no such switch. */
    isAuthorized(portPath: string): boolean | undefined {
      const value = read(authorizedPath(portPath))
      return value === undefined ? undefined : value !== '0'
    },
    /** Returns `devnum`, which differs between two attachments at the same port. Empty if unknown. */
    instance: (portPath: string): string => read(join(root, portPath, 'devnum')) ?? '',
    setAuthorized(portPath: string, isAllowed: boolean): WriteOutcome {
      try {
        writeAttribute(authorizedPath(portPath), isAllowed ? '1' : '0')
      } catch (error) {
        const errno = errnoOf(error)
        if ((errno === 'ENOENT' || errno === 'ENODEV') && read(authorizedPath(portPath)) === undefined)
          return { kind: 'gone' }
        return { kind: 'refused', reason: errno ?? messageOf(error) }
      }
      const now = read(authorizedPath(portPath))
      if (now === undefined) return { kind: 'gone' }
      return (now !== '0') === isAllowed
        ? { kind: 'done' }
        : { kind: 'refused', reason: `the kernel kept authorized=${now}` }
    },
    /** Determines the grade by writing, because only a write shows permissions, read-only mounts and container filters. */
    grade(): Grade {
      const all = controllers()
      if (all.length === 0) return { grade: 'observe', reason: 'The host has no USB controller.' }
      const other = rival()
      if (other !== undefined) return { grade: 'observe', reason: other }
      const problems = all.flatMap((name) => {
        const problem = refusal(defaultPath(name))
        return problem === undefined ? [] : [`authorized_default of ${name} (${problem})`]
      })
      const [first] = problems
      if (first === undefined) return { grade: 'before-driver', reason: '' }
      const canWriteOne = all.some((name) => refusal(authorizedPath(name)) === undefined)
      return {
        grade: canWriteOne ? 'after-attach' : 'observe',
        reason: `The agent cannot write ${first}. Run it as root and outside a container.`,
      }
    },
  }
}
export type Kernel = ReturnType<typeof createKernel>
