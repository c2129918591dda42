import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import { hasSerial, hex4, type ParsedDescriptors } from './descriptors.ts'
import type { Kind } from './icons.ts'
import type { DeviceTest } from './knowledge-types.ts'
import { cleanText } from './text.ts'

/** The data about a device that the knowledge evaluates. */
export interface Subject {
  parsed: ParsedDescriptors
  report: DeviceReport
  kinds: readonly Kind[]
}

/** A compiled test. Returns the evidence as text if all conditions match, otherwise null. */
export type CompiledTest = (subject: Subject) => string[] | null

type Part = (subject: Subject) => string | null

const textPart = (key: 'manufacturer' | 'product' | 'serial' | 'configuration', pattern: string): Part => {
  const expression = new RegExp(pattern, 'i')
  return ({ report }) => {
    const value = report[key]
    return value !== undefined && expression.test(value) ? `${key} is "${cleanText(value, 80)}"` : null
  }
}

const parts = (test: DeviceTest): Part[] => {
  const found: Part[] = []
  for (const key of ['manufacturer', 'product', 'serial', 'configuration'] as const)
    if (test[key] !== undefined) found.push(textPart(key, test[key]))
  const { interfaceCount, maxPowerMa, bcdDevice, selfPowered, minSpeedMbps, anyKind } = test
  if (interfaceCount !== undefined)
    found.push(({ parsed }) => {
      const count = new Set(parsed.configurations[0]?.interfaces.map((i) => i.number)).size
      return count === interfaceCount ? `${count} interface${count === 1 ? '' : 's'}` : null
    })
  if (maxPowerMa !== undefined)
    found.push(({ parsed }) => (parsed.configurations[0]?.maxPowerMa === maxPowerMa ? `draws ${maxPowerMa} mA` : null))
  if (bcdDevice !== undefined)
    found.push(({ parsed }) => (hex4(parsed.bcdDevice) === bcdDevice ? `bcdDevice is ${bcdDevice}` : null))
  if (selfPowered !== undefined)
    found.push(({ parsed }) => {
      const is = ((parsed.configurations[0]?.attributes ?? 0) & 0x40) !== 0
      return is === selfPowered ? `says it is ${is ? 'self' : 'bus'}-powered` : null
    })
  if (test.hasSerial !== undefined)
    found.push(({ parsed, report }) =>
      hasSerial(parsed, report) === test.hasSerial ? `has ${test.hasSerial ? 'a' : 'no'} serial number` : null,
    )
  if (minSpeedMbps !== undefined)
    found.push(({ report }) => ((report.speedMbps ?? 0) >= minSpeedMbps ? `runs at ${report.speedMbps} Mbit/s` : null))
  if (anyKind !== undefined)
    found.push(({ kinds }) => {
      const has = anyKind.filter((kind) => kinds.includes(kind))
      return has.length > 0 ? `is ${has.join(' and ')}` : null
    })
  return found
}

/** Compiles the patterns of a test once. An empty or absent test always matches. */
export const compileTest = (test: DeviceTest | undefined): CompiledTest => {
  const all = test ? parts(test) : []
  return (subject) => {
    const evidence: string[] = []
    for (const part of all) {
      const seen = part(subject)
      if (seen === null) return null
      evidence.push(seen)
    }
    return evidence
  }
}
