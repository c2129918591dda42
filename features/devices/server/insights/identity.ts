import { type GenuineRow, hasSerial, hex4, interfaceSet, parseReport } from '@portcullis/domain'
import type { DeviceReport, IdentityDifference } from '#features/contract.ts'

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

/** Fields that a new batch or, at another speed, the port changes. A difference in them is no evidence. */
export const isNoEvidence = (field: string, sameSpeed: boolean): boolean =>
  field === names.revision || (!sameSpeed && [names.speed, names.ep0, names.power].includes(field))

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

/** Compares the interface classes of a device with those of the genuine product. */
export const besideGenuine = (device: DeviceReport, row: GenuineRow): IdentityDifference[] => {
  const { classes } = facts(device)
  const differs = classes.split(', ').some((code) => code !== none && !row.classes.includes(code))
  return [{ field: names.classes, device: classes, expected: row.classes.join(', '), differs }]
}
