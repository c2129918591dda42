import { isDeepStrictEqual } from 'node:util'
import type { DeviceReport } from '@portcullis/contract'
import {
  cleanText,
  comparePortPaths,
  deviceId,
  type Identified,
  inventoryHash,
  mismatchText,
  type Occurrence,
  parseReport,
  part,
  whyNotWorking,
} from '@portcullis/domain'
import type { Fingerprint, JudgedDevice, KernelReport } from '#features/devices/peripherals/index.ts'
import type { HostPeripheral } from '#features/devices/policy/index.ts'

export type HostChange = {
  what: 'attached' | 'gone' | 'changed'
  peripheral: HostPeripheral
  /** The device could be used before; false if it was not attached. */
  wasUsable: boolean
  /** Its fingerprint before a report with more details (report descriptors, speed); else undefined. */
  before?: Fingerprint
  /** Its drivers contradict its claim, and did not before. */
  isUnmasked: boolean
  /** It has a driver that the server does not know, and did not before. */
  isUnknown: boolean
  /** When it happened. Undefined if only an inventory without times shows it. */
  occurred: Occurrence | undefined
}

export interface Applied {
  /** Ids of the changed peripherals. */
  touched: ReadonlySet<string>
  /** The changes in order. */
  changes: HostChange[]
  /** All peripherals of the host afterwards, including detached ones. */
  all: HostPeripheral[]
}

export type JudgedChange = (
  | { op: 'attached' | 'changed'; device: JudgedDevice }
  | { op: 'removed'; portPath: string }
) & {
  occurred?: Occurrence | undefined
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

/** Returns the drivers of a report that the server knows or does not know as text, if they are not allowed. */
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

/**
 * Applies changes, then a full inventory if there is one, to the stored state of a host. Pure. A device keeps its id
 * when it returns. Two attached devices with the same vendor, product and serial number are distinguished by their
 * port.
 */
export const applyReport = (
  stored: readonly HostPeripheral[],
  changes: readonly JudgedChange[],
  inventory: readonly JudgedDevice[] | null,
  attachedAt?: ReadonlyMap<string, Occurrence>,
): Applied => {
  const byId = new Map(stored.map((p) => [p.deviceId, p]))
  const byPort = new Map(stored.filter((p) => p.present).map((p) => [p.portPath, p]))
  const touched = new Set<string>()
  const happened: HostChange[] = []

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

  /** Returns an id for a device at a port that no other attached device uses. */
  function idFor(device: Identified): string {
    let id = deviceId(device.vid, device.pid, device.serial, device.portPath)
    for (let other = byId.get(id); other?.present && other.portPath !== device.portPath; other = byId.get(id))
      id += `&${device.portPath}`
    return id
  }

  function attach({ report, design, serial }: JudgedDevice, occurred: Occurrence | undefined): void {
    const portPath = report.portPath
    const there = byPort.get(portPath)
    const fresh = {
      design,
      portPath,
      serial,
      speed: report.speedMbps ?? 0,
      present: true,
      authorized: report.authorized ?? true,
      enforced: report.enforced ?? null,
      driverMismatch: driversText('known', report),
      kernel: kernelOf(report),
    }
    const driverNews = (before: Pick<HostPeripheral, 'driverMismatch' | 'kernel'> | undefined) => ({
      isUnmasked: fresh.driverMismatch !== '' && fresh.driverMismatch !== before?.driverMismatch,
      isUnknown:
        (fresh.kernel.unknownDriver ?? '') !== (before?.kernel.unknownDriver ?? '') && 'unknownDriver' in fresh.kernel,
    })
    if (there !== undefined && there.serial === serial && isSameDevice(there.design, design)) {
      if (
        there.design.id === design.id &&
        there.authorized === fresh.authorized &&
        there.speed === fresh.speed &&
        there.driverMismatch === fresh.driverMismatch &&
        isDeepStrictEqual(there.kernel, fresh.kernel) &&
        isDeepStrictEqual(there.enforced, fresh.enforced)
      )
        return
      const changed = { ...there, ...fresh }
      byPort.set(portPath, changed)
      set(changed)
      happened.push({
        what: 'changed',
        peripheral: changed,
        wasUsable: there.authorized,
        ...driverNews(there),
        occurred,
        ...(there.design.id === design.id ? {} : { before: there.design }),
      })
      return
    }
    if (there !== undefined) remove(portPath, occurred)
    const deviceId = idFor({ vid: design.vid, pid: design.pid, serial, portPath })
    const attached: HostPeripheral = {
      ...fresh,
      deviceId,
      // The severity is assessed after the whole report is applied.
      severity: design.severity,
      source: 'default',
      ruleId: null,
      unapproved: false,
      caseNumber: byId.get(deviceId)?.caseNumber ?? '',
    }
    byPort.set(portPath, attached)
    set(attached)
    happened.push({ what: 'attached', peripheral: attached, wasUsable: false, ...driverNews(undefined), occurred })
  }

  for (const change of changes) {
    if (change.op === 'removed') remove(change.portPath, change.occurred)
    else attach(change.device, change.occurred)
  }
  if (inventory !== null) {
    const ports = new Set(inventory.map((device) => device.report.portPath))
    for (const portPath of [...byPort.keys()]) if (!ports.has(portPath)) remove(portPath, undefined)
    for (const device of [...inventory].sort((a, b) => comparePortPaths(a.report.portPath, b.report.portPath)))
      attach(device, attachedAt?.get(device.report.portPath))
  }
  return {
    touched,
    changes: happened,
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
        descriptors: p.design.descriptors,
        manufacturer: p.design.manufacturer,
        product: p.design.product,
        configuration: p.design.configuration,
        serial: p.serial,
        authorized: p.authorized,
      })),
  )
