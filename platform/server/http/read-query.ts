import type { TObject, TSchema } from 'typebox'
import type { FieldError } from '../../contract/problem.ts'
import { AppError } from '../app-error.ts'
import { foldedNames, isBadText, unknownName, unknownValue } from './names.ts'

type JsonSchema = TSchema & {
  type?: string
  minimum?: number
  maximum?: number
  maxLength?: number
  enum?: readonly unknown[]
}

const decode = (text: string): string | null => {
  try {
    const plain = decodeURIComponent(text.replaceAll('+', ' '))
    return isBadText(plain) ? null : plain
  } catch {
    return null
  }
}

/** Splits a query string. A repeated name or a part that is not UTF-8 is a fault. */
const split = (query: string): { pairs: [string, string][]; errors: FieldError[] } => {
  const pairs: [string, string][] = []
  const errors: FieldError[] = []
  for (const part of query.split('&')) {
    if (part === '') continue
    const at = part.indexOf('=')
    const name = decode(at < 0 ? part : part.slice(0, at))
    const value = at < 0 ? '' : decode(part.slice(at + 1))
    if (name === null || value === null)
      errors.push({
        field: `query.${name ?? '?'}`,
        message: 'is not valid percent-encoded UTF-8 text, or contains U+0000',
      })
    else pairs.push([name, value])
  }
  return { pairs, errors }
}

/** Accepts leading zeros: stream positions are sent with twenty digits and come back the same way. */
const integer = /^-?\d{1,20}$/
const decimal = /^-?\d{1,15}(\.\d{1,15})?$/

const convert = (value: string, schema: JsonSchema): { value: unknown } | { fault: string } => {
  if (schema.type === 'integer' || schema.type === 'number') {
    const isInteger = schema.type === 'integer'
    if (!(isInteger ? integer : decimal).test(value)) return { fault: `must be a decimal ${schema.type}` }
    const number = Number(value)
    if (isInteger && !Number.isSafeInteger(number))
      return { fault: `must be from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}` }
    if (schema.minimum !== undefined && number < schema.minimum) return { fault: `must be at least ${schema.minimum}` }
    if (schema.maximum !== undefined && number > schema.maximum) return { fault: `must be at most ${schema.maximum}` }
    return { value: number }
  }
  if (schema.type === 'boolean') {
    const lower = value.toLowerCase()
    return lower === 'true' || lower === 'false' ? { value: lower === 'true' } : { fault: 'must be true or false' }
  }
  if (schema.enum !== undefined) {
    const found = schema.enum.find((candidate) => String(candidate).toLowerCase() === value.toLowerCase())
    return found === undefined ? { fault: unknownValue(value, schema.enum.map(String)) } : { value: found }
  }
  if (schema.maxLength !== undefined && value.length > schema.maxLength)
    return { fault: `must have at most ${schema.maxLength} characters` }
  return { value }
}

/**
 * Returns the reader of an operation's query. Ignores case and `_…`; an unknown name is a fault with the closest known
 * one.
 */
export const queryReader = (schema: TObject | undefined): ((query: string) => Record<string, unknown>) => {
  const properties = (schema?.properties ?? {}) as Record<string, JsonSchema>
  const required = new Set<string>((schema?.required as string[] | undefined) ?? [])
  const names = foldedNames(Object.keys(properties))
  // For responses of identity providers, which add their own parameters.
  const isOpen = (schema as { additionalProperties?: unknown } | undefined)?.additionalProperties === true
  return (query) => {
    const { pairs, errors } = split(query)
    const result: Record<string, unknown> = {}
    const seen = new Set<string>()
    for (const [given, value] of pairs) {
      // Clients add a name such as `_` or `_ts` against caches. `__proto__` is not one of them.
      if (/^_(?!_)/.test(given)) continue
      const name = names.get(given.toLowerCase())
      if (name === undefined) {
        if (isOpen) continue
        errors.push({
          field: `query.${given.slice(0, 64)}`,
          message:
            names.size === 0 ? 'is unknown: this operation has no parameters' : unknownName(given, names.values()),
        })
        continue
      }
      if (seen.has(name)) {
        errors.push({ field: `query.${name}`, message: 'is given more than once' })
        continue
      }
      seen.add(name)
      if (value === '') continue
      const converted = convert(value, properties[name] ?? {})
      if ('fault' in converted) errors.push({ field: `query.${name}`, message: converted.fault })
      else result[name] = converted.value
    }
    for (const name of required) if (!(name in result)) errors.push({ field: `query.${name}`, message: 'is required' })
    if (errors.length > 0) throw validationError(errors)
    return result
  }
}

/** Returns the reader of path parameters. A value that its schema rejects is a 404. */
export const paramsReader = (
  schema: TObject | undefined,
): ((given: Readonly<Record<string, string>>) => Record<string, unknown>) => {
  const properties = (schema?.properties ?? {}) as Record<string, JsonSchema>
  return (given) => {
    const result: Record<string, unknown> = {}
    for (const [name, text] of Object.entries(given)) {
      const converted =
        text === '' || isBadText(text) ? { fault: 'is not valid text' } : convert(text, properties[name] ?? {})
      if ('fault' in converted) throw new AppError('not_found', { detail: `No object has this ${name}.` })
      result[name] = converted.value
    }
    return result
  }
}

/** Returns a 400 that lists the faults, at most twenty. */
export const validationError = (errors: readonly FieldError[]): AppError =>
  new AppError(
    'validation_failed',
    {
      detail: errors
        .slice(0, 3)
        // A question needs no full stop.
        .map((e) => `${e.field} ${e.message}${e.message.endsWith('?') ? '' : '.'}`)
        .join(' '),
    },
    { errors: errors.slice(0, 20) },
  )
