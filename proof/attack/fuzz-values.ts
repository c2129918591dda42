/** Generates values for a schema: mostly valid ones, sometimes ones that have crashed other servers. */

import type { Random } from '../../cli/simulator/random.ts'
import type { Schema } from '../kit/operations.ts'
import { hostileTexts } from './hostile/texts.ts'

const texts: readonly string[] = [
  ...hostileTexts,
  ...['', ' ', '\u0000', '😀'.repeat(64), 'İıſ', 'x'.repeat(256), 'x'.repeat(5_000), '9'.repeat(40)],
  ...String.raw`toString hasOwnProperty $1 % _ \ \N " null undefined NaN Infinity -0 1e400 0x10 ٣ 2147483648 -2147483649
    9223372036854775808 >= >=2147483648 <=-9223372036854775809 true TRUE , ,,, a,b,,c 0000-00-00 0001-01-01
    9999-12-31T23:59:59.999999Z 2031-02-30 2031-05-04T25:61:61Z 2031-05-04..2031-05-03 .. 2031-05-04..
    275760-09-13T00:00:00Z -271821-04-20T00:00:00Z 294277-01-01T00:00:00Z 24:00 infinity epoch http://169.254.169.254/
    file:///etc/passwd https://[::ffff:127.0.0.1]:1/ 1.2.3.4/99 {"a":1} [] 01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f
    01977F6E-6A4C-7C3E-8F2A-2D1C6B5A4E3G`.split(/\s+/),
]

const numbers = `0 -0 1 -1 0.5 255 256 65535 65536 999999 1000000 1000001 2147483647 2147483648 -2147483648 -2147483649
  9007199254740991 9007199254740992 -9007199254740992 1e21 1e308 5e-324`
  .split(/\s+/)
  .map(Number)

const deep = (levels: number): unknown => {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

/** Returns a value that ignores the schema. */
const hostileValue = (random: Random): unknown =>
  random.pick<() => unknown>([
    () => null,
    () => random.chance(0.5),
    () => random.pick(numbers),
    () => [],
    () => ({}),
    () => [random.pick(texts), random.pick(numbers), null],
    () => ({ constructor: { prototype: { polluted: 1 } }, [random.pick(texts)]: random.pick(texts) }),
    () => deep(random.pick([3, 40, 70, 200])),
    () => random.pick(texts),
  ])()

export const hostileText = (random: Random): string => random.pick(texts)

const textFor = (schema: Schema, random: Random): string => {
  const [example] = (schema.examples as string[] | undefined) ?? []
  if (example !== undefined && random.chance(0.5)) return example
  if (schema.format === 'date-time')
    return new Date(Date.now() + (random.between(0, 199) - 100) * 86_400_000).toISOString()
  if (typeof schema.pattern === 'string') {
    if (schema.pattern.includes('{4}$')) return random.pick(['0781', '046D', '16C0', 'FFFF'])
    if (schema.pattern.includes('{32}')) return '9f'.repeat(16)
    if (schema.pattern.includes('{64}')) return '9f'.repeat(32)
    if (schema.pattern.includes('-[0-9a-f]{4}')) return '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f'
  }
  return random.pick('gate|lab|text|a b|Ünïcödé|10.0.0.1|host-1.example.org|5|true|2031-05-04'.split('|'))
}

const fittingFor = (schema: Schema, random: Random, resolve: (schema: Schema) => Schema): unknown => {
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return random.pick(schema.enum)
  if (schema.anyOf !== undefined) return valueFor(random.pick(schema.anyOf), random, resolve)
  switch (schema.type) {
    case 'object': {
      const required = new Set(schema.required as string[] | undefined)
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([name]) => required.has(name) || random.chance(0.4))
          .map(([name, inner]) => [name, valueFor(inner, random, resolve)]),
      )
    }
    case 'array': {
      const least = Number(schema.minItems ?? 0)
      return Array.from({ length: least + random.between(0, 2) }, () => valueFor(schema.items ?? {}, random, resolve))
    }
    case 'integer':
    case 'number': {
      const low = Number(schema.minimum ?? 0)
      const high = Math.min(Number(schema.maximum ?? low + 100), low + 1_000_000)
      return random.pick([low, high, low + random.between(0, Math.max(1, high - low) - 1)])
    }
    case 'boolean':
      return random.chance(0.5)
    case 'null':
      return null
    case 'string':
      return textFor(schema, random)
    default:
      return random.pick(texts)
  }
}

/** Returns a value for the schema in which one part in twelve is hostile. */
export const valueFor = (given: Schema, random: Random, resolve: (schema: Schema) => Schema): unknown => {
  const schema = resolve(given)
  if (random.chance(1 / 12)) return schema.type === 'string' ? hostileText(random) : hostileValue(random)
  return fittingFor(schema, random, resolve)
}

/** Returns the locations of all members and items inside a value. */
const locationsIn = (value: unknown, found: { in: Record<string, unknown>; key: string }[] = []) => {
  if (typeof value === 'object' && value !== null)
    for (const key of Object.keys(value)) {
      found.push({ in: value as Record<string, unknown>, key })
      locationsIn((value as Record<string, unknown>)[key], found)
    }
  return found
}

/** Returns a copy of a value with one part replaced or removed, or with an additional member. */
export const spoiled = (value: unknown, random: Random): unknown => {
  const copy: unknown = structuredClone(value)
  const locations = locationsIn(copy)
  if (locations.length === 0) return hostileValue(random)
  const location = random.pick(locations)
  const kind = random.between(0, 3)
  if (kind === 0) delete location.in[location.key]
  else if (kind === 1 && !Array.isArray(location.in)) location.in[hostileText(random)] = hostileValue(random)
  else location.in[location.key] = random.chance(0.6) ? hostileText(random) : hostileValue(random)
  return copy
}

const tokens =
  String.raw`1e999 -1e999 ${'9'.repeat(400)} -0 1.0 "\ud800" "\u0000" [[[[[[]]]]]] {"__proto__":{"polluted":1}}`.split(
    ' ',
  )

/** Returns JSON that no serialiser writes: duplicate members, `__proto__`, huge numbers, truncation, invalid UTF-8. */
export const oddJson = (text: string, random: Random): string | Buffer => {
  const brace = text.indexOf('{')
  switch (random.between(0, 7)) {
    case 0: {
      const member = /"[^"\\]{1,40}":(?:"[^"\\]*"|\d+|true|false|null)/.exec(text)?.[0]
      return brace < 0 || member === undefined
        ? `${text}${text}`
        : `${text.slice(0, brace + 1)}${member},${text.slice(brace + 1)}`
    }
    case 1:
      return brace < 0 || text[brace + 1] === '}'
        ? '{"__proto__":{"polluted":1}}'
        : `${text.slice(0, brace + 1)}"__proto__":{"polluted":1},${text.slice(brace + 1)}`
    case 2:
      return text.replace(/:\s*(?:\d+|"[^"\\]*"|true|false|null)/, () => `:${random.pick(tokens)}`)
    case 3:
      return text.slice(0, random.between(0, text.length))
    case 4:
      return `\ufeff${text}`
    case 5: {
      const bytes = Buffer.from(text)
      if (bytes.length > 0) bytes[random.between(0, bytes.length - 1)] = random.pick([0, 0x80, 0xc0, 0xed, 0xff])
      return bytes
    }
    case 6:
      return random.pick(['[', '{', '"', 'nul', '[[[[', '//', "{'a':1}", '[1,]', '\u0000', 'undefined', 'NaN'])
    default:
      return `${'['.repeat(random.pick([5, 70, 20_000]))}${text}`
  }
}
