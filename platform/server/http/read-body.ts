import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { TextDecoder } from 'node:util'
import { isOddText } from '@portcullis/domain'
import type { TSchema } from 'typebox'
import type { FieldError } from '../../contract/problem.ts'
import { type BodyShape, bodyCostOf, costlyText, maxDepth, oversize, shapeFor } from './body-bounds.ts'
import { compiledOf } from './compiled.ts'
import { unsupportedMediaType } from './media-type.ts'
import { foldedNames, isBadText, unknownName } from './names.ts'
import { validationError } from './read-query.ts'

/** Largest number of members in one body. */
const maxNodes = 2_000_000
/** Faults listed in one response; reading stops after them. */
const maxFaults = 20

const jsonType = /^(?:application\/(?:[\w!#$&^.+-]+\+)?json|text\/json)[\t ]*(?:;|$)/i
const charset = /;[\t ]*charset[\t ]*=[\t ]*"?([\w.:-]+)"?/i

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Returns the decoder for a JSON media type with any charset; undefined if it is not JSON or the charset is unknown.
 */
const decoderOf = (contentType: string): TextDecoder | undefined => {
  if (!jsonType.test(contentType)) return undefined
  const label = charset.exec(contentType)?.[1]
  if (label === undefined) return utf8
  try {
    return new TextDecoder(label, { fatal: true })
  } catch {
    return undefined
  }
}

/** Decodes a body and drops a byte order mark. */
const decode = (bytes: Uint8Array, decoder: TextDecoder): string => {
  try {
    return decoder.decode(bytes)
  } catch {
    throw validationError([{ field: 'body', message: `is not valid ${decoder.encoding.toUpperCase()}` }])
  }
}

/** Returns whether text that a person types hides or reorders characters. */
const isHiding = (value: string, shape: BodyShape | undefined): boolean => {
  const lines = [shape, ...(shape?.anyOf ?? [])].find((one) => one?.['x-typed'] !== undefined)?.['x-typed']
  return lines !== undefined && isOddText(lines === 'line' ? value : value.replace(/[\n\r\t]/g, ''))
}

/** Maps the keys of JSON objects to those of the schema, ignoring case. Values stay unchanged. */
const fold = (
  value: unknown,
  shape: BodyShape | undefined,
  path: string,
  depth: number,
  state: { nodes: number; errors: FieldError[] },
): unknown => {
  if (++state.nodes > maxNodes || depth > maxDepth)
    throw validationError([
      { field: path, message: `is nested deeper than ${maxDepth} or has over ${maxNodes} members` },
    ])
  if (state.errors.length >= maxFaults) throw validationError(state.errors)
  if (typeof value === 'string') {
    if (isBadText(value)) state.errors.push({ field: path, message: 'contains U+0000 or half of a surrogate pair' })
    else if (isHiding(value, shape))
      state.errors.push({ field: path, message: 'contains control or invisible characters' })
    return value
  }
  if (typeof value !== 'object' || value === null) return value
  const chosen = shapeFor(shape, Array.isArray(value) ? 'array' : 'object')
  // A value that the schema rejects as a whole is not examined further.
  if (shape !== undefined && chosen === undefined) return value
  if (Array.isArray(value)) {
    if (chosen?.maxItems !== undefined && value.length > chosen.maxItems) return value
    return value.map((item, i) => fold(item, chosen?.items, `${path}[${i}]`, depth + 1, state))
  }
  const properties = chosen?.properties
  const names = properties === undefined ? undefined : foldedNames(Object.keys(properties))
  const open = chosen?.additionalProperties !== false
  const result: Record<string, unknown> = Object.create(null)
  for (const [given, member] of Object.entries(value)) {
    const name = names?.get(given.toLowerCase()) ?? given
    const at = `${path}.${name}`
    if (state.errors.length >= maxFaults) throw validationError(state.errors)
    if (isBadText(given))
      state.errors.push({ field: path, message: 'has a key with U+0000 or half of a surrogate pair' })
    else if (given === '__proto__' || (names !== undefined && !names.has(given.toLowerCase()) && !open)) {
      state.errors.push({
        field: `${path}.${given.slice(0, 64)}`,
        message: unknownName(given, names?.values() ?? []),
      })
    } else if (Object.hasOwn(result, name)) state.errors.push({ field: at, message: 'is given more than once' })
    else {
      const inner = properties?.[name] ?? Object.values(chosen?.patternProperties ?? {})[0]
      result[name] = fold(member, inner, at, depth + 1, state)
    }
  }
  return result
}

const fieldOf = (instancePath: string): string =>
  instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : `${path}.${part}`), 'body')

interface Fault {
  keyword: string
  instancePath: string
  message: string
  params: Record<string, unknown>
}

const messageOf = (fault: Fault): string => {
  if (fault.keyword === 'enum') return `must be one of ${(fault.params.allowedValues as unknown[]).join(', ')}`
  if (fault.keyword === 'required') return `lacks ${(fault.params.requiredProperties as string[]).join(', ')}`
  return fault.message
}

const asksForNull = ({ keyword, params }: Fault): boolean => keyword === 'type' && params.type === 'null'

/** Removes the fault that a value could also be null; the first type fault of the value mentions it instead. */
const withoutNulls = (faults: readonly Fault[]): Fault[] => {
  const others = faults.filter((fault) => !asksForNull(fault) && fault.keyword !== 'anyOf')
  const nulls = new Set(faults.filter(asksForNull).map(({ instancePath }) => instancePath))
  const isTold = (path: string): boolean =>
    others.some(({ instancePath }) => instancePath === path || instancePath.startsWith(`${path}/`))
  return faults
    .filter((fault) => !asksForNull(fault) || !isTold(fault.instancePath))
    .map((fault) =>
      fault.keyword === 'type' && !asksForNull(fault) && nulls.has(fault.instancePath)
        ? { ...fault, message: `${fault.message} or null` }
        : fault,
    )
}

/** Converts schema faults to the faults of a problem. A union reports its members' faults once. */
export const schemaFaults = (given: readonly Fault[], root = 'body'): FieldError[] => {
  const faults = withoutNulls(given)
  const result = new Map<string, FieldError>()
  for (const fault of faults) {
    if (fault.keyword === 'boolean' || fault.keyword === 'anyOf') continue
    const field = root + fieldOf(fault.instancePath).slice('body'.length)
    const message = messageOf(fault)
    result.set(`${field} ${message}`, { field, message })
    if (result.size >= 20) break
  }
  return result.size > 0 ? [...result.values()] : [{ field: root, message: 'does not have the documented shape' }]
}

interface Compiled {
  Errors(value: unknown): unknown
}

/** Returns the faults of a value that its schema rejected. */
export const faultsOf = (check: Compiled, schema: TSchema, value: unknown): FieldError[] => {
  const large = oversize(value, schema as BodyShape, 'body')
  return large === undefined ? schemaFaults(check.Errors(value) as Fault[]) : [large]
}

export interface BodySource {
  contentType: string | undefined
  bytes: Uint8Array | undefined
}

/** Larger bodies take turns, and others are served between the steps of reading one. Smaller ones take milliseconds. */
export const largeBody = 64 * 1024

/**
 * Returns the reader of an operation's JSON body. It checks media type, UTF-8, JSON, keys and schema, in this order. An
 * operation without a body accepts none, `null` and `{}`.
 */
export const bodyReader = (
  schema: TSchema | undefined,
  optional: boolean,
): ((source: BodySource) => Promise<unknown>) => {
  const most = bodyCostOf(schema as BodyShape | undefined)
  return async ({ contentType, bytes }) => {
    const empty = bytes === undefined || bytes.length === 0
    const pause = async () => (bytes === undefined || bytes.length <= largeBody ? undefined : await yieldToOthers())
    const decoder = decoderOf(contentType ?? '')
    if (!empty && decoder === undefined) throw unsupportedMediaType('json')
    const text = empty ? '' : decode(bytes, decoder as TextDecoder).trim()
    let value: unknown = null
    const cost = costlyText(text, most)
    if (cost !== undefined) throw validationError([{ field: 'body', message: cost }])
    await pause()
    if (text !== '') {
      try {
        value = JSON.parse(text)
      } catch {
        throw validationError([{ field: 'body', message: 'is not valid JSON' }])
      }
    }
    if (schema === undefined) {
      if (value === null || (typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length === 0))
        return null
      throw validationError([{ field: 'body', message: 'must be empty: this operation takes no body' }])
    }
    if (value === null && optional) return null
    await pause()
    const state = { nodes: 0, errors: [] as FieldError[] }
    const folded = fold(value, schema as BodyShape, 'body', 0, state)
    if (state.errors.length > 0) throw validationError(state.errors)
    await pause()
    const check = compiledOf(schema)
    if (check.Check(folded)) return folded
    await pause()
    throw validationError(faultsOf(check, schema, folded))
  }
}
