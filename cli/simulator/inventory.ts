/** What hangs on one simulated host, and what people plug in and take away. */
import type { DeviceChange, DeviceReport } from '@portcullis/contract'
import { inventoryHash } from '@portcullis/domain'
import { buildDescriptors, type DeviceSpec } from '@portcullis/domain/testing'
import type { Department } from './hosts.ts'
import type { Judge } from './judge.ts'
import type { Model } from './model.ts'
import { attackTools, models, type Role } from './models.ts'
import type { Random } from './random.ts'

const internal: ReadonlySet<Role> = new Set<Role>(['internalCamera', 'bluetooth', 'fingerprint'])
/** Ports a person can reach; 1-5 and above are soldered. */
const outerPorts = ['1-1', '1-2', '1-3', '1-4', '2-1', '2-2', '3-1', '3-2']
/** Few hosts are visited by someone with a tool: 3 of 1,000. */
const visitedShare = 0.003
const maxDevices = 13
const minDevices = 5

/** Descriptors by design: 10,000 hosts share some 150 of them, so each is built once. */
const descriptorsOf = new Map<string, string>()

const descriptors = (model: Model, revision: string): string => {
  const key = `${model.vid}${model.pid}${revision}${model.interfaces.length}${model.product ?? ''}`
  let text = descriptorsOf.get(key)
  if (text === undefined) {
    const spec: DeviceSpec = {
      vid: model.vid,
      pid: model.pid,
      bcdDevice: revision,
      speedMbps: model.speedMbps,
      maxPowerMa: model.maxPowerMa,
      interfaces: [...model.interfaces],
      ...(model.bcdUsb === undefined ? {} : { bcdUsb: model.bcdUsb }),
      // From USB 3 on the size of endpoint 0 is written as a power of two.
      ...((model.bcdUsb ?? 0) >= 0x0300 ? { maxPacketSize0: 9 } : {}),
      ...(model.deviceCode === undefined ? {} : { deviceCode: model.deviceCode }),
      ...(model.manufacturer ? { manufacturer: model.manufacturer } : {}),
      ...(model.product ? { product: model.product } : {}),
      ...(model.serial === null ? {} : { serial: model.serial }),
      ...(model.configurations?.[revision] === undefined ? {} : { configuration: model.configurations[revision] }),
      ...(model.moreConfigurations === undefined
        ? {}
        : { moreConfigurations: model.moreConfigurations.map((c) => [...c]) }),
    }
    text = buildDescriptors(spec).toString('base64')
    descriptorsOf.set(key, text)
  }
  return text
}

/** A device that can be attached anywhere: all of a report but the port. */
export type LooseDevice = Omit<DeviceReport, 'portPath'>

/** Makes one device of a model: a revision, mostly the commonest, and a serial number of its own. */
export const makeDevice = (model: Model, random: Random, isFixed = false): LooseDevice => {
  const revision = random.chance(0.7) ? (model.revisions[0] as string) : random.pick(model.revisions)
  const serial = model.serial?.replace(/#/g, () => random.hex(1))
  const configuration = model.configurations?.[revision]
  return {
    descriptors: descriptors(model, revision),
    ...(model.manufacturer ? { manufacturer: model.manufacturer } : {}),
    ...(model.product ? { product: model.product } : {}),
    ...(serial === undefined ? {} : { serial }),
    ...(configuration === undefined ? {} : { configuration }),
    speedMbps: model.speedMbps,
    removable: isFixed ? 'fixed' : 'removable',
    authorized: true,
  }
}

export type Inventory = ReturnType<typeof createInventory>

/** The devices of a host of this department, and its ways to change. Same `random`, same life. */
export const createInventory = (department: Department, random: Random) => {
  const present = new Map<string, DeviceReport>()
  const free = [...outerPorts]
  let nextInternal = 5
  let hash: string | undefined
  let judge: Judge | null = null
  /** What enforcement changed of devices that stay; told with the next check-in. */
  let changed: DeviceReport[] = []

  const attach = (device: LooseDevice, portPath: string): DeviceReport => {
    const plain = { portPath, ...device }
    const report = judge === null ? plain : judge(plain)
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
    const port = free.shift() as string
    attach(makeDevice(random.pick(models.hub), random), port)
    free.push(...[1, 2, 3, 4].map((child) => `${port}.${child}`))
  }

  if (random.chance(department.devices.hub ?? 0)) attachHub()
  const roles = Object.entries(department.devices) as [Role, number][]
  for (const [role, share] of roles) {
    if (role === 'hub' || !random.chance(share) || present.size >= maxDevices - 1) continue
    if (internal.has(role)) {
      attach(makeDevice(random.pick<Model>(models[role]), random, true), `1-${nextInternal++}`)
      continue
    }
    if (free.length <= 2) attachHub()
    attach(makeDevice(random.pick<Model>(models[role]), random), free.shift() as string)
  }
  while (present.size < minDevices) {
    if (free.length <= 2) attachHub()
    else attach(makeDevice(random.pick<Model>(models[random.pick(department.carried)]), random), free.shift() as string)
  }

  // Room for everything in the drawer and a visitor at once.
  while (free.length < 4) attachHub()

  /** What belongs to the people who work here: it comes and goes, and is recognised when it comes back. */
  const drawer = Array.from({ length: random.between(1, 3) }, () =>
    makeDevice(random.pick<Model>(models[random.pick(department.carried)]), random),
  )
  const isVisited = random.chance(visitedShare)
  const tool = isVisited ? makeDevice(random.pick(attackTools), random) : undefined
  const carried = new Map<string, LooseDevice>()
  if (tool !== undefined && random.chance(0.5)) {
    const port = free.shift() as string
    attach(tool, port)
    carried.set(port, tool)
  }

  return {
    /** Whether someone with an attack tool comes by this host now and then. */
    isVisited,
    devices: (): DeviceReport[] => [...present.values()],
    /** Of the devices present now. */
    hash: (): string => {
      hash ??= inventoryHash([...present.values()])
      return hash
    },
    /** Decides about what is present, and from now on about what is attached; null: everything works. */
    enforce: (by: Judge | null): void => {
      judge = by
      for (const [portPath, before] of present) {
        const { enforced: _, ...plain } = before
        const after = by === null ? { ...plain, authorized: true } : by(plain)
        if (JSON.stringify(after) === JSON.stringify(before)) continue
        present.set(portPath, after)
        changed = [...changed.filter((device) => device.portPath !== portPath), after]
        hash = undefined
      }
    },
    /** Changes of what stays attached, once. */
    changes: (at: number): DeviceChange[] => {
      const told = changed.map((device) => ({ op: 'changed' as const, at, device }))
      changed = []
      return told
    },
    /** Somebody plugs something in or takes it away. Applied at once; what it answers is for the next check-in. */
    happen: (at: number): DeviceChange => {
      const inside = new Set(carried.values())
      const outside = [...drawer, ...(tool === undefined ? [] : [tool])].filter((device) => !inside.has(device))
      const takesAway = outside.length === 0 || (carried.size > 0 && random.chance(0.6))
      if (takesAway) {
        const portPath = random.pick([...carried.keys()])
        carried.delete(portPath)
        detach(portPath)
        return { op: 'removed', at, portPath }
      }
      const device = random.pick(outside)
      const portPath = free.shift() as string
      carried.set(portPath, device)
      return { op: 'attached', at, device: attach(device, portPath) }
    },
  }
}
