import type { TSchema } from 'typebox'

/** A JSON schema as data. */
export interface JsonSchema {
  [keyword: string]: unknown
  type?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
  enum?: unknown[]
  pattern?: string
  format?: string
  description?: string
  examples?: unknown[]
  default?: unknown
}

/** All shapes and operations by name. The specification names some shapes, and some that requests and responses share. */
export interface Contract {
  readonly specificationResources: Readonly<Record<string, TSchema>>
  readonly specificationBodies: Readonly<Record<string, readonly TSchema[]>>
}

/** Options of columns, filters and texts that a schema does not express. */
const unpublished: ReadonlySet<string> = new Set(['x-label', 'x-form', 'x-labels', 'x-facts', 'x-typed'])

/** Returns the published data of a schema, without the library's own members. */
export const plain = (schema: unknown): JsonSchema =>
  JSON.parse(JSON.stringify(schema, (key, value) => (unpublished.has(key) ? undefined : value))) as JsonSchema

/** Names of the contract's schemas by their text: identical schemas share one name. The specification's name wins. */
const namedShapesOf = (contract: Contract): ReadonlyMap<string, string> =>
  new Map([
    ...Object.entries<unknown>({ ...contract })
      .filter(([, value]) => {
        const schema = value as { type?: unknown; properties?: unknown } | null
        return (
          typeof schema === 'object' && schema?.type === 'object' && Object.keys(schema.properties ?? {}).length > 1
        )
      })
      // If one schema has two names, the alphabetically first wins, because the Map keeps the last entry.
      .sort(([a], [b]) => (a < b ? 1 : -1))
      .map(([name, value]) => [JSON.stringify(plain(value)), name] as const),
    ...Object.entries(contract.specificationResources).map(
      ([name, schema]) => [JSON.stringify(plain(schema)), name] as const,
    ),
    ...Object.entries(contract.specificationBodies).flatMap(([name, bodies]) =>
      bodies.map((schema) => [JSON.stringify(plain(schema)), name] as const),
    ),
  ])

/** Merges the schemas of a response and a request: a member is required if both require it. */
const sharedShape = (answer: JsonSchema, body: JsonSchema): JsonSchema => {
  if (answer.properties !== undefined && body.properties !== undefined)
    return {
      ...answer,
      required: (answer.required ?? []).filter((name) => body.required?.includes(name)),
      properties: Object.fromEntries(
        Object.entries(answer.properties).map(([name, member]) => [
          name,
          sharedShape(member, body.properties?.[name] ?? {}),
        ]),
      ),
    }
  if (answer.items !== undefined && body.items !== undefined)
    return { ...answer, items: sharedShape(answer.items, body.items) }
  // Accepted and ignored, so that clients can send back what they read.
  if (body.type === undefined && body.anyOf === undefined && body.enum === undefined)
    return { ...answer, readOnly: true }
  const said = answer.description ?? ''
  const asked = body.description ?? ''
  const description = asked === '' || said.includes(asked) ? said : `${said} In requests: ${asked}`.trim()
  const isNullable = (schema: JsonSchema): boolean => schema.anyOf?.some((one) => one.type === 'null') === true
  const wider = answer.type === 'null' || (isNullable(body) && !isNullable(answer)) ? body : answer
  return { ...wider, ...(description === '' ? {} : { description }) }
}

const sharedShapesOf = (contract: Contract): ReadonlyMap<string, JsonSchema> =>
  new Map(
    Object.entries(contract.specificationBodies).map(([name, bodies]) => [
      name,
      bodies.map(plain).reduce(sharedShape, plain(contract.specificationResources[name])),
    ]),
  )

const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** Applies `change` to the schemas inside a schema. */
const within = (schema: JsonSchema, change: (inner: JsonSchema) => JsonSchema): JsonSchema => {
  const result: JsonSchema = { ...schema }
  if (schema.properties !== undefined)
    result.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([key, inner]) => [key, change(inner)]),
    )
  if (schema.items !== undefined) result.items = change(schema.items)
  if (schema.anyOf !== undefined) result.anyOf = schema.anyOf.map(change)
  if (typeof schema.patternProperties === 'object' && schema.patternProperties !== null)
    result.patternProperties = Object.fromEntries(
      Object.entries(schema.patternProperties as Record<string, JsonSchema>).map(([key, inner]) => [
        key,
        change(inner),
      ]),
    )
  return result
}

/** Collects the named schemas in use; `use` replaces them by references. */
export const createComponents = (contract: Contract) => {
  const namedShapes = namedShapesOf(contract)
  const sharedShapes = sharedShapesOf(contract)
  const contractNames = new Set(namedShapes.values())
  const schemas: Record<string, JsonSchema> = {}
  function use(schema: JsonSchema): JsonSchema {
    const name = namedShapes.get(JSON.stringify(schema))
    if (name === undefined) return within(schema, use)
    if (schemas[name] === undefined) {
      // Set first, so that components are in the order of their first use, outermost first.
      schemas[name] = {}
      schemas[name] = within(sharedShapes.get(name) ?? schema, use)
    }
    return refTo(name)
  }
  return {
    schemas,
    use,
    /** Names a schema, unless it has a name already or another schema has this one. */
    named: (name: string, schema: JsonSchema): JsonSchema => {
      const used = use(schema)
      if (used.$ref !== undefined || contractNames.has(name)) return used
      schemas[name] = used
      return refTo(name)
    },
  }
}

const uuid = '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f'
const base64 = 'AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA='
const hex64 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

const byPattern: ReadonlyMap<string, string> = new Map([
  ['^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', uuid],
  ['^[0-9a-f]{32}$', hex64.slice(32)],
  ['^[0-9a-f]{64}$', hex64],
  ['^[0-9a-f]{2}(:[0-9a-f]{2}){5}$', '02:00:5e:10:00:01'],
  ['^[0-9]{1,3}-[0-9]{1,3}(\\.[0-9]{1,3}){0,7}$', '1-3.2'],
  ['^[A-Za-z0-9+/]*={0,2}$', base64],
  ['^[A-Za-z0-9+/]+={0,2}$', base64],
  ['^[A-Za-z0-9_-]{22,64}$', 'bm9uY2Utb2YtMzItY2hhcmFjdGVycw'],
  ['^[0-9A-F]{4}$', '046D'],
  ['^[0-9A-Fa-f]{4}$', '046D'],
  ['^[A-Za-z0-9+/]{59}=$', `MCowBQYDK2VwAyEA${base64}`],
  ['^[A-Za-z0-9+/]{86}==$', `${base64.slice(0, 43)}${base64.slice(0, 42)}A==`],
  ['^0x[0-9A-Fa-f]{6}$', '0x110001'],
  ['^#[0-9a-f]{6}$', '#1971c2'],
  ['^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{1,6}Z$', '2031-05-04T10:11:12.345Z'],
])
const byFormat: ReadonlyMap<string, string> = new Map([
  ['date-time', '2031-05-04T10:11:12.345Z'],
  ['date', '2031-05-04'],
  ['uuid', uuid],
])

/** Example values by member name, for schemas without a helpful example. */
const byName: Readonly<Record<string, unknown>> = {
  uuid,
  id: uuid,
  hostIdentifier: 'LAB-PC-7',
  localIpAddress: '10.20.30.40',
  hostIp: '10.20.30.40',
  userName: 'operator',
  username: 'operator',
  firstName: 'Ada',
  lastName: 'Lovelace',
  email: 'ada@example.com',
  eventEntityID: 'LAB-PC-7 (10.20.30.40)',
  description: 'New USB peripheral detected',
  details: '[Agent] Device VID/PID are 046D/C52B  (Logitech, Inc. Unifying Receiver)',
  deviceID: 'USB\\VID_046D&PID_C52B\\1-3',
  severity: 10,
  severityString: 'Warning',
  recordsTotal: 1,
  recordsFiltered: 1,
  hashtags: 'lab,building 7',
  sourceIp: '10.0.0.5',
  name: 'lab',
}

const textOf = (schema: JsonSchema): string => {
  const known = byPattern.get(schema.pattern ?? '') ?? byFormat.get(schema.format ?? '')
  if (known !== undefined) return known
  const least = (schema.minLength as number | undefined) ?? 0
  return 'text'.padEnd(least, 'x').slice(0, (schema.maxLength as number | undefined) ?? 1_000)
}

const fits = (schema: JsonSchema, value: unknown): boolean =>
  (schema.enum === undefined || schema.enum.includes(value)) &&
  (schema.anyOf === undefined || schema.anyOf.some((one) => fits(one, value))) &&
  (schema.type === undefined || schema.type === (typeof value === 'number' ? 'integer' : typeof value)) &&
  (typeof value !== 'number' || value <= ((schema.maximum as number | undefined) ?? value)) &&
  (schema.pattern === undefined || (typeof value === 'string' && new RegExp(schema.pattern, 'u').test(value)))

/** Returns an example for a schema: its own, or else a value of the right form. */
export const exampleOf = (schema: JsonSchema, name = ''): unknown => {
  if (schema.examples !== undefined) return schema.examples[0]
  if (Object.hasOwn(byName, name) && fits(schema, byName[name])) return byName[name]
  if (schema.default !== undefined) return schema.default
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum.find((value) => value !== '') ?? schema.enum[0]
  if (schema.anyOf !== undefined) return exampleOf(schema.anyOf[0] ?? {}, name)
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, inner]) => [key, exampleOf(inner, key)]),
      )
    case 'array':
      return Array.from({ length: Math.max(1, (schema.minItems as number | undefined) ?? 0) }, () =>
        exampleOf(schema.items ?? {}, name),
      )
    case 'integer':
    case 'number':
      return Math.min(
        Math.max(1, (schema.minimum as number | undefined) ?? 1),
        (schema.maximum as number | undefined) ?? 1,
      )
    case 'boolean':
      return false
    case 'null':
      return null
    default:
      return textOf(schema)
  }
}
