import { isDeepStrictEqual } from 'node:util'
import {
  cleanText,
  comparePortPaths,
  deviceId,
  inventoryHash,
  isSameSerial,
  mismatchText,
  type Occurrence,
  parseReport,
  part,
  placeOf,
  portsOf,
  unescapeText,
  whyNotWorking,
} from '@portcullis/domain'
import type { DeviceReport } from '#features/contract.ts'
import type { EvaluatedDevice, Fingerprint, KernelReport } from '#features/devices/server/index.ts'
import type { HostPeripheral } from '#features/policy/server/index.ts'

export type HostChange = {
  what: 'attached' | 'gone' | 'changed'
  peripheral: HostPeripheral
  /** The device could be used before; false if it was not attached. */
  wasUsable: boolean
  /** Of an attached device: whether the host had it before, and the port if that was another one. */
  arrival?: { isKnown: boolean; fromPort?: string }
  /** Its fingerprint before a report with more details (report descriptors, speed); else undefined. */
  before?: Fingerprint
  /** Its drivers contradict its claim, and did not before. */
  isUnmasked: boolean
  /** It has a driver that the server does not know, and did not before. */
  isUnknown: boolean
  /** When it happened. Undefined if only an inventory without times shows it. */
  occurred: Occurrence | undefined
  /** How often it happened again, and when last. */
  repeated?: Repeated | undefined
}

/** Repetitions of a change that an agent merged. `last` is undefined if the host cannot tell when. */
export interface Repeated {
  count: number
  last: Occurrence | undefined
}

export interface Applied {
  /** Ids of the changed peripherals. */
  touched: ReadonlySet<string>
  /** The changes in order. */
  changes: HostChange[]
  /** The worst fingerprint of each attached device, whether or not it was removed again. */
  attached: ReadonlyMap<string, Fingerprint>
  /** All peripherals of the host afterwards, including detached ones. */
  all: HostPeripheral[]
}

export type EvaluatedChange = (
  | { op: 'attached' | 'changed'; device: EvaluatedDevice }
  | { op: 'removed' | 'dropped'; portPath: string }
) & {
  occurred?: Occurrence | undefined
  repeated?: Repeated | undefined
}

/**
 * Returns true if two fingerprints have the same descriptors and strings, so that they may belong to the same device.
 */
const isSameDevice = (a: Fingerprint, b: Fingerprint): boolean =>
  a.id === b.id ||
  (a.descriptors === b.descriptors &&
    a.manufacturer === b.manufacturer &&
    a.product === b.product &&
    a.configuration === b.configuration)

/** Returns the known or the unknown drivers of a report that are not allowed, as text. Empty if there are none. */
const driversText = (which: 'known' | 'unknown', { mismatch }: DeviceReport): string => {
  const found = part(which, mismatch ?? null)
  return found === null ? '' : cleanText(mismatchText(found), 500)
}

const kernelOf = (report: DeviceReport): KernelReport => {
  const unknownDriver = driversText('unknown', report)
  const notWorking = whyNotWorking(parseReport(report), report)
  const { configurationValue, isOverNetwork } = report
  return {
    ...(unknownDriver === '' ? {} : { unknownDriver }),
    ...(notWorking === '' ? {} : { notWorking: notWorking.slice(0, 1_000) }),
    ...(configurationValue === undefined ? {} : { configurationValue }),
    ...(isOverNetwork === true ? { isOverNetwork } : {}),
  }
}

/** Returns whether a stored serial number is the reported one. A row of an earlier release has a cleaned one. */
const hasSerial = (row: HostPeripheral, serial: string): boolean =>
  isSameSerial(row.serial, serial) || (row.controller === null && row.serial === cleanText(unescapeText(serial)))

/**
 * Returns how certain it is that a device is at the place of a stored one. 0: the same controller and ports. 1: the same
 * port path, where one of them has no location. 2: the same ports, where the row has no location. Undefined: another place.
 */
const placeRank = (row: HostPeripheral, { portPath, controller }: DeviceReport): number | undefined => {
  if (row.controller && controller) return placeOf(row) === placeOf({ portPath, controller }) ? 0 : undefined
  if (row.portPath === portPath) return 1
  return !row.controller && controller && portsOf(row.portPath) === portsOf(portPath) ? 2 : undefined
}

/** Returns whether a stored device was at another port. The number of a bus can change with each start of the host. */
const wasElsewhere = (row: HostPeripheral, report: DeviceReport): boolean =>
  placeRank(row, report) === undefined &&
  ((row.controller ?? '') !== '' || portsOf(row.portPath) !== portsOf(report.portPath))

/** Returns the case number of a device at a port. The host derives it from the port path if there is no serial number. */
const caseNumberAt = (row: HostPeripheral | undefined, portPath: string): string =>
  row === undefined || (row.serial === '' && row.portPath !== portPath) ? '' : row.caseNumber

const isAt = (
  row: HostPeripheral | undefined,
  { report, fingerprint, serial }: EvaluatedDevice,
): row is HostPeripheral =>
  row !== undefined &&
  isSameDevice(row.fingerprint, fingerprint) &&
  hasSerial(row, serial) &&
  placeRank(row, report) !== undefined

/**
 * Applies changes, then a full inventory if there is one, to the stored state of a host. Pure. A device keeps its id
 * when it returns: one with a serial number at any port, and one without at the same port of the same controller, whatever
 * the number of the bus. Two attached devices with the same vendor, product and serial number are distinguished by their
 * place.
 */
export const applyReport = (
  stored: readonly HostPeripheral[],
  changes: readonly EvaluatedChange[],
  inventory: readonly EvaluatedDevice[] | null,
  attachedAt?: ReadonlyMap<string, Occurrence>,
): Applied => {
  const byId = new Map(stored.map((p) => [p.deviceId, p]))
  const byPort = new Map(stored.filter((p) => p.present).map((p) => [p.portPath, p]))
  const touched = new Set<string>()
  const happened: HostChange[] = []
  const attachedDevices = new Map<string, Fingerprint>()

  function set(peripheral: HostPeripheral): void {
    byId.set(peripheral.deviceId, peripheral)
    touched.add(peripheral.deviceId)
  }

  function remove(portPath: string, occurred: Occurrence | undefined): void {
    const there = byPort.get(portPath)
    if (there === undefined) return
    const gone = { ...there, present: false, unapproved: false }
    byPort.delete(portPath)
    set(gone)
    const calm = { isUnmasked: false, isUnknown: false }
    happened.push({ what: 'gone', peripheral: gone, wasUsable: there.authorized, ...calm, occurred })
  }

  /** Returns the id of a device that no other attached device has: that of the row that it had before, or a new one. */
  function idFor({ report, fingerprint, serial }: EvaluatedDevice): string {
    const rows = [...byId.values()].filter(
      (row) =>
        !row.present &&
        row.fingerprint.vid === fingerprint.vid &&
        row.fingerprint.pid === fingerprint.pid &&
        hasSerial(row, serial),
    )
    const ranked = Map.groupBy(rows, (row) => placeRank(row, report))
    const [unknown, ...others] = ranked.get(2) ?? []
    const before =
      ranked.get(0)?.[0] ??
      ranked.get(1)?.[0] ??
      (others.length === 0 ? unknown : undefined) ??
      (serial === '' ? undefined : rows[0])
    if (before !== undefined) return before.deviceId
    const { portPath, controller } = report
    let id = deviceId(fingerprint.vid, fingerprint.pid, unescapeText(serial), portPath, controller)
    while (byId.has(id)) id += `&${placeOf(report)}`
    return id
  }

  function attach(device: EvaluatedDevice, occurred: Occurrence | undefined, repeated?: Repeated): void {
    const { report, fingerprint, serial } = device
    const portPath = report.portPath
    const there = byPort.get(portPath)
    const fresh = {
      fingerprint,
      portPath,
      serial,
      speed: report.speedMbps ?? 0,
      present: true,
      authorized: report.authorized ?? true,
      enforced: report.enforced ?? null,
      driverMismatch: driversText('known', report),
      kernel: kernelOf(report),
      controller: report.controller ?? '',
    }
    const driverNews = (before: Pick<HostPeripheral, 'driverMismatch' | 'kernel'> | undefined) => ({
      isUnmasked: fresh.driverMismatch !== '' && fresh.driverMismatch !== before?.driverMismatch,
      isUnknown:
        (fresh.kernel.unknownDriver ?? '') !== (before?.kernel.unknownDriver ?? '') && 'unknownDriver' in fresh.kernel,
    })
    if (isAt(there, device)) {
      // An agent of an earlier release reports no location.
      const changed = { ...there, ...fresh, controller: fresh.controller || (there.controller ?? '') }
      if (
        isDeepStrictEqual({ ...changed, fingerprint: fingerprint.id }, { ...there, fingerprint: there.fingerprint.id })
      )
        return
      byPort.set(portPath, changed)
      set(changed)
      // Nothing happened to the device if this release only knows more about it.
      if (
        there.fingerprint.id === fingerprint.id &&
        there.authorized === fresh.authorized &&
        there.speed === fresh.speed &&
        there.driverMismatch === fresh.driverMismatch &&
        isDeepStrictEqual(there.kernel, fresh.kernel) &&
        isDeepStrictEqual(there.enforced, fresh.enforced)
      )
        return
      happened.push({
        what: 'changed',
        peripheral: changed,
        wasUsable: there.authorized,
        ...driverNews(there),
        occurred,
        ...(there.fingerprint.id === fingerprint.id ? {} : { before: there.fingerprint }),
      })
      return
    }
    if (there !== undefined) remove(portPath, occurred)
    const deviceId = idFor(device)
    const known = byId.get(deviceId)
    const attached: HostPeripheral = {
      ...fresh,
      deviceId,
      // The severity is assessed after the whole report is applied.
      severity: fingerprint.severity,
      source: 'default',
      ruleId: null,
      unapproved: false,
      caseNumber: caseNumberAt(known, portPath),
      finding: known?.finding ?? null,
    }
    byPort.set(portPath, attached)
    set(attached)
    if (fingerprint.severity > (attachedDevices.get(deviceId)?.severity ?? 0))
      attachedDevices.set(deviceId, fingerprint)
    happened.push({
      what: 'attached',
      peripheral: attached,
      wasUsable: false,
      arrival: {
        isKnown: known !== undefined,
        ...(known !== undefined && wasElsewhere(known, report) ? { fromPort: known.portPath } : {}),
      },
      ...driverNews(undefined),
      occurred,
      ...(repeated === undefined ? {} : { repeated }),
    })
  }

  /**
   * Gives attached devices the port paths of an inventory after the host numbered its buses anew, or after its agent began
   * to report controllers. Nothing happened to these devices.
   */
  function follow(devices: readonly EvaluatedDevice[]): void {
    const lost = new Set(byPort.values())
    const found: EvaluatedDevice[] = []
    for (const device of devices) {
      const there = byPort.get(device.report.portPath)
      if (isAt(there, device)) lost.delete(there)
      else found.push(device)
    }
    const moved: HostPeripheral[] = []
    for (const rank of [0, 2])
      for (const device of found) {
        const { portPath, controller = '' } = device.report
        const row = [...lost].find((one) => isAt(one, device) && placeRank(one, device.report) === rank)
        if (row === undefined || moved.some((one) => one.portPath === portPath)) continue
        lost.delete(row)
        byPort.delete(row.portPath)
        moved.push({ ...row, portPath, controller, caseNumber: caseNumberAt(row, portPath) })
      }
    for (const row of moved) {
      // Another device was there, and did not follow.
      remove(row.portPath, undefined)
      byPort.set(row.portPath, row)
      set(row)
    }
  }

  for (const change of changes) {
    if (change.op === 'removed') remove(change.portPath, change.occurred)
    else if ('device' in change) attach(change.device, change.occurred, change.repeated)
  }
  if (inventory !== null) {
    follow(inventory)
    const ports = new Set(inventory.map((device) => device.report.portPath))
    for (const portPath of [...byPort.keys()]) if (!ports.has(portPath)) remove(portPath, undefined)
    for (const device of [...inventory].sort((a, b) => comparePortPaths(a.report.portPath, b.report.portPath)))
      attach(device, attachedAt?.get(device.report.portPath))
  }
  return {
    touched,
    changes: happened,
    attached: attachedDevices,
    all: [...byId.values()],
  }
}

/** Returns the inventory hash of the stored state, computed like the agent's over the attached devices. */
export const storedHash = (all: readonly HostPeripheral[]): string =>
  inventoryHash(
    all
      .filter((p) => p.present)
      .map((p) => ({
        portPath: p.portPath,
        descriptors: p.fingerprint.descriptors,
        manufacturer: p.fingerprint.manufacturer,
        product: p.fingerprint.product,
        configuration: p.fingerprint.configuration,
        serial: unescapeText(p.serial),
        authorized: p.authorized,
      })),
  )
