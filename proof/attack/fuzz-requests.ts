/** Generates requests for the fuzzer. */

import { createRandom, type Random } from '../../cli/simulator/random.ts'
import type { Fixture } from '../kit/fixture.ts'
import { valuesFor } from '../kit/fixture.ts'
import { audienceOf, type Offered, type Schema } from '../kit/operations.ts'
import { hostileText, oddJson, spoiled, valueFor } from './fuzz-values.ts'

export interface FuzzRequest {
  offered: Offered
  /** Index into the principals of the fixture. */
  principal: number
  values: Record<string, string>
  /** Names and values before encoding, or raw pieces of a query string. */
  query: readonly (readonly [string, string] | string)[]
  headers: Readonly<Record<string, string>>
  /** Value of a JSON body. */
  value?: unknown
  /** Raw body that is sent instead of `value`. */
  raw?: string | Buffer
}

const brokenQueries =
  '% %zz=1 a%00=1 %ed%a0%80=1 = &&& PageSize[]=1 PageSize[$gt]=1 __proto__[x]=1 constructor=1'.split(' ')

/** Valid and invalid sort keys. */
const sortKeys = 'hostIdentifier uuid id severity creationTime name deviceID constructor __proto__ agent_id 1'.split(
  ' ',
)

const queryOf = ({ described }: Offered, random: Random, resolve: (schema: Schema) => Schema): FuzzRequest['query'] => {
  const known = (described.parameters ?? []).filter((parameter) => parameter.in === 'query')
  const share = random.pick([0, 0.1, 0.3])
  const pairs: (readonly [string, string] | string)[] = known
    .filter(({ required }) => required || random.chance(share))
    .map(({ name, schema }) => {
      if (name === 'SortBy')
        return [name, `${random.pick(sortKeys)}${random.pick(['_asc', '_desc', '', '_'])}`] as const
      const value = random.chance(0.3) ? hostileText(random) : valueFor(schema, random, resolve)
      return [name, typeof value === 'string' ? value : JSON.stringify(value)] as const
    })
  if (known.some(({ name }) => name === 'follow') && !random.chance(0.02)) pairs.push(['follow', 'false'])
  if (random.chance(0.03)) pairs.push([hostileText(random), hostileText(random)])
  if (random.chance(0.02)) pairs.push(random.pick(brokenQueries))
  const [first] = pairs
  if (first !== undefined && random.chance(0.02)) pairs.push(first)
  return pairs
}

const boundary = 'gate-boundary'

/** Importable files and invalid ones. */
const files: readonly (string | Buffer)[] = [
  'Type,Identifier,Name,Tags\r\nTag,,,lab;floor 2\r\nAgent,nobody,nobody,lab\r\n',
  'computerName,userName,password\r\nhost-1.example.org,inventory,secret\r\n',
  '\ufeffType,Identifier,Name,Tags\r\n"Tag","","","a""b;c"\r\n',
  'Type,Identifier\r\n"unclosed',
  'computerName\r\n-oProxyCommand=x\r\n../../etc/passwd\r\n\u0000\r\n',
  '',
  '\r\n\r\n\r\n',
  ','.repeat(5_000),
  Buffer.from([0xff, 0xfe, 0x41, 0, 0x2c, 0]),
  Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]),
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]),
]

const multipart = (random: Random): Buffer => {
  const name = random.pick(['file', 'file', 'file', 'other', '__proto__'])
  const fileName = random.pick(['a.csv', '../../x.csv', 'a\u0000b', '"; name="x', 'x'.repeat(300)])
  const end = random.chance(0.9) ? `\r\n--${boundary}--\r\n` : ''
  return Buffer.concat([
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"; filename="${fileName}"\r\n\r\n`),
    Buffer.from(random.pick(files)),
    Buffer.from(end),
  ])
}

const contentTypes = [
  'application/json',
  'application/json',
  'application/json',
  'application/json; charset=utf-8',
  'text/json',
  'application/vnd.x+json',
]
const accepts = [
  'application/json',
  'text/plain',
  'text/json',
  '*/*',
  'application/x-ndjson',
  'application/pdf;q=0',
  'a'.repeat(200),
  ';;;q=',
]

const exampleHost = '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f'

/** Returns a valid body as the starting point for fuzzing. */
const rightBody = (offered: Offered, fixture: Fixture): unknown => {
  const [host] = fixture.hosts
  if (offered.id === 'agentCheckIn') return host.checkIn({ inventory: [host.device] })
  if (offered.id === 'agentSession') return host.proof()
  return offered.example
}

/** Builds request number `index`. The same seed and fixture give the same request. */
export const formRequest = (
  seed: number,
  index: number,
  operations: readonly Offered[],
  fixture: Fixture,
  resolve: (schema: Schema) => Schema,
): FuzzRequest => {
  // Spread by a large odd number, so that each request can be repeated alone and consecutive ones are uncorrelated.
  const random = createRandom(seed ^ Math.imul(index + 1, 0x9e3779b1))
  // Take operations in turn, so that none is skipped.
  const offered = operations[index % operations.length] as Offered
  const audience = audienceOf(offered.id)
  // Half of the requests use an API token, which no request can sign out.
  const person = random.chance(0.5) || offered.id === 'logout' ? 'API token of an Administrator' : 'Administrator'
  const right = fixture.principals.findIndex(({ is, name }) =>
    audience === 'agent' || audience === 'worker' ? is === audience : name === person,
  )
  const principal = random.chance(0.85) ? right : random.between(0, fixture.principals.length - 1)
  const values = Object.fromEntries(
    Object.entries(valuesFor(fixture, offered, random.chance(0.7))).map(([name, value]) => [
      name,
      // An empty value would address the parent path.
      random.chance(0.15) ? hostileText(random) || value : value,
    ]),
  )
  const headers: Record<string, string> = {}
  if (random.chance(0.15)) headers.accept = random.pick(accepts)
  // Check-ins bypass the router and need the exact path without a query.
  const query = offered.id === 'agentCheckIn' ? [] : queryOf(offered, random, resolve)
  const request: FuzzRequest = { offered, principal, values, query, headers }
  if (offered.isUpload) {
    headers['content-type'] = `multipart/form-data; boundary=${random.chance(0.95) ? boundary : 'another'}`
    request.raw = multipart(random)
    return request
  }
  const content = offered.described.requestBody?.content ?? {}
  if (content['application/gzip'] !== undefined) {
    headers['content-type'] = 'application/gzip'
    request.raw = Buffer.from(random.pick(files))
    return request
  }
  const schema = content['application/json']?.schema
  if (schema === undefined) {
    if (offered.method !== 'GET' && random.chance(0.1)) request.value = random.pick([null, {}, [], 'x', { a: 1 }])
    return request
  }
  const [, gone] = fixture.hosts
  // Examples name hosts and people that do not exist. Half of the time, replace them with existing ones.
  const valid = rightBody(offered, fixture)
  const example: unknown = random.chance(0.5)
    ? JSON.parse(
        (JSON.stringify(valid) ?? 'null').replaceAll(exampleHost, gone.agentId).replaceAll('"ada"', '"gate-other"'),
      )
    : valid
  request.value = random.chance(0.25)
    ? example
    : random.chance(0.5)
      ? spoiled(example, random)
      : valueFor(schema, random, resolve)
  headers['content-type'] = random.pick(contentTypes)
  if (random.chance(0.1)) request.raw = oddJson(JSON.stringify(request.value) ?? '', random)
  if (random.chance(0.02)) request.raw = ''
  return request
}

/** Encodes part of a URL. Lone surrogates become bytes that are not valid UTF-8. */
const encoded = (text: string): string =>
  text
    .split(/([\ud800-\udfff]+)/)
    .map((part) => (part.isWellFormed() ? encodeURIComponent(part) : '%ed%a0%80'))
    .join('')

export const targetOf = ({ offered, values, query }: FuzzRequest): string => {
  const path = offered.path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(values[name] ?? '0'))
  if (query.length === 0) return path
  return `${path}?${query.map((pair) => (typeof pair === 'string' ? pair : `${encoded(pair[0])}=${encoded(pair[1])}`)).join('&')}`
}

export const bodyOf = ({ raw, value }: FuzzRequest): string | Buffer | undefined => raw ?? JSON.stringify(value)
