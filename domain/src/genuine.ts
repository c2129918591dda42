import { hasSerial, hex4, interfaceSet, isSynthetic, type ParsedDescriptors } from './descriptors.ts'
import type { Subject } from './device-test.ts'
import type { GenuineRow } from './knowledge-types.ts'
import { cleanText } from './text.ts'

/** A difference between a device and the product that it claims to be. */
export interface Contradiction {
  /** 3: impossible for that product. 2: very unlikely. 1: a new revision may explain it. */
  weight: 1 | 2 | 3
  evidence: string
}

/** The comparison of a device with the genuine product that has its VID and PID. */
export interface Comparison {
  found: Contradiction[]
  /** Number of compared fields. */
  compared: number
  /** True if the revision was recorded, or if the row lists no revisions. */
  isKnownRevision: boolean
}

const INTERRUPT = 3

/** Returns the longest interrupt IN packet of boot keyboards and mice, or 0. */
export const bootPacketOf = ({ configurations }: ParsedDescriptors): number =>
  Math.max(
    0,
    ...(configurations[0]?.interfaces ?? [])
      .filter((i) => i.class === 3 && i.subclass === 1)
      .flatMap((i) => i.endpoints)
      .filter((e) => (e.address & 0x80) !== 0 && (e.attributes & 3) === INTERRUPT)
      .map((e) => e.maxPacketSize & 0x7ff),
  )

/**
 * Compares a device with the genuine product that has its VID and PID. If the host exposes no descriptors, the set of
 * interfaces and the size of control packets are not compared. The classes of known interfaces still must match. Rows
 * that list revisions come from recordings. A revision that was not recorded may differ, so a single difference from
 * such a row is not proof.
 */
export const compileGenuine = (row: GenuineRow): ((subject: Subject) => Comparison) => {
  const classes = new Set(row.classes)
  const impossible = row.bcd === undefined ? 3 : 2
  // Devices other than input devices (probes, phones, adapters) have many configurations, and few were recorded.
  const isVariable = row.bcd !== undefined && row.samples < 3 && row.classes.some((code) => code !== '03')
  const texts = (['manufacturer', 'product', 'configuration'] as const).flatMap((key) =>
    row[key] === undefined ? [] : [{ key, expression: new RegExp(row[key]) }],
  )
  return (subject) => {
    const { parsed, report } = subject
    const found: Contradiction[] = []
    let compared = 1
    const isPart = isSynthetic(parsed)
    const differs = (weight: 1 | 2 | 3, evidence: string) => found.push({ weight, evidence })
    /** Counts a field. Returns true if it differs. */
    function isOther(known: boolean, other: boolean): boolean {
      if (known) compared++
      return known && other
    }
    const foreign = new Set<string>()
    for (const c of parsed.configurations)
      for (const i of c.interfaces) {
        const cls = i.class.toString(16).padStart(2, '0')
        if (!classes.has(cls)) foreign.add(cls)
      }
    if (foreign.size > 0)
      differs(
        isVariable ? 1 : impossible,
        `has interfaces of class ${[...foreign].join(', ')}; a genuine ${row.name} has none`,
      )
    else if (!isPart && row.interfaceSets && !row.interfaceSets.includes(interfaceSet(parsed)))
      differs(
        isVariable ? 1 : 2,
        `interfaces are ${interfaceSet(parsed) || 'none'} instead of ${row.interfaceSets.join(' or ')}`,
      )
    // A single recording without a serial number is only a hint. Several show a property of the product.
    if (isOther(row.serial === 'never', hasSerial(parsed, report)))
      differs(
        row.samples > 1 ? impossible : row.bcd === undefined ? 2 : 1,
        `has a serial number; a genuine ${row.name} has none`,
      )
    const { speedMbps = 0 } = report
    if (isOther(row.maxSpeedMbps !== undefined && speedMbps > 0, speedMbps > (row.maxSpeedMbps ?? 0)))
      differs(impossible, `runs at ${speedMbps} Mbit/s; a genuine ${row.name} runs at up to ${row.maxSpeedMbps} Mbit/s`)
    if (isOther(!isPart && row.ep0 !== undefined, row.ep0?.includes(parsed.maxPacketSize0) === false))
      differs(1, `uses control packets of ${parsed.maxPacketSize0} bytes instead of ${row.ep0?.join(' or ')}`)
    const power = parsed.configurations[0]?.maxPowerMa ?? 0
    if (isOther(!isPart && row.powerMa !== undefined, row.powerMa?.includes(power) === false))
      differs(1, `requests ${power} mA instead of ${row.powerMa?.join(' or ')}`)
    const packet = bootPacketOf(parsed)
    if (isOther(!isPart && row.bootPacket !== undefined && packet > 0, row.bootPacket?.includes(packet) === false))
      differs(1, `sends packets of ${packet} bytes instead of ${row.bootPacket?.join(' or ')}`)
    const bcd = hex4(parsed.bcdDevice)
    if (isOther(row.bcdMajor !== undefined, row.bcdMajor?.includes(bcd.slice(0, 2)) === false))
      differs(1, `major version of bcdDevice ${bcd} is not ${row.bcdMajor?.join(' or ')}`)
    for (const { key, expression } of texts) {
      const value = report[key]
      if (isOther(value !== undefined, value !== undefined && !expression.test(value)))
        differs(1, `${key} is "${cleanText(value ?? '', 80)}"`)
    }
    return { found, compared, isKnownRevision: row.bcd?.includes(bcd) ?? true }
  }
}
