import { comparePortPaths, deviceId, type Identified, inventoryHash, riskScore, severityOf } from '@portcullis/domain'
import type { Design, JudgedDevice, StoredPeripheral } from '#features/peripherals/index.ts'

/** A peripheral of one host while a report is applied. */
export interface HostPeripheral {
  deviceId: string
  design: Design
  portPath: string
  serial: string
  speed: number
  present: boolean
  authorized: boolean
}

export type HostChange = { what: 'attached' | 'gone' | 'changed'; peripheral: HostPeripheral }

export interface Applied {
  /** Rows to write. */
  writes: HostPeripheral[]
  /** What happened, in order. */
  changes: HostChange[]
  /** All peripherals of the host afterwards, gone ones too. */
  all: HostPeripheral[]
}

/** A change of the report with its judged device, where it has one. */
export type JudgedChange = { op: 'attached' | 'changed'; device: JudgedDevice } | { op: 'removed'; portPath: string }

/** State of a host by the stored rows. */
export const hostOf = (rows: readonly StoredPeripheral[], designs: ReadonlyMap<number, Design>): HostPeripheral[] =>
  rows.map((row) => ({
    deviceId: row.device_id,
    design: designs.get(row.design_id) as Design,
    portPath: row.port_path,
    serial: row.serial,
    speed: row.speed,
    present: row.present,
    authorized: row.authorized,
  }))

/**
 * Applies changes, then a full inventory when there is one, to what is stored of a host. Pure. A device keeps its id when
 * it comes back; two present devices that share vendor, product and serial number are told apart by their port.
 */
export const applyReport = (
  stored: readonly HostPeripheral[],
  changes: readonly JudgedChange[],
  inventory: readonly JudgedDevice[] | null,
): Applied => {
  const byId = new Map(stored.map((p) => [p.deviceId, p]))
  const byPort = new Map(stored.filter((p) => p.present).map((p) => [p.portPath, p]))
  const touched = new Set<string>()
  const happened: HostChange[] = []

  const set = (peripheral: HostPeripheral): void => {
    byId.set(peripheral.deviceId, peripheral)
    touched.add(peripheral.deviceId)
  }

  const remove = (portPath: string): void => {
    const there = byPort.get(portPath)
    if (there === undefined) return
    const gone = { ...there, present: false }
    byPort.delete(portPath)
    set(gone)
    happened.push({ what: 'gone', peripheral: gone })
  }

  /** The id of a device at a port, free of others that are present elsewhere. */
  const idFor = (device: Identified): string => {
    let id = deviceId(device.vid, device.pid, device.serial, device.portPath)
    for (let other = byId.get(id); other?.present && other.portPath !== device.portPath; other = byId.get(id))
      id += `&${device.portPath}`
    return id
  }

  const place = ({ report, design, serial }: JudgedDevice): void => {
    const portPath = report.portPath
    const there = byPort.get(portPath)
    const fresh = {
      design,
      portPath,
      serial,
      speed: report.speedMbps ?? 0,
      present: true,
      authorized: report.authorized ?? true,
    }
    if (there !== undefined && there.design.id === design.id && there.serial === serial) {
      if (there.authorized === fresh.authorized && there.speed === fresh.speed) return
      const changed = { ...fresh, deviceId: there.deviceId }
      byPort.set(portPath, changed)
      set(changed)
      happened.push({ what: 'changed', peripheral: changed })
      return
    }
    if (there !== undefined) remove(portPath)
    const attached = { ...fresh, deviceId: idFor({ vid: design.vid, pid: design.pid, serial, portPath }) }
    byPort.set(portPath, attached)
    set(attached)
    happened.push({ what: 'attached', peripheral: attached })
  }

  for (const change of changes) {
    if (change.op === 'removed') remove(change.portPath)
    else place(change.device)
  }
  if (inventory !== null) {
    const ports = new Set(inventory.map((device) => device.report.portPath))
    for (const portPath of [...byPort.keys()]) if (!ports.has(portPath)) remove(portPath)
    for (const device of [...inventory].sort((a, b) => comparePortPaths(a.report.portPath, b.report.portPath)))
      place(device)
  }
  return {
    writes: [...touched].map((id) => byId.get(id) as HostPeripheral),
    changes: happened,
    all: [...byId.values()],
  }
}

/** The inventory hash of what is stored, as the agent computes it over what is attached. */
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

const vulnerablePoints = (design: Design): number =>
  Math.max(...design.vulnerabilities.map((v) => Math.round((v.cvss ?? 5) * (v.confidence === 'firmware' ? 3 : 2))))

/** Verdict over a host: the maximum of its present peripherals, and why. */
export const verdictOf = (all: readonly HostPeripheral[]) => {
  const present = all.filter((p) => p.present)
  const designs = [...new Map(present.map((p) => [p.design.id, p.design])).values()]
  const factors = designs.flatMap((design) => {
    const name = `${design.vid}:${design.pid} ${design.productName || design.vendorName}`.trim()
    return [
      ...(design.attackTool === null
        ? []
        : [
            {
              factor: `${design.attackTool === 'confirmed' ? 'Confirmed' : 'Suspected'} attack tool`,
              points: design.attackTool === 'confirmed' ? 80 : 50,
              evidence: `${name}: ${design.evidence.join('; ')}`,
            },
          ]),
      ...(!design.vulnerable
        ? []
        : [
            {
              factor: 'Vulnerable peripheral',
              points: vulnerablePoints(design),
              evidence: `${name}: ${design.vulnerabilities.map((v) => v.id).join(', ')}`,
            },
          ]),
    ]
  })
  const score = riskScore(factors)
  return {
    severity: Math.max(10, ...designs.map((d) => severityOf({ vulnerable: d.vulnerable, attackTool: d.attackTool }))),
    risk: score.score,
    riskFactors: score.factors.slice(0, 50),
    approvedPresent: present.length,
    approvedGone: all.length - present.length,
    vulnerable: designs.some((d) => d.vulnerable),
    attackTool: designs.some((d) => d.attackTool !== null),
  }
}
