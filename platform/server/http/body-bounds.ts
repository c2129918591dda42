/** Limits that keep a hostile body from costing more than a valid one of its size. */
import type { FieldError } from '../../contract/problem.ts'
import { patternLength } from './pattern-length.ts'

/** The parts of a JSON schema that define limits. */
export interface BodyShape {
  type?: string
  properties?: Record<string, BodyShape>
  patternProperties?: Record<string, BodyShape>
  additionalProperties?: boolean | BodyShape
  items?: BodyShape
  anyOf?: BodyShape[]
  maxItems?: number
  maxLength?: number
  pattern?: string
  maxProperties?: number
  'x-typed'?: 'line' | 'lines'
  enum?: unknown[]
  const?: unknown
}

/** Deepest nesting; no schema of the contract exceeds eight levels. */
export const maxDepth = 32
/** Shorter texts are parsed within a millisecond whatever they contain. */
const scanFrom = 64 * 1024

const quote = 34
const backslash = 92
const colon = 58
const comma = 44

/** Largest JSON body. Operations that take less have a lower limit. */
const jsonLimit = 8 * 1024 * 1024
/** Longer strings hold files as Base64 or PEM, which need no escapes. In others, each character may take six bytes. */
const longestText = 64 * 1024
/** Values of the largest body: 8 MiB of the smallest useful items have fewer. */
const mostValues = 500_000
/** Names that a body may have besides those of its schema: maps without a limit, spelling variants and mistakes. */
const spareNames = 1_000

const jsonSize = (value: unknown): number => JSON.stringify(value).length * 6

/** Returns the largest size of a value in bytes, without blanks. */
export const bytesOf = (shape: BodyShape | undefined): number => {
  if (shape?.anyOf !== undefined) return Math.max(...shape.anyOf.map(bytesOf))
  if (shape?.const !== undefined) return jsonSize(shape.const)
  if (shape?.enum !== undefined) return Math.max(...shape.enum.map(jsonSize))
  if (shape?.type === 'string') {
    const length = Math.min(shape.maxLength ?? Number.POSITIVE_INFINITY, patternLength(shape.pattern ?? ''))
    return 2 + length * (length > longestText ? 1 : 6)
  }
  if (shape?.type === 'array') return 2 + (shape.maxItems ?? Number.POSITIVE_INFINITY) * (1 + bytesOf(shape.items))
  if (shape?.type !== 'object')
    return ['integer', 'number', 'boolean', 'null'].includes(shape?.type ?? '') ? 32 : Number.POSITIVE_INFINITY
  if (shape.additionalProperties !== false) return Number.POSITIVE_INFINITY
  const memberOf = (nameLength: number, member: BodyShape): number => 4 + nameLength * 6 + bytesOf(member)
  const named = Object.entries(shape.properties ?? {}).map(([name, member]) => memberOf(name.length, member))
  const mapped = Object.entries(shape.patternProperties ?? {}).map(
    ([name, member]) => (shape.maxProperties ?? Number.POSITIVE_INFINITY) * memberOf(patternLength(name), member),
  )
  return [...named, ...mapped].reduce((sum, bytes) => sum + bytes, 2)
}

/** Returns the body limit that follows from a schema. A quarter is for blanks. */
export const jsonLimitOf = (shape: BodyShape | undefined): number =>
  shape === undefined ? scanFrom : Math.ceil(Math.min(jsonLimit, Math.max(scanFrom, bytesOf(shape) * 1.25)))

/** Most content that a body of a schema can have. */
export interface BodyCost {
  /** Different names in its objects. */
  names: number
  /** Objects, arrays and other values. */
  values: number
  /** Members whose names the schema does not state. */
  unknown: number
}

const sum = (costs: readonly BodyCost[], times = 1): BodyCost => ({
  names: costs.reduce((n, { names }) => n + names, 0),
  values: costs.reduce((n, { values }) => n + values * times, 1),
  unknown: costs.reduce((n, { unknown }) => n + unknown * times, 0),
})

const costOf = (shape: BodyShape | undefined): BodyCost => {
  if (shape?.anyOf !== undefined) return sum(shape.anyOf.map(costOf))
  if (shape?.type === 'array') return sum([costOf(shape.items)], shape.maxItems ?? mostValues)
  if (shape?.enum !== undefined || shape?.const !== undefined) return { names: 0, values: 1, unknown: 0 }
  if (shape?.type === undefined) return { names: spareNames, values: spareNames, unknown: mostValues }
  if (shape.type !== 'object') return { names: 0, values: 1, unknown: 0 }
  const { properties = {}, patternProperties = {}, maxProperties = 0 } = shape
  const isOpen = shape.additionalProperties !== false && shape.patternProperties === undefined
  const own = sum(Object.values(properties).map(costOf))
  const map = sum(Object.values(patternProperties).map(costOf), maxProperties)
  return {
    names: own.names + map.names + Object.keys(properties).length + maxProperties,
    values: own.values + map.values,
    unknown: own.unknown + map.unknown + (isOpen ? mostValues : maxProperties),
  }
}

/** Returns the names that a schema states, in lower case. */
const namesOf = (shape: BodyShape | undefined): string[] => [
  ...Object.keys(shape?.properties ?? {}).map((name) => name.toLowerCase()),
  ...[
    ...(shape?.anyOf ?? []),
    ...Object.values(shape?.properties ?? {}),
    ...Object.values(shape?.patternProperties ?? {}),
  ]
    .concat(shape?.items ?? [])
    .flatMap(namesOf),
]

/** Limits of the content of a body. */
export interface BodyLimits extends BodyCost {
  /** Names that the schema states. */
  known: ReadonlySet<string>
}

/** Returns what a body may contain, with a reserve for mistakes that its reader names. */
export const bodyCostOf = (shape: BodyShape | undefined): BodyLimits => {
  const { names, values, unknown } = shape === undefined ? { names: 0, values: 0, unknown: 0 } : costOf(shape)
  return {
    names: names + spareNames,
    values: Math.min(mostValues, values + 10 * spareNames),
    unknown: Math.min(mostValues, unknown + 10 * spareNames),
    known: new Set(namesOf(shape)),
  }
}

/** Returns the index of the end of the string that starts before `from`. */
const stringEnd = (text: string, from: number): number => {
  let i = from
  for (; i < text.length && text.charCodeAt(i) !== quote; i++) if (text.charCodeAt(i) === backslash) i++
  return i
}

/** Returns whether a colon follows, after blanks. */
const isName = (text: string, from: number): boolean => {
  let i = from
  while (i < text.length && text.charCodeAt(i) <= 32) i++
  return text.charCodeAt(i) === colon
}

/**
 * Returns why a JSON text costs too much to parse. It nests deeper than `maxDepth`, or contains more than `most`. Parsing
 * 8 MiB of `[` takes over a second, and 600,000 different names 2.5 s. Objects that combine 1,000 names differently take
 * 0.6 s. This takes some ten milliseconds.
 */
export const costlyText = (text: string, most: BodyLimits): string | undefined => {
  if (text.length < scanFrom) return undefined
  const names = new Set<string>()
  let values = 0
  let unknown = 0
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === quote) {
      const end = stringEnd(text, i + 1)
      if (isName(text, end + 1)) {
        const name = text.slice(i + 1, end)
        if (names.add(name).size > most.names) return `has more than ${most.names} different names`
        if (!most.known.has(name) && !most.known.has(name.toLowerCase()) && ++unknown > most.unknown)
          return `has more than ${most.unknown} members with unknown names`
      }
      i = end
    } else if (c === 91 || c === 123) {
      if (++depth > maxDepth) return `is nested deeper than ${maxDepth}`
      values++
    } else if (c === 93 || c === 125) depth--
    else if (c === comma) values++
    if (values > most.values) return `has more than ${most.values} values`
  }
  return undefined
}

const takes = (shape: BodyShape, type: 'array' | 'object'): boolean => shape.type === undefined || shape.type === type

/** Returns the schema for a value of this JSON type, the first match of a union; undefined if none accepts it. */
export const shapeFor = (shape: BodyShape | undefined, type: 'array' | 'object'): BodyShape | undefined =>
  (shape?.anyOf ?? (shape === undefined ? [] : [shape])).find((member) => takes(member, type))

const unknownMember = (value: object, names: ReadonlySet<string>): string | undefined => {
  for (const key in value) if (!names.has(key)) return key
  return undefined
}

/**
 * Returns the first array or object that is larger than its schema allows. Runs before a validator lists faults, which
 * would report each of a million items (1 M items: 2 s).
 */
export const oversize = (value: unknown, given: BodyShape | undefined, field: string): FieldError | undefined => {
  if (typeof value !== 'object' || value === null) return undefined
  const members = given?.anyOf?.filter((member) => takes(member, Array.isArray(value) ? 'array' : 'object')) ?? []
  if (members.length > 1) {
    const faults = members.map((member) => oversize(value, member, field))
    return faults.every((fault) => fault !== undefined) ? faults[0] : undefined
  }
  if (Array.isArray(value)) {
    const shape = shapeFor(given, 'array')
    if (shape?.maxItems !== undefined && value.length > shape.maxItems)
      return { field, message: `must not have more than ${shape.maxItems} items` }
    for (const [i, item] of value.entries()) {
      const fault = oversize(item, shape?.items, `${field}[${i}]`)
      if (fault !== undefined) return fault
    }
    return undefined
  }
  const shape = shapeFor(given, 'object')
  const properties = shape?.properties ?? {}
  if (shape?.additionalProperties === false && shape.patternProperties === undefined) {
    const unknown = unknownMember(value, new Set(Object.keys(properties)))
    if (unknown !== undefined) return { field: `${field}.${unknown.slice(0, 64)}`, message: 'is unknown' }
  }
  for (const [name, inner] of Object.entries(properties)) {
    const fault = oversize((value as Record<string, unknown>)[name], inner, `${field}.${name}`)
    if (fault !== undefined) return fault
  }
  return undefined
}
