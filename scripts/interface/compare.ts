/** Compares two versions of the interface: what clients of the older version can still rely on. */

/** Part of a JSON schema that clients rely on. */
export interface Shape {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  pattern?: string
  properties?: Record<string, Shape>
  required?: string[]
  additionalProperties?: boolean | Shape
  items?: Shape
  anyOf?: Shape[]
  maxLength?: number
  minLength?: number
  maximum?: number
  minimum?: number
  maxItems?: number
  minItems?: number
}

interface Parameter {
  name: string
  in: string
  required: boolean
  schema: Shape
}

/** The parts of an operation that clients rely on. */
export interface OperationShape {
  parameters: Parameter[]
  body: Shape | null
  bodyRequired: boolean
  /** Shape of a successful response; null if it is not JSON. */
  response: Shape | null
  /** Media types of a successful response. */
  types: string[]
}

/** Operations by `METHOD path`. */
export type Surface = Record<string, OperationShape>

type Json = Record<string, unknown>

const kept = [
  ...['type', 'enum', 'const', 'pattern', 'required', 'maxLength', 'minLength'],
  ...['maximum', 'minimum', 'maxItems', 'minItems'],
]
const methods = ['get', 'post', 'put', 'delete', 'patch']

/** Reads the surface of an OpenAPI document. Resolves references and leaves out descriptions and examples. */
export const surfaceOf = (document: Json): Surface => {
  const schemas = ((document.components as Json | undefined)?.schemas ?? {}) as Record<string, Json>
  const shapeOf = (schema: Json, seen: readonly string[] = []): Shape => {
    const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined
    if (name !== undefined) return seen.includes(name) ? {} : shapeOf(schemas[name] ?? {}, [...seen, name])
    const shape: Json = {}
    for (const key of kept) if (schema[key] !== undefined) shape[key] = schema[key]
    if (schema.properties !== undefined)
      shape.properties = Object.fromEntries(
        Object.entries(schema.properties as Record<string, Json>).map(([key, value]) => [key, shapeOf(value, seen)]),
      )
    if (schema.items !== undefined) shape.items = shapeOf(schema.items as Json, seen)
    if (typeof schema.additionalProperties === 'object' && schema.additionalProperties !== null)
      shape.additionalProperties = shapeOf(schema.additionalProperties as Json, seen)
    else if (schema.additionalProperties !== undefined) shape.additionalProperties = schema.additionalProperties
    const any = (schema.anyOf ?? schema.oneOf) as Json[] | undefined
    if (any !== undefined) shape.anyOf = any.map((one) => shapeOf(one, seen))
    return shape as Shape
  }
  const contentOf = (holder: Json | undefined): Record<string, Json> => (holder?.content ?? {}) as Record<string, Json>
  const jsonOf = (holder: Json | undefined): Shape | null => {
    const [, content] = Object.entries(contentOf(holder)).find(([type]) => type.includes('json')) ?? []
    return content?.schema === undefined ? null : shapeOf(content.schema as Json)
  }
  const surface: Surface = {}
  for (const [path, item] of Object.entries(document.paths as Record<string, Record<string, Json>>))
    for (const method of methods) {
      const operation = item[method]
      if (operation === undefined) continue
      const responses = operation.responses as Record<string, Json>
      const body = operation.requestBody as Json | undefined
      surface[`${method.toUpperCase()} ${path}`] = {
        parameters: ((operation.parameters ?? []) as Json[]).map((p) => ({
          name: String(p.name),
          in: String(p.in),
          required: p.required === true,
          schema: shapeOf((p.schema ?? {}) as Json),
        })),
        body: jsonOf(body),
        bodyRequired: body?.required === true,
        response: jsonOf(responses['200']),
        types: Object.keys(contentOf(responses['200'])).sort(),
      }
    }
  return surface
}

const typesOf = ({ type, anyOf = [], enum: values, const: value }: Shape): Set<string> => {
  const own = type === undefined ? [] : [type].flat()
  const ofValues = [...(values ?? []), ...(value === undefined ? [] : [value])].map((one) =>
    one === null ? 'null' : typeof one,
  )
  const all = new Set([...own, ...(own.length > 0 ? [] : ofValues), ...anyOf.flatMap((one) => [...typesOf(one)])])
  // Every integer is a number.
  if (all.has('number')) all.add('integer')
  return all
}

const lacking = <T>(all: Iterable<T>, known: ReadonlySet<T>): T[] => [...all].filter((one) => !known.has(one))

/** Returns true if a value within the older limit may exceed the newer one. */
const isTighter = (older: number | undefined, newer: number | undefined, isUpper: boolean): boolean => {
  if (newer === undefined) return false
  if (older === undefined) return !(newer === 0 && !isUpper)
  return isUpper ? newer < older : newer > older
}

/** Compares requests: everything that a client of the older version sends must still be accepted. */
const compareSent = (at: string, older: Shape, newer: Shape): string[] => {
  const wrong: string[] = []
  const types = typesOf(newer)
  const gone = types.size === 0 ? [] : lacking(typesOf(older), types)
  if (gone.length > 0) wrong.push(`${at} is no longer taken as ${gone.join(', ')}`)
  if (newer.enum !== undefined && older.enum !== undefined) {
    const values = lacking(older.enum, new Set(newer.enum))
    if (values.length > 0) wrong.push(`${at} no longer takes ${values.join(', ')}`)
  }
  if (newer.pattern !== undefined && newer.pattern !== older.pattern) wrong.push(`${at} has another pattern`)
  for (const [name, isUpper] of [
    ['maxLength', true],
    ['maximum', true],
    ['maxItems', true],
    ['minLength', false],
    ['minimum', false],
    ['minItems', false],
  ] as const)
    if (isTighter(older[name], newer[name], isUpper)) wrong.push(`${at}: ${name} is tighter`)
  for (const name of newer.required ?? [])
    if (!(older.required ?? []).includes(name)) wrong.push(`${at}.${name} is required now`)
  for (const [name, shape] of Object.entries(older.properties ?? {})) {
    const now = newer.properties?.[name]
    if (now !== undefined) wrong.push(...compareSent(`${at}.${name}`, shape, now))
    else if (newer.properties !== undefined) wrong.push(`${at}.${name} is no longer taken`)
  }
  if (older.items !== undefined && newer.items !== undefined)
    wrong.push(...compareSent(`${at}[]`, older.items, newer.items))
  return wrong
}

/** Compares responses: everything that an older client reads must still exist. New enumeration values are additions. */
const compareRead = (at: string, older: Shape, newer: Shape): string[] => {
  const wrong: string[] = []
  const types = typesOf(older)
  const added = types.size === 0 ? [] : lacking(typesOf(newer), types)
  if (added.length > 0) wrong.push(`${at} may be ${added.join(', ')} now`)
  const required = new Set(newer.required ?? [])
  for (const [name, shape] of Object.entries(older.properties ?? {})) {
    const now = newer.properties?.[name]
    if (now === undefined) wrong.push(`${at}.${name} is gone`)
    else {
      if ((older.required ?? []).includes(name) && !required.has(name)) wrong.push(`${at}.${name} may be absent now`)
      wrong.push(...compareRead(`${at}.${name}`, shape, now))
    }
  }
  if (older.items !== undefined && newer.items !== undefined)
    wrong.push(...compareRead(`${at}[]`, older.items, newer.items))
  return wrong
}

/** Lists every way in which a client of the older interface may fail with the newer one. */
export const incompatibilities = (older: Surface, newer: Surface): string[] =>
  Object.entries(older).flatMap(([name, before]) => {
    const now = newer[name]
    if (now === undefined) return [`${name} is gone`]
    const wrong: string[] = []
    for (const parameter of before.parameters) {
      const same = now.parameters.find((p) => p.name === parameter.name && p.in === parameter.in)
      if (same === undefined) wrong.push(`${parameter.in}.${parameter.name} is no longer taken`)
      else wrong.push(...compareSent(`${parameter.in}.${parameter.name}`, parameter.schema, same.schema))
    }
    for (const parameter of now.parameters)
      if (parameter.required && !before.parameters.some((p) => p.name === parameter.name && p.required))
        wrong.push(`${parameter.in}.${parameter.name} is required now`)
    if (now.bodyRequired && !before.bodyRequired) wrong.push('the body is required now')
    if (before.body !== null && now.body !== null) wrong.push(...compareSent('body', before.body, now.body))
    if (before.response !== null && now.response !== null)
      wrong.push(...compareRead('response', before.response, now.response))
    for (const type of lacking(before.types, new Set(now.types))) wrong.push(`the response is no longer ${type}`)
    return wrong.map((one) => `${name}: ${one}`)
  })
