import type { DeviceReport, IdentityDifference } from '@portcullis/contract'
import { type GenuineRow, hasSerial, hex4, interfaceSet, isSynthetic, parseReport } from '@portcullis/domain'

/** A stored fingerprint with one of its devices, for comparing identities. */
export interface IdentityRow {
  descriptors: Buffer
  manufacturer: string
  product: string
  configuration: string
  serial: string
  speed: number
  port_path: string
  /** bConfigurationValue of the active configuration. Null if no host reported it. */
  configuration_value: number | null
}

/** Rebuilds a report for the fingerprint. Strings that the device lacks are absent. */
export const reportOf = (row: IdentityRow): DeviceReport => ({
  portPath: row.port_path,
  descriptors: row.descriptors.toString('base64'),
  ...(row.manufacturer === '' ? {} : { manufacturer: row.manufacturer }),
  ...(row.product === '' ? {} : { product: row.product }),
  ...(row.configuration === '' ? {} : { configuration: row.configuration }),
  ...(row.serial === '' ? {} : { serial: row.serial }),
  ...(row.speed === 0 ? {} : { speedMbps: row.speed }),
  ...(row.configuration_value === null ? {} : { configurationValue: row.configuration_value }),
})

const none = 'none'

/** Returns the visible properties of a device, by the names that people read. */
const facts = (report: DeviceReport) => {
  const parsed = parseReport(report)
  const { configurationValue } = report
  const active = parsed.configurations.find(({ value }) => value === configurationValue) ?? parsed.configurations[0]
  const classes = new Set(
    parsed.configurations.flatMap((c) => c.interfaces.map((i) => i.class.toString(16).padStart(2, '0'))),
  )
  return {
    interfaces: interfaceSet(parsed) || none,
    classes: [...classes].sort().join(', ') || none,
    serial: hasSerial(parsed, report) ? 'yes' : 'no',
    speed: report.speedMbps === undefined ? 'unknown' : `${report.speedMbps} Mbit/s`,
    ep0: `${parsed.maxPacketSize0} bytes`,
    revision: hex4(parsed.bcdDevice),
    power: `${active?.maxPowerMa ?? 0} mA`,
    manufacturer: report.manufacturer ?? none,
    product: report.product ?? none,
    configuration: report.configuration ?? none,
  }
}

const names: Readonly<Record<keyof ReturnType<typeof facts>, string>> = {
  interfaces: 'Interfaces',
  classes: 'Interface classes',
  serial: 'Serial number',
  speed: 'Speed',
  ep0: 'Control packet size',
  revision: 'Revision (bcdDevice)',
  power: 'Power draw',
  manufacturer: 'Manufacturer',
  product: 'Product',
  configuration: 'Configuration',
}

export const revisionField = names.revision

const differentFirst = (rows: IdentityDifference[]): IdentityDifference[] => [
  ...rows.filter((row) => row.differs),
  ...rows.filter((row) => !row.differs),
]

/** Compares a device with the usual device of its ids. */
export const besideUsual = (device: DeviceReport, usual: DeviceReport): IdentityDifference[] => {
  const [is, expected] = [facts(device), facts(usual)]
  return differentFirst(
    (Object.keys(names) as (keyof typeof names)[]).map((key) => ({
      field: names[key],
      device: is[key],
      expected: expected[key],
      differs: is[key] !== expected[key],
    })),
  )
}

/** Compares a device with the known facts about the genuine product. Unknown facts are left out. */
export const besideGenuine = (device: DeviceReport, row: GenuineRow): IdentityDifference[] => {
  const is = facts(device)
  const parsed = parseReport(device)
  const rows: IdentityDifference[] = []
  function add(key: keyof typeof names, expected: string, fits: boolean): void {
    rows.push({ field: names[key], device: is[key], expected, differs: !fits })
  }
  const foreign = is.classes.split(', ').filter((cls) => cls !== none && !row.classes.includes(cls))
  add('classes', row.classes.join(', ') || none, foreign.length === 0)
  // A polled macOS or Windows host shows neither all interfaces nor the size of control packets.
  const isPart = isSynthetic(parsed)
  if (row.interfaceSets && !isPart)
    add('interfaces', row.interfaceSets.join(' or '), row.interfaceSets.includes(is.interfaces))
  if (row.serial === 'never') add('serial', 'no', is.serial === 'no')
  if (row.maxSpeedMbps !== undefined)
    add('speed', `${row.maxSpeedMbps} Mbit/s at most`, (device.speedMbps ?? 0) <= row.maxSpeedMbps)
  if (row.ep0 && !isPart) add('ep0', `${row.ep0.join(' or ')} bytes`, row.ep0.includes(parsed.maxPacketSize0))
  if (row.bcdMajor)
    add(
      'revision',
      row.bcdMajor.map((major) => `${major}xx`).join(' or '),
      row.bcdMajor.includes(is.revision.slice(0, 2)),
    )
  for (const key of ['manufacturer', 'product', 'configuration'] as const)
    if (row[key] !== undefined)
      add(key, `matches ${row[key]}`, device[key] === undefined || new RegExp(row[key]).test(device[key]))
  return differentFirst(rows)
}
