/** Limits that keep a hostile body from costing more than a valid one of its size. */
import type { FieldError } from '@portcullis/contract'

/** The parts of a JSON schema that define limits. */
export interface BodyShape {
  type?: string
  properties?: Record<string, BodyShape>
  patternProperties?: Record<string, BodyShape>
  additionalProperties?: boolean | BodyShape
  items?: BodyShape
  anyOf?: BodyShape[]
  maxItems?: number
}

/** Deepest nesting; no schema of the contract exceeds eight levels. */
export const maxDepth = 32
/** Shorter texts are parsed within a millisecond whatever they contain. */
const scanFrom = 64 * 1024

const quote = 34
const backslash = 92

/**
 * Returns whether a JSON text nests deeper than `maxDepth`. Parsing 8 MiB of `[` takes over a second; this takes 1 ms.
 */
export const isTooDeep = (text: string): boolean => {
  if (text.length < scanFrom) return false
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === quote) {
      for (i++; i < text.length && text.charCodeAt(i) !== quote; i++) if (text.charCodeAt(i) === backslash) i++
    } else if (c === 91 || c === 123) {
      if (++depth > maxDepth) return true
    } else if (c === 93 || c === 125) depth--
  }
  return false
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
