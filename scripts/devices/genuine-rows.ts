import {
  bootPacketOf,
  type GenuineRow,
  hasSerial,
  hex4,
  interfaceSet,
  type ParsedDescriptors,
  parseReport,
  parseUsbIds,
} from '@portcullis/domain'
import type { Recorded } from './recordings.ts'

type List = 'interfaceSets' | 'ep0' | 'bcdMajor' | 'bcd' | 'powerMa' | 'bootPacket'
const lists = ['interfaceSets', 'ep0', 'bcdMajor', 'bcd', 'powerMa', 'bootPacket'] as const satisfies readonly List[]
/** With this many variants or more, a field does not distinguish devices. */
const most = 8

const HID = '03'
const distinct = <T extends string | number>(values: readonly T[]): T[] =>
  [...new Set(values)].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
/** Returns a pattern for all recorded texts; undefined if there are none, or if they are too many or too long. */
const patternOf = (values: readonly (string | undefined)[]): string | undefined => {
  const shown = distinct<string>(values.flatMap((value) => (value === undefined || value === '' ? [] : [value])))
  if (shown.length === 0 || shown.length > 3 || shown.some((text) => text.length > 40)) return undefined
  return `^(?:${shown.map(escaped).join('|')})$`
}

const ofClass = (parsed: ParsedDescriptors): string[] =>
  distinct(parsed.configurations.flatMap((c) => c.interfaces.map((i) => i.class.toString(16).padStart(2, '0'))))

const rowOf = (key: string, recorded: readonly Recorded[], name: string, source: string): GenuineRow => {
  const all = recorded.map(({ report, depth, file }) => ({ report, depth, file, parsed: parseReport(report) }))
  const whole = all.filter(({ depth }) => depth === 'descriptors').map(({ parsed }) => parsed)
  const classes = distinct(all.flatMap(({ parsed }) => ofClass(parsed)))
  const files = distinct(all.map(({ file }) => file))
  const isInput = classes.every((code) => code === HID)
  const ep0 = distinct(whole.map((p) => p.maxPacketSize0))
  const manufacturer = patternOf(all.map(({ report }) => report.manufacturer))
  const product = patternOf(all.map(({ report }) => report.product))
  const packets = distinct(whole.map(bootPacketOf).filter((size) => size > 0))
  return {
    vid: key.slice(0, 4),
    pid: key.slice(5),
    name,
    classes,
    ...(whole.length === 0 ? {} : { interfaceSets: distinct(whole.map(interfaceSet)) }),
    ...(isInput && !all.some(({ parsed, report }) => hasSerial(parsed, report)) ? { serial: 'never' as const } : {}),
    // High-speed devices have control packets of 64 bytes (USB 2.0, 5.5.3).
    ...(isInput && ep0.length > 0 && ep0.every((size) => size < 64) ? { maxSpeedMbps: 12 } : {}),
    ...(ep0.length === 0 ? {} : { ep0 }),
    bcdMajor: distinct(all.map(({ parsed }) => hex4(parsed.bcdDevice).slice(0, 2))),
    bcd: distinct(all.map(({ parsed }) => hex4(parsed.bcdDevice))),
    ...(whole.length === 0 ? {} : { powerMa: distinct(whole.map((p) => p.configurations[0]?.maxPowerMa ?? 0)) }),
    ...(packets.length === 0 ? {} : { bootPacket: packets }),
    ...(manufacturer === undefined ? {} : { manufacturer }),
    ...(product === undefined ? {} : { product }),
    samples: files.length,
    source: `${source}${files.length > 3 ? `${files.length} recordings` : files.join(', ')}`.slice(0, 990),
  }
}

/** Builds rows for all recorded models, except hubs, boards, gadgets and devices without a vendor's id. */
export const rowsOf = (recorded: readonly Recorded[], usbIds: string, source: string): GenuineRow[] => {
  const names = parseUsbIds(usbIds)
  const byModel = Map.groupBy(recorded, ({ report }) => {
    const { vid, pid } = parseReport(report)
    return `${vid}:${pid}`
  })
  return [...byModel].flatMap(([key, devices]): GenuineRow[] => {
    const [vid = '', pid = ''] = key.split(':')
    const parsed = devices.map(({ report }) => parseReport(report))
    const isHub = parsed.some((p) => p.deviceClass === 9 || ofClass(p).includes('09'))
    if (isHub || noProduct.has(vid) || parsed.some((p) => p.configurations.length === 0)) return []
    const product = names.products.get(vid + pid) ?? devices.find(({ report }) => report.product)?.report.product
    const vendor = names.vendors.get(vid) ?? devices.find(({ report }) => report.manufacturer)?.report.manufacturer
    const name = [vendor, product ?? key].filter((text) => text !== undefined).join(' ')
    return [rowOf(key, devices, name.slice(0, 120), source)]
  })
}

/** Ids of gadgets, firmware projects and virtual machines, and unassigned ids. */
const noProduct: ReadonlySet<string> = new Set([
  '0000',
  '0525',
  '1209',
  '16C0',
  '1D50',
  '1D6B',
  'CAFE',
  'FFFF',
  'F000',
  '0627',
  '0E0F',
  '203A',
  '80EE',
])

const keyOf = ({ vid, pid }: GenuineRow): string => `${vid}:${pid}`

/** Describes the contradictions between a recording and an existing row. */
export const conflictsOf = (known: readonly GenuineRow[], made: readonly GenuineRow[]): string[] => {
  const rows = new Map(known.map((row) => [keyOf(row), row]))
  return made.flatMap((row) => {
    const before = rows.get(keyOf(row))
    if (before === undefined) return []
    const found: string[] = []
    const foreign = row.classes.filter((code) => !before.classes.includes(code))
    if (foreign.length > 0) found.push(`classes ${foreign.join(', ')}`)
    for (const key of lists) {
      const was = before[key] as readonly (string | number)[] | undefined
      const other = (row[key] ?? []).filter((value) => was !== undefined && !was.includes(value))
      if (other.length > 0) found.push(`${key} ${other.join(', ')}`)
    }
    if (before.serial === 'never' && row.serial === undefined && row.classes.every((code) => code === HID))
      found.push('serial number')
    return found.length === 0 ? [] : [`${keyOf(row)} ${before.name}: ${found.join('; ')} (${row.source})`]
  })
}

/** Merges recordings into rows: adds new models and extends lists, but never changes values that were written by hand. */
export const mergeRows = (known: readonly GenuineRow[], made: readonly GenuineRow[]): GenuineRow[] => {
  const rows = new Map(known.map((row) => [keyOf(row), row]))
  for (const row of made) {
    const before = rows.get(keyOf(row))
    if (before === undefined) rows.set(keyOf(row), row)
    else if (before.bcd !== undefined && before.source !== row.source) rows.set(keyOf(row), grown(before, row))
  }
  return [...rows.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

const grown = (before: GenuineRow, row: GenuineRow): GenuineRow => {
  const { serial, ...rest } = before
  const after: GenuineRow = {
    ...rest,
    classes: distinct([...before.classes, ...row.classes]),
    ...(serial !== undefined && row.serial !== undefined ? { serial } : {}),
    samples: before.samples + row.samples,
    source: `${before.source}; ${row.source}`.slice(0, 990),
  }
  for (const key of lists) {
    const all = distinct<string | number>([...(before[key] ?? []), ...(row[key] ?? [])])
    if (all.length > most) delete after[key]
    else if (all.length > 0) Object.assign(after, { [key]: all })
  }
  return after
}
