import { closeSync, constants, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { HostFacts } from '@portcullis/contract/agent-protocol'
import { errnoOf, messageOf } from '../exit.ts'

/** How far a host can enforce, and what is in the way of more; the reason is empty for `before-driver`. */
export interface Grade {
  grade: HostFacts['enforcement']
  reason: string
}

/** What became of a write to `authorized`: read back as wanted, the device is gone, or the kernel's reason. */
export type WriteOutcome = { kind: 'done' } | { kind: 'gone' } | { kind: 'refused'; reason: string }

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'latin1').trim()
  } catch {
    return undefined
  }
}

/** Writes without creating or truncating: a sysfs attribute is there or not. Some, like `bind`, cannot be opened to be read. */
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
 * The kernel's switches for USB devices (Documentation/usb/authorization.rst). Every write is read back: what the kernel
 * says afterwards is what counts.
 *
 * @param sysfsRoot stands for `/sys`
 */
export const createKernel = ({ sysfsRoot, rival = () => undefined }: KernelDeps) => {
  const root = join(sysfsRoot, 'bus/usb/devices')
  /** `usb1` is the default of a controller for devices, `usb1/interface` its default for interfaces. */
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

  /** Whether the present value can be written: it is written back, which changes nothing. */
  function refusal(path: string): string | undefined {
    try {
      writeAttribute(path, readFileSync(path, 'latin1').trim())
      return undefined
    } catch (error) {
      return errnoOf(error) ?? messageOf(error)
    }
  }

  return {
    /** Names of the root hubs (`usb1`), one per controller and speed. */
    controllers,
    /** Names of the defaults for new devices and, where the kernel has them, for new interfaces. */
    switches: (): string[] =>
      controllers().flatMap((name) =>
        read(defaultPath(`${name}/interface`)) === undefined ? [name] : [name, `${name}/interface`],
      ),
    /** Value of a switch; undefined when it is not there. */
    default: (controller: string): string | undefined => read(defaultPath(controller)),
    /** @throws when the kernel refuses, or says another value afterwards */
    setDefault(controller: string, value: string): void {
      writeAttribute(defaultPath(controller), value)
      const now = read(defaultPath(controller))
      if (now !== value) throw new Error(`${basename(defaultPath(controller))} of ${controller} stayed ${now}`)
    },
    /** Undefined when the device is gone or the kernel has no such switch. */
    isAuthorized(portPath: string): boolean | undefined {
      const value = read(authorizedPath(portPath))
      return value === undefined ? undefined : value !== '0'
    },
    /** `devnum`: another number at the same port is another attachment. Empty when unknown. */
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
        : { kind: 'refused', reason: `the kernel still says authorized=${now}` }
    },
    /** Tried, not guessed: permissions, a read-only mount and a container's filter only show on a write. */
    grade(): Grade {
      const all = controllers()
      if (all.length === 0) return { grade: 'observe', reason: 'The host shows no USB controller.' }
      const other = rival()
      if (other !== undefined) return { grade: 'observe', reason: other }
      const problems = all.flatMap((name) => {
        const problem = refusal(defaultPath(name))
        return problem === undefined ? [] : [`authorized_default of ${name}: ${problem}`]
      })
      const [first] = problems
      if (first === undefined) return { grade: 'before-driver', reason: '' }
      const canWriteOne = all.some((name) => refusal(authorizedPath(name)) === undefined)
      return { grade: canWriteOne ? 'after-attach' : 'observe', reason: `The kernel cannot be told: ${first}.` }
    },
  }
}
export type Kernel = ReturnType<typeof createKernel>
