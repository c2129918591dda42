import { readFileSync, readlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isKnownDriver } from '@portcullis/domain'
import type { DeviceInterface, Interfaces, InterfaceToOpen } from '../platform.ts'
import { writeAttribute } from './kernel.ts'
import { list, read } from './read.ts'

const NAME = /^([0-9]+-[0-9.]+):([0-9]+)\.([0-9]+)$/
/** HID device directories are named bus:vendor:product.instance (`0003:1050:0120.0007`). */
const HID_NAME = /^[0-9A-F]{4}:[0-9A-F]{4}:[0-9A-F]{4}\.[0-9A-F]+$/
/** Drivers of whole devices and user programs. The agent never binds an interface to them. */
const NOT_OFFERED: ReadonlySet<string> = new Set(['usb', 'usbfs'])
/**
 * Returns whether the kernel has the driver that hubs, keyboards and mice need. If it refuses an interface, the claim of
 * the device is false or the device is broken. User programs may drive other HID devices.
 */
const isExclusive = (wanted: readonly string[], present: ReadonlySet<string>): boolean =>
  (wanted.includes('hub') && present.has('hub')) || (wanted.includes('usbkbd') && present.has('usbhid'))

const linkName = (path: string): string | null => {
  try {
    return basename(readlinkSync(path))
  } catch {
    return null
  }
}

/**
 * Reads the interfaces of USB devices and their bound drivers, and authorises interfaces.
 *
 * @param sysfsRoot directory to use instead of `/sys`
 */
export const createInterfaces = ({ sysfsRoot }: { sysfsRoot: string }): Interfaces => {
  const root = join(sysfsRoot, 'bus/usb/devices')
  const drivers = join(sysfsRoot, 'bus/usb/drivers')

  /** Attachment and tried drivers of each interface that no driver accepted. */
  const refusals = new Map<string, string>()

  const hidDrivers = (name: string): string[] =>
    list(join(root, name))
      .filter((child) => HID_NAME.test(child))
      .flatMap((child) => linkName(join(root, name, child, 'driver')) ?? [])

  function readOne(name: string): DeviceInterface {
    const [, , configuration, number] = NAME.exec(name) ?? []
    const driver = linkName(join(root, name, 'driver'))
    let authorized = '1'
    try {
      authorized = readFileSync(join(root, name, 'authorized'), 'latin1').trim()
    } catch {
      // A kernel without the attribute authorises every interface.
    }
    return {
      name,
      configuration: Number(configuration),
      number: Number(number),
      driver,
      hidDrivers: driver === null ? [] : hidDrivers(name),
      isAuthorized: authorized !== '0',
    }
  }

  const namesByPort = (): Map<string, string[]> =>
    Map.groupBy(
      list(root).filter((name) => NAME.test(name)),
      (name) => name.slice(0, name.indexOf(':')),
    )

  const driverOf = (name: string): string | null => linkName(join(root, name, 'driver'))

  function setAuthorized(name: string, value: '0' | '1'): void {
    try {
      writeAttribute(join(root, name, 'authorized'), value)
    } catch {
      // The interface was removed or has no such attribute. The caller reads the bound drivers in any case.
    }
  }

  function planOf({ name, wanted, mayBeUnknown = false }: InterfaceToOpen) {
    const present = new Set(list(drivers))
    const order = wanted === 'any' ? [...present].filter((driver) => !NOT_OFFERED.has(driver)) : wanted
    const unknown = mayBeUnknown && wanted !== 'any' ? [...present].filter((driver) => !isKnownDriver(driver)) : []
    const offered = [...order.filter((driver) => present.has(driver)), ...unknown]
    return {
      name,
      offered,
      mayClose: wanted !== 'any' && isExclusive(wanted, present),
      attempt: `${read(join(root, name.slice(0, name.indexOf(':')), 'devnum')).trim()} ${offered.join(' ')}`,
    }
  }

  /**
   * Binds the first driver that accepts an interface. If the drivers of a hub, keyboard or mouse refuse it, the interface is
   * closed, so that the next matching module cannot bind. It is tried again when the kernel has a new driver.
   */
  function bind({ name, offered, mayClose, attempt }: ReturnType<typeof planOf>): void {
    for (const driver of offered) {
      if (driverOf(name) !== null) return
      try {
        writeAttribute(join(drivers, driver, 'bind'), name)
      } catch {
        // The driver does not match or its probe failed. Try the next one.
      }
    }
    if (!mayClose || driverOf(name) !== null) return
    refusals.set(name, attempt)
    setAuthorized(name, '0')
  }

  return {
    of: (portPath: string): DeviceInterface[] =>
      list(root)
        .filter((name) => name.startsWith(`${portPath}:`) && NAME.test(name))
        .map(readOne)
        .sort((a, b) => a.number - b.number),

    stamps: (): Map<string, string> =>
      new Map(
        [...namesByPort()].map(([portPath, names]) => [
          portPath,
          names
            .sort()
            .map(readOne)
            .map((i) => `${i.name} ${i.isAuthorized ? 1 : 0} ${i.driver ?? ''} ${i.hidDrivers.join(',')}`)
            .join('|'),
        ]),
      ),

    /**
     * Authorises all interfaces before it binds the first, because a driver such as that of modems claims the other
     * interfaces of its function while it binds, and gives up on a closed one. Never writes `drivers_probe`, because the kernel
     * would then pick any matching driver. A driver that loads later binds automatically and is checked then.
     */
    open(toOpen: readonly InterfaceToOpen[], mayGoOn: () => boolean = () => true): void {
      const plans = toOpen
        .map(planOf)
        .filter(({ name, mayClose, attempt }) => !mayClose || refusals.get(name) !== attempt)
      for (const { name } of plans) {
        refusals.delete(name)
        setAuthorized(name, '1')
      }
      for (const [index, plan] of plans.entries()) {
        bind(plan)
        if (mayGoOn()) continue
        for (const { name } of plans.slice(index + 1)) if (driverOf(name) === null) setAuthorized(name, '0')
        return
      }
    },

    peerOf(portPath: string): string | undefined {
      const peer = linkName(join(root, portPath, 'port', 'peer'))
      const [, parent, port] = /^(.+)-port([0-9]+)$/.exec(peer ?? '') ?? []
      if (parent === undefined || port === undefined) return undefined
      const bus = /^usb([0-9]+)$/.exec(parent)?.[1]
      return bus === undefined ? `${parent}.${port}` : `${bus}-${port}`
    },
  }
}
