/** Devices of one simulated host, and the devices that people attach and remove. */

import { inventoryHash, mustExist } from '@portcullis/domain'
import { buildDescriptors, type DeviceSpec } from '@portcullis/domain/testing'
import type { DeviceChange, DeviceReport } from '@portcullis/features/contract.ts'
import type { Evaluator } from './evaluator.ts'
import type { Department } from './hosts.ts'
import { attackTools, type Model, models, type Role } from './models.ts'
import { type Platform, reportedOn } from './platforms.ts'
import type { Random } from './random.ts'

const internal: ReadonlySet<Role> = new Set<Role>(['internalCamera', 'bluetooth', 'fingerprint'])
/** Ports that people can reach. Ports from 1-5 are internal. */
const outerPorts = ['1-1', '1-2', '1-3', '1-4', '2-1', '2-2', '3-1', '3-2']
/** Share of hosts with an attack tool. */
const attackedShare = 0.003
const maxDevices = 13
const minDevices = 5

/** Cached descriptors. 10,000 hosts share about 150 of them. */
const descriptorCache = new Map<string, string>()

const descriptors = (model: Model, revision: string): string => {
  const key = `${model.vid}${model.pid}${revision}${model.interfaces.length}${model.product}`
  let text = descriptorCache.get(key)
  if (text === undefined) {
    const spec: DeviceSpec = {
      vid: model.vid,
      pid: model.pid,
      bcdDevice: revision,
      speedMbps: model.speedMbps,
      maxPowerMa: model.maxPowerMa,
      interfaces: [...model.interfaces],
      ...(model.bcdUsb === undefined ? {} : { bcdUsb: model.bcdUsb }),
      // Since USB 3, the packet size of endpoint 0 is an exponent of two.
      ...((model.bcdUsb ?? 0) >= 0x0300 ? { maxPacketSize0: 9 } : {}),
      ...(model.deviceCode === undefined ? {} : { deviceCode: model.deviceCode }),
      ...(model.manufacturer ? { manufacturer: model.manufacturer } : {}),
      ...(model.product ? { product: model.product } : {}),
      ...(model.serial === null ? {} : { serial: model.serial }),
      ...(model.configurations[revision] === undefined ? {} : { configuration: model.configurations[revision] }),
      ...(model.moreConfigurations === undefined
        ? {}
        : { moreConfigurations: model.moreConfigurations.map((c) => [...c]) }),
    }
    text = buildDescriptors(spec).toString('base64')
    descriptorCache.set(key, text)
  }
  return text
}

/** A device report without its port. */
export type LooseDevice = Omit<DeviceReport, 'portPath'>

/** Creates a device of a model with a random serial number and revision, usually the most common revision. */
export const makeDevice = (
  model: Model,
  random: Random,
  isFixed = false,
  platform: Platform = 'linux',
): LooseDevice => {
  const revision = random.chance(0.7) ? mustExist(model.revisions[0], 'a revision') : random.pick(model.revisions)
  const serial = model.serial?.replace(/#/g, () => random.hex(1))
  const configuration = model.configurations[revision]
  const linux: LooseDevice = {
    descriptors: descriptors(model, revision),
    ...(model.manufacturer ? { manufacturer: model.manufacturer } : {}),
    ...(model.product ? { product: model.product } : {}),
    ...(serial === undefined ? {} : { serial }),
    ...(configuration === undefined ? {} : { configuration }),
    speedMbps: model.speedMbps,
    removable: isFixed ? 'fixed' : 'removable',
    authorized: true,
  }
  return reportedOn(platform, { model, revision, linux, random })
}

export type Inventory = ReturnType<typeof createInventory>

/** Creates the devices of a host in a department. The same `random` gives the same devices and changes. */
export const createInventory = (department: Department, random: Random, platform: Platform = 'linux') => {
  const make = (model: Model, isFixed = false): LooseDevice => makeDevice(model, random, isFixed, platform)
  const present = new Map<string, DeviceReport>()
  const free = [...outerPorts]
  let nextInternal = 5
  let hash: string | undefined
  let evaluator: Evaluator | null = null
  /** Devices that enforcement changed since the last check-in. */
  let changed: DeviceReport[] = []

  const attach = (device: LooseDevice, portPath: string): DeviceReport => {
    const plain = { portPath, ...device }
    const report = evaluator === null ? plain : evaluator(plain)
    present.set(portPath, report)
    hash = undefined
    return report
  }
  const detach = (portPath: string): void => {
    present.delete(portPath)
    changed = changed.filter((device) => device.portPath !== portPath)
    free.unshift(portPath)
    hash = undefined
  }
  const attachHub = (): void => {
    const port = mustExist(free.shift(), 'a free port')
    attach(make(random.pick(models.hub)), port)
    free.push(...[1, 2, 3, 4].map((child) => `${port}.${child}`))
  }

  if (random.chance(department.devices.hub ?? 0)) attachHub()
  const roles = Object.entries(department.devices) as [Role, number][]
  for (const [role, share] of roles) {
    if (role === 'hub' || !random.chance(share) || present.size >= maxDevices - 1) continue
    if (internal.has(role)) {
      attach(make(random.pick<Model>(models[role]), true), `1-${nextInternal++}`)
      continue
    }
    if (free.length <= 2) attachHub()
    attach(make(random.pick<Model>(models[role])), mustExist(free.shift(), 'a free port'))
  }
  while (present.size < minDevices) {
    if (free.length <= 2) attachHub()
    else
      attach(make(random.pick<Model>(models[random.pick(department.carried)])), mustExist(free.shift(), 'a free port'))
  }

  // Enough free ports for all portable devices and an attack tool.
  while (free.length < 4) attachHub()

  /** Portable devices of this host. They keep their identity when they return. */
  const portable = Array.from({ length: random.between(1, 3) }, () =>
    make(random.pick<Model>(models[random.pick(department.carried)])),
  )
  const isAttacked = random.chance(attackedShare)
  const tool = isAttacked ? make(random.pick(attackTools)) : undefined
  const carried = new Map<string, LooseDevice>()
  if (tool !== undefined && random.chance(0.5)) {
    const port = mustExist(free.shift(), 'a free port')
    attach(tool, port)
    carried.set(port, tool)
  }

  return {
    /** Whether an attack tool is sometimes attached to this host. */
    isAttacked,
    devices: (): DeviceReport[] => [...present.values()],
    /** Returns the inventory hash of the present devices. */
    hash: (): string => {
      hash ??= inventoryHash([...present.values()])
      return hash
    },
    /** Sets the evaluator and applies it to present and later devices. With null, all devices work. */
    enforce: (by: Evaluator | null): void => {
      evaluator = by
      for (const [portPath, before] of present) {
        const { enforced: _, ...plain } = before
        const after = by === null ? { ...plain, authorized: true } : by(plain)
        if (JSON.stringify(after) === JSON.stringify(before)) continue
        present.set(portPath, after)
        changed = [...changed.filter((device) => device.portPath !== portPath), after]
        hash = undefined
      }
    },
    /** Returns the changes of attached devices since the last call. */
    changes: (at: number): DeviceChange[] => {
      const result = changed.map((device) => ({ op: 'changed' as const, at, device }))
      changed = []
      return result
    },
    /** Attaches or removes a random device and returns the change for the next check-in. */
    changeDevices: (at: number): DeviceChange => {
      const attached = new Set(carried.values())
      const available = [...portable, ...(tool === undefined ? [] : [tool])].filter((device) => !attached.has(device))
      const isRemoval = available.length === 0 || (carried.size > 0 && random.chance(0.6))
      if (isRemoval) {
        const portPath = random.pick([...carried.keys()])
        carried.delete(portPath)
        detach(portPath)
        return { op: 'removed', at, portPath }
      }
      const device = random.pick(available)
      const portPath = mustExist(free.shift(), 'a free port')
      carried.set(portPath, device)
      return { op: 'attached', at, device: attach(device, portPath) }
    },
  }
}
