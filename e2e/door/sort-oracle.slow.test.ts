// Invariant: A list can be sorted only by members of its answer.

import { type Environment, withEnvironment } from '../../proof/kit/environment.ts'
import { seedFixture } from '../../proof/kit/fixture.ts'
import {
  contractById,
  filled,
  type Offered,
  type OpenApi,
  offeredBy,
  readDocument,
  resolverOf,
  type Schema,
} from '../../proof/kit/operations.ts'
import { atLeast, atMost, figure, type Outcome } from '../../proof/kit/verdict.ts'
import { forEachOf, jsonOf } from '../../proof/kit/wire.ts'
import { doorTest } from './door-test.ts'

/** Returns a name in lower case without underscores. */
const folded = (name: string): string => name.toLowerCase().replaceAll('_', '')

const camel = (column: string): string => column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Returns the names by which a list can be sorted or filtered: its parameters and the members of its response. */
const namesOf = (document: OpenApi, offered: Offered): Set<string> => {
  const resolve = resolverOf(document)
  const names = new Set((offered.described.parameters ?? []).map(({ name }) => folded(name)))
  const walk = (given: Schema | undefined, depth: number): void => {
    if (given === undefined || depth > 6) return
    const schema = resolve(given)
    for (const [name, inner] of Object.entries(schema.properties ?? {})) {
      names.add(folded(name))
      walk(inner, depth + 1)
    }
    walk(schema.items, depth + 1)
    for (const inner of schema.anyOf ?? []) walk(inner, depth + 1)
  }
  walk(offered.described.responses['200']?.content?.['application/json']?.schema, 0)
  return names
}

/** Documented field names of connectors, in addition to those of query and answer. */
const aliases = new Set(
  [
    'date',
    'source',
    'hostUuid',
    'ipAddress',
    'vendor',
    'productInfo',
    'isUnapprovedPeripheral',
    'lastConfiguration',
  ].map(folded),
)

/** Sort keys that were injected in other products. */
const injections = [
  'uuid;select pg_sleep(3)--',
  '(select 1)',
  'uuid,(select version())',
  'uuid asc nulls first',
  '1',
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  'uuid_asc_desc',
  "uuid' or '1'='1",
  'case when 1=1 then uuid else host end',
]

const columnsOf = async ({ rows }: Environment): Promise<string[]> =>
  (
    await rows<{ column_name: string }>(
      "select distinct column_name from information_schema.columns where table_schema not in ('pg_catalog', 'information_schema')",
    )
  ).map(({ column_name }) => column_name)

doorTest(
  'sorts and filters lists only by what they answer',
  async ({ root }): Promise<Outcome> =>
    withEnvironment({ root }, async (environment) => {
      const { wire } = environment
      const fixture = await seedFixture(environment)
      const document = await readDocument(environment)
      const token = fixture.principals.find(({ name }) => name === 'API token of an Administrator')?.token as string
      const columns = await columnsOf(environment)
      const lists = offeredBy(document).filter(
        ({ described, method }) =>
          method === 'GET' && (described.parameters ?? []).some(({ name }) => name === 'SortBy'),
      )
      const exports = offeredBy(document).filter(({ id }) => {
        const properties = contractById.get(id)?.body as
          | { anyOf?: { properties?: object }[]; properties?: object }
          | undefined
        return [properties, ...(properties?.anyOf ?? [])].some(
          (schema) => 'sortBy' in ((schema?.properties ?? {}) as object),
        )
      })
      let requests = 0
      const taken: string[] = []
      const failed: string[] = []
      const note = (line: string, status: number): void => {
        if (status >= 500 || status === 0) failed.push(`${line}: ${status}`)
        else if (status !== 400) taken.push(`${line}: ${status}`)
      }
      await forEachOf(lists, 4, async (offered) => {
        const allowed = namesOf(document, offered)
        const path = filled(offered.path, { uuid: fixture.hosts[0].agentId })
        const ask = async (query: string): Promise<void> => {
          requests++
          const { status } = await wire.send({ method: 'GET', path: `${path}?${query}`, token })
          note(`GET ${path}?${query}`, status)
        }
        for (const column of columns) {
          if (allowed.has(folded(column)) || aliases.has(folded(column))) continue
          await ask(`SortBy=${column}_desc`)
          if (camel(column) !== column) await ask(`SortBy=-${camel(column)}`)
          if (!column.startsWith('_')) await ask(`${column}=a`)
        }
        for (const key of injections) await ask(`SortBy=${encodeURIComponent(key)}`)
      })
      await forEachOf(exports, 4, async (offered) => {
        for (const name of [...injections, 'public_key', 'password_hash', 'token_hash', 'secret', 'publicKey']) {
          for (const body of [{ sortBy: name }, { columns: [name] }, { filter: { [name]: 'a' } }, { [name]: 'a' }]) {
            requests++
            const right = offered.example as object | null
            const { status } = await wire.send({
              method: offered.method,
              path: offered.path,
              token,
              body: { ...right, ...body },
            })
            note(`${offered.method} ${offered.path} ${JSON.stringify(body)}`, status)
          }
        }
      })
      // The response names the valid keys. Each must be a member of the list's answer.
      const told: string[] = []
      for (const offered of lists) {
        const path = filled(offered.path, { uuid: fixture.hosts[0].agentId })
        const { text } = await wire.send({ method: 'GET', path: `${path}?SortBy=!`, token })
        const keys = /must be one of ([^"]*?), with _asc/.exec(text)?.[1]?.split(', ') ?? []
        const allowed = namesOf(document, offered)
        for (const key of keys)
          if (!allowed.has(folded(key))) told.push(`${path} is sorted by ${key}, which it does not answer`)
        if (keys.length === 0)
          told.push(`${path} does not say what it is sorted by: ${JSON.stringify(jsonOf(text)).slice(0, 200)}`)
      }
      return {
        findings: [
          atLeast('lists', lists.length, 10),
          atLeast('exports with an order', exports.length, 1),
          atLeast('columns of the database', columns.length, 100),
          figure('requests', requests),
          atMost('hidden columns or no names that were taken', taken.length, 0),
          atMost('keys that the answer does not have', told.length, 0),
          atMost('answers of 500 or above', failed.length, 0),
        ],
        notes: [...taken.slice(0, 15), ...told, ...failed.slice(0, 5)],
      }
    }),
)
