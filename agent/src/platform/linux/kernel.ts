import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import { errnoOf, messageOf } from '../../exit.ts'
import type { Gate, Grade, WriteOutcome } from '../platform.ts'
import { list } from './read.ts'

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
  /** Returns why another program controls USB devices on this host (`usbguard.ts`). */
  otherController?: () => string | undefined
}

/**
 * Accesses the kernel's switches for USB devices (Documentation/usb/authorization.rst). Every write is verified by reading
 * it back.
 *
 * @param sysfsRoot directory to use instead of `/sys`
 */
export const createKernel = ({ sysfsRoot, otherController = () => undefined }: KernelDeps): Gate => {
  const root = join(sysfsRoot, 'bus/usb/devices')
  /** Returns the path of a switch: `usb1` is the default for devices, `usb1/interface` the default for interfaces. */
  function defaultPath(name: string): string {
    const [controller = '', of] = name.split('/')
    return join(root, controller, of === undefined ? 'authorized_default' : 'interface_authorized_default')
  }
  /** Last active configuration of each port, with the attachment. The kernel chooses again when it authorises a device. */
  const configurations = new Map<string, { devnum: string; value: string }>()
  const configurationPath = (device: string): string => join(root, device, 'bConfigurationValue')
  const authorizedPath = (device: string): string => join(root, device, 'authorized')

  /** Returns the names of the root hubs (`usb1`), one per controller and speed. */
  const controllers = (): string[] => list(root).filter((name) => /^usb[0-9]+$/.test(name))

  function noteConfiguration(device: string): void {
    const value = read(configurationPath(device)) ?? ''
    const devnum = read(join(root, device, 'devnum'))
    if (value !== '' && devnum !== undefined) configurations.set(device, { devnum, value })
  }

  /** Activates the configuration that was active before the same attachment was de-authorised. */
  function restoreConfiguration(device: string): void {
    const before = configurations.get(device)
    if (before === undefined || before.devnum !== read(join(root, device, 'devnum'))) return
    if (read(configurationPath(device)) === before.value) return
    try {
      writeAttribute(configurationPath(device), before.value)
    } catch {
      // The device refuses it now. The report shows what is active.
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
    /** Returns the names of the defaults for new devices and, if the kernel has them, for new interfaces. */
    switches: (): string[] =>
      controllers().flatMap((name) =>
        read(defaultPath(`${name}/interface`)) === undefined ? [name] : [name, `${name}/interface`],
      ),
    default: (controller: string): string | undefined => read(defaultPath(controller)),
    open: (): string[] =>
      controllers().flatMap((name) =>
        (read(defaultPath(name)) ?? '0') === '0' ? [] : [`authorized_default of ${name}`],
      ),
    setDefault(controller: string, value: string): void {
      writeAttribute(defaultPath(controller), value)
      const now = read(defaultPath(controller))
      if (now !== value)
        throw new Error(`the kernel kept ${basename(defaultPath(controller))} of ${controller} at ${now}`)
    },
    isAuthorized(portPath: string): boolean | undefined {
      const value = read(authorizedPath(portPath))
      return value === undefined ? undefined : value !== '0'
    },
    noteConfiguration,
    interfaceSwitch: (portPath: string): string => `usb${Number.parseInt(portPath, 10)}/interface`,
    instance: (portPath: string): string => read(join(root, portPath, 'devnum')) ?? '',
    setAuthorized(portPath: string, isAllowed: boolean): WriteOutcome {
      if (!isAllowed) noteConfiguration(portPath)
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
      if (isAllowed && now !== '0') restoreConfiguration(portPath)
      return (now !== '0') === isAllowed
        ? { kind: 'done' }
        : { kind: 'refused', reason: `the kernel kept authorized=${now}` }
    },
    /** Determines the grade by writing, because only a write shows permissions, read-only mounts and container filters. */
    grade(): Grade {
      const all = controllers()
      if (all.length === 0) return { grade: 'observe', reason: 'The host has no USB controller.' }
      const other = otherController()
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
