// Invariant: The server rejects requests that two HTTP parsers could read differently.

import { withEnvironment } from '../../proof/kit/environment.ts'
import { pathFor, seedFixture } from '../../proof/kit/fixture.ts'
import { audienceOf, offeredBy, readDocument } from '../../proof/kit/operations.ts'
import { atLeast, atMost, figure, type Outcome } from '../../proof/kit/verdict.ts'
import { forEachOf } from '../../proof/kit/wire.ts'
import { doorTest } from './door-test.ts'
import { ambiguous, converse } from './smuggling.ts'

/** Media types with which a body could bypass its schema, from advisories of frameworks. */
const types: readonly string[] = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json ; x=1',
  'application/json\t; charset=utf-8',
  'application/json\tx',
  'application/json;',
  'APPLICATION/JSON',
  'application/json; charset=utf-16',
  'application/json; charset=nobody',
  'application/json, text/plain',
  'application/jsonx',
  'application/+json',
  'application/vnd.gate+json',
  'application/json-patch+json',
  'application/x-ndjson',
  'text/json',
  'text/plain',
  'text/plain; application/json',
  'text/html',
  'application/xml',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  '*/*',
]

/** A body that no operation accepts, because it has an unknown member. */
const wrong = '{"gate_unknown_member":[1]}'

const standard = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE'] as const
const unusual = ['PROPFIND', 'MKCOL', 'LOCK', 'SEARCH', 'PURGE', 'COPY'] as const

doorTest(
  'refuses wrong media types, unknown methods and ambiguous requests',
  async ({ root }): Promise<Outcome> =>
    withEnvironment({ root }, async (environment) => {
      const { wire, server } = environment
      const fixture = await seedFixture(environment)
      const operations = offeredBy(await readDocument(environment))
      const tokenFor = (id: string): string | undefined => {
        const audience = audienceOf(id)
        const is = audience === 'agent' || audience === 'worker' ? audience : undefined
        // A fresh session, because operations that need one refuse a token before they read the body. Only `logout` ends it.
        const person = id === 'logout' ? 'API token of an Administrator' : 'Administrator'
        return fixture.principals.find((principal) =>
          is === undefined ? principal.name === person : principal.is === is,
        )?.token
      }
      let requests = 0
      const taken: string[] = []
      const bodies = operations.filter(({ method }) => method === 'POST' || method === 'PUT')
      await forEachOf(
        bodies.flatMap((offered) => types.map((type) => ({ offered, type }))),
        8,
        async ({ offered, type }) => {
          requests++
          const got = await wire.send({
            method: offered.method,
            path: pathFor(fixture, offered),
            token: tokenFor(offered.id),
            headers: { 'content-type': type },
            body: wrong,
          })
          // Debug logs can be any bytes, and lines of a feed any text. An unknown command takes no log, and a feed takes
          // lines only from its own token.
          const isOpaque =
            (offered.id === 'agentDebugLogs' && got.status === 404) ||
            (offered.id === 'ingestFeed' && got.status === 403)
          const isRefused = got.status === 400 || got.status === 415 || isOpaque
          if (!isRefused)
            taken.push(`${offered.method} ${offered.path} as ${type}: ${got.status} ${got.text.slice(0, 150)}`)
        },
      )

      const methods: string[] = []
      const paths = new Map<string, Set<string>>()
      for (const { path, method } of operations) paths.set(path, (paths.get(path) ?? new Set()).add(method))
      await forEachOf(
        [...paths].flatMap(([path, known]) =>
          [...standard, ...unusual]
            .filter((method) => !known.has(method === 'HEAD' ? 'GET' : method))
            .map((method) => ({ path, method })),
        ),
        8,
        async ({ path, method }) => {
          requests++
          const got = await wire.send({ method, path: pathFor(fixture, { path }), token: fixture.principals[3]?.token })
          const isStandard = (standard as readonly string[]).includes(method) && path !== '/agent/v1/check-in'
          const isRefused = isStandard
            ? got.status === 405 && got.headers.allow !== undefined
            : [400, 404, 405, 501].includes(got.status)
          if (!isRefused) methods.push(`${method} ${path}: ${got.status}`)
        },
      )

      const smuggled: string[] = []
      await forEachOf(ambiguous, 4, async ({ what, bytes }) => {
        const { statuses, isClosed } = await converse(server.url, bytes)
        // The server may close the connection for an unknown protocol without a response.
        if (!isClosed || statuses.length > 1 || statuses.some((status) => status !== 400 && status !== 505))
          smuggled.push(`${what}: answers ${statuses.join(', ') || 'nothing'}, ${isClosed ? 'closed' : 'left open'}`)
      })
      return {
        findings: [
          atLeast('media types', types.length, 20),
          figure('operations with a method that takes a body', bodies.length),
          figure('requests', requests),
          atMost('wrong bodies not answered 400 or 415', taken.length, 0),
          atMost('methods that are none and not answered 405', methods.length, 0),
          figure('ambiguous requests', ambiguous.length),
          atMost('ambiguous requests not answered 400 and closed', smuggled.length, 0),
          atMost('server ended', server.isRunning() ? 0 : 1, 0),
        ],
        notes: [...taken.slice(0, 15), ...methods.slice(0, 10), ...smuggled],
      }
    }),
)
