import { hasSerial, hex4, interfaceSet, isSynthetic } from './descriptors.ts'
import type { Subject } from './device-test.ts'
import type { GenuineRow } from './knowledge-types.ts'
import { cleanText } from './text.ts'

/** One way in which a device differs from the product it claims to be. */
export interface Contradiction {
  /** 3 can not be that product; 2 very unlikely; 1 a new revision may explain it. */
  weight: 1 | 2 | 3
  evidence: string
}

/**
 * Compares a device with the genuine product of its ids. Of a host that shows no descriptors the set of interfaces and
 * the size of control packets are not known and not compared; interfaces that are known still have to be of its classes.
 */
export const compileGenuine = (row: GenuineRow): ((subject: Subject) => Contradiction[]) => {
  const classes = new Set(row.classes)
  const texts = (['manufacturer', 'product', 'configuration'] as const).flatMap((key) =>
    row[key] === undefined ? [] : [{ key, expression: new RegExp(row[key]) }],
  )
  return (subject) => {
    const { parsed, report } = subject
    const found: Contradiction[] = []
    const isPart = isSynthetic(parsed)
    const differs = (weight: 1 | 2 | 3, evidence: string) => found.push({ weight, evidence })
    const foreign = new Set<string>()
    for (const c of parsed.configurations)
      for (const i of c.interfaces) {
        const cls = i.class.toString(16).padStart(2, '0')
        if (!classes.has(cls)) foreign.add(cls)
      }
    if (foreign.size > 0)
      differs(3, `has interfaces of class ${[...foreign].join(', ')}, a genuine ${row.name} has none`)
    else if (!isPart && row.interfaceSets && !row.interfaceSets.includes(interfaceSet(parsed)))
      differs(2, `interfaces are ${interfaceSet(parsed) || 'none'} instead of ${row.interfaceSets.join(' or ')}`)
    // One recording without a serial number is a hint, several are a property of the product.
    if (row.serial === 'never' && hasSerial(parsed, report))
      differs(row.samples > 1 ? 3 : 2, `has a serial number, a genuine ${row.name} has none`)
    if (row.maxSpeedMbps !== undefined && (report.speedMbps ?? 0) > row.maxSpeedMbps)
      differs(3, `runs at ${report.speedMbps} Mbit/s, a genuine ${row.name} at ${row.maxSpeedMbps} at most`)
    if (!isPart && row.ep0 && !row.ep0.includes(parsed.maxPacketSize0))
      differs(1, `control packets of ${parsed.maxPacketSize0} bytes instead of ${row.ep0.join(' or ')}`)
    const bcd = hex4(parsed.bcdDevice)
    if (row.bcdMajor && !row.bcdMajor.includes(bcd.slice(0, 2)))
      differs(1, `bcdDevice is ${bcd}, not of branch ${row.bcdMajor.join(' or ')}`)
    for (const { key, expression } of texts) {
      const value = report[key]
      if (value !== undefined && !expression.test(value)) differs(1, `${key} is "${cleanText(value, 80)}"`)
    }
    return found
  }
}
