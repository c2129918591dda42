// Invariant: Only routes of the OpenAPI document answer, and each checks its permission, however its path is
//   spelled.

import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { temporaryFolder } from '../../proof/kit/database.ts'
import { type Environment, withEnvironment } from '../../proof/kit/environment.ts'
import { type Fixture, type Principal, pathFor, seedFixture, valuesFor } from '../../proof/kit/fixture.ts'
import {
  audienceOf,
  contractById,
  type For,
  filled,
  type Offered,
  offeredBy,
  profileFor,
  readDocument,
} from '../../proof/kit/operations.ts'
import { fromRoot } from '../../proof/kit/root.ts'
import { atLeast, atMost, figure, type Outcome } from '../../proof/kit/verdict.ts'
import { forEachOf, type HttpRequest, type HttpResponse } from '../../proof/kit/wire.ts'
import { doorTest } from './door-test.ts'
import { nothing, sameAs } from './path-variants.ts'

/** Operations that remain available to an account that must change its password. */
const ownAccount = new Set(['getProfile', 'getUserDetails', 'updateUserDetails', 'logout'])

/** Returns the expected answer for a principal: a specific refusal, or any other status. */
const expected = (
  id: string,
  audience: For,
  { token, profile, is, isApiToken, mustChangePassword }: Principal,
): 401 | 403 | 'let in' => {
  if (audience === 'public' || audience === 'proof') return 'let in'
  // The test runs on the server's machine.
  if (contractById.get(id)?.openOnLoopback === true && token === undefined) return 'let in'
  if (audience === 'agent' || audience === 'worker') return is === audience ? 'let in' : 401
  if (profile === undefined) return 401
  if (mustChangePassword === true && !ownAccount.has(id)) return 403
  if (isApiToken === true && contractById.get(id)?.fresh === true) return 403
  return profile > profileFor(audience) ? 403 : 'let in'
}

interface Tally {
  requests: number
  wrong: string[]
  unexpected: string[]
  unknown: string[]
  hidden: string[]
  objects: string[]
}

const isSuccess = ({ status }: HttpResponse): boolean => status >= 200 && status < 400

/** The console's page answers every path that could be one of its views. It is the same for all users. */
const isConsolePage = ({ status, headers, text }: HttpResponse): boolean =>
  status === 200 && (headers['content-type'] ?? '').startsWith('text/html') && text.includes('<div id="root">')

/** Unknown parameter for permission checks: after the guard, the server answers 400 and does nothing. */
const probe = 'gate-unknown=1'

const bodyFor = (offered: Offered, fixture: Fixture): Pick<HttpRequest, 'body' | 'headers'> => {
  if (offered.id === 'agentCheckIn') return { body: fixture.hosts[0].checkIn() }
  if (offered.id === 'agentDebugLogs')
    return { body: Buffer.from([31, 139]), headers: { 'content-type': 'application/gzip' } }
  return offered.example === undefined ? {} : { body: offered.example }
}

/** Calls every operation as every principal. */
const tryPrincipals = async ({ wire }: Environment, fixture: Fixture, operations: readonly Offered[], tally: Tally) => {
  const cases = operations.flatMap((offered) => fixture.principals.map((principal) => ({ offered, principal })))
  await forEachOf(cases, 8, async ({ offered, principal }) => {
    const audience = audienceOf(offered.id)
    if (audience === undefined) return
    const due = expected(offered.id, audience, principal)
    const asked = async (path: string): Promise<HttpResponse> => {
      tally.requests++
      return wire.send({
        method: offered.method,
        path,
        token: principal.token,
        isHeadEnough: offered.isStream,
        ...bodyFor(offered, fixture),
      })
    }
    const wrong = (what: string, got: HttpResponse): void => {
      const line = `${principal.name}: ${offered.method} ${offered.path} (${what}): ${got.status} where ${due} is due`
      if (due !== 'let in' && isSuccess(got)) tally.unexpected.push(line)
      else tally.wrong.push(line)
    }
    // A refusal does not reveal whether the object exists.
    if (due !== 'let in') {
      for (const isThere of [true, false]) {
        const got = await asked(pathFor(fixture, offered, isThere))
        if (got.status !== due) wrong(isThere ? 'there' : 'missing', got)
        if (!offered.path.includes('{')) break
      }
      return
    }
    // Open on loopback or to all: called like the others, it must pass the guard.
    const got = await asked(audience === 'agent' ? pathFor(fixture, offered) : `${pathFor(fixture, offered)}?${probe}`)
    if (audience === 'proof' ? isSuccess(got) : got.status === 401 || got.status === 403 || got.status >= 500)
      wrong('let in', got)
    else if (audience !== 'agent' && offered.id !== 'finishOidc' && got.status !== 400) wrong('past the guard', got)
  })
}

/** Calls every operation with other spellings of its path, anonymously, as a User and as an Administrator. */
const trySpellings = async ({ wire }: Environment, fixture: Fixture, operations: readonly Offered[], tally: Tally) => {
  const [anonymous, user, , administrator] = fixture.principals as [Principal, Principal, Principal, Principal]
  const cases = operations.flatMap((offered) => [
    ...sameAs.map((variant) => ({ offered, variant, isSame: true })),
    ...nothing.map((variant) => ({ offered, variant, isSame: false })),
  ])
  await forEachOf(cases, 8, async ({ offered, variant, isSame }) => {
    const audience = audienceOf(offered.id)
    const template = variant.of(offered.path)
    if (audience === undefined || template === undefined || template === offered.path) return
    // The server handles the check-in before the router, with only one spelling.
    if (isSame && offered.id === 'agentCheckIn') return
    const path = filled(template, valuesFor(fixture, offered, true))
    for (const principal of isSame ? [anonymous, user] : [anonymous, user, administrator]) {
      const due = expected(offered.id, audience, principal)
      // A principal with permission may use another spelling as well.
      if (isSame && due === 'let in') continue
      tally.requests++
      const got = await wire.send({
        method: offered.method,
        path,
        token: principal.token,
        isHeadEnough: offered.isStream,
        ...bodyFor(offered, fixture),
      })
      const line = `${principal.name}: ${offered.method} ${path} (${variant.what}): ${got.status}`
      if (isSuccess(got) && !isConsolePage(got)) tally.unexpected.push(line)
      else if (isSame ? got.status !== due : got.status >= 500 || got.status === 0) tally.wrong.push(line)
    }
  })
}

/** Headers that give a proxy or framework another path, method or sender. */
const tricks: readonly Readonly<Record<string, string>>[] = [
  { 'x-original-url': '/healthz' },
  { 'x-rewrite-url': '/healthz' },
  { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1' },
  { 'x-http-method-override': 'GET' },
  { 'x-forwarded-user': 'admin', 'remote-user': 'admin', 'x-remote-user': 'admin' },
  { 'x-middleware-subrequest': '1', 'x-internal': '1', 'x-debug': '1' },
  { authorization: `Basic ${Buffer.from('admin:a password for the test rig only').toString('base64')}` },
]

const tryHeaders = async ({ wire }: Environment, fixture: Fixture, operations: readonly Offered[], tally: Tally) => {
  const anonymous: Principal = { name: 'anonymous', token: undefined }
  const cases = operations.flatMap((offered) => tricks.map((headers) => ({ offered, headers })))
  await forEachOf(cases, 8, async ({ offered, headers }) => {
    const audience = audienceOf(offered.id)
    const isOpenHere = contractById.get(offered.id)?.openOnLoopback === true && 'x-forwarded-for' in headers
    if (audience === undefined || (expected(offered.id, audience, anonymous) === 'let in' && !isOpenHere)) return
    tally.requests++
    const body = bodyFor(offered, fixture)
    const got = await wire.send({
      method: offered.method,
      path: pathFor(fixture, offered),
      isHeadEnough: offered.isStream,
      ...body,
      headers: { ...body.headers, ...headers },
    })
    const line = `anonymous with ${Object.keys(headers).join()}: ${offered.method} ${offered.path}: ${got.status}`
    if (isSuccess(got)) tally.unexpected.push(line)
    else if (got.status !== 401) tally.wrong.push(line)
  })
}

/** Requests missing objects as a principal with permission. */
const tryMissing = async ({ wire }: Environment, fixture: Fixture, operations: readonly Offered[], tally: Tally) => {
  const administrator = fixture.principals[3] as Principal
  // These operations omit unknown names from the response, or answer with an empty list for an unknown host.
  const lenient = new Set([
    'getAssetLocations',
    'getConfigItemsByName',
    'getConfigItemsByPrefix',
    'getConfigItemsByPrefixVendorA',
  ])
  for (const offered of operations) {
    const audience = audienceOf(offered.id)
    if (!offered.path.includes('{') || audience === undefined || lenient.has(offered.id)) continue
    const token = audience === 'agent' ? fixture.hosts[0].token : administrator.token
    tally.requests++
    const got = await wire.send({
      method: offered.method,
      path: pathFor(fixture, offered, false),
      token,
      ...bodyFor(offered, fixture),
    })
    if (got.status !== 404 && got.status !== 400)
      tally.objects.push(`${offered.method} ${offered.path}, missing object: ${got.status} ${got.text.slice(0, 200)}`)
  }
}

/** Paths under which servers often have undocumented routes. */
const doors =
  'debug debug/pprof debug/vars pprof actuator actuator/env server-status server-info admin admin/ console phpmyadmin graphql swagger swagger.json api-docs v2/api-docs openapi.yaml .env .git/config .git/HEAD config config.json package.json backup backup.sql dump test trace heapdump internal private prime prime/webui prime/webui/debug prime/webui/admin prime/webui/internal prime/webui/test prime/webui/graphql prime/webui/users agent agent/v1 agent/v1/debug agent/v2/enrol worker worker/v1 worker/v1/debug metrics/prometheus healthz/verbose readyz/details docs/internal assets assets/ assets/../package.json assets/%2e%2e/package.json assets/..%2fpackage.json node_modules/fastify/package.json'.split(
    ' ',
  )

/** Looks for undocumented routes, among the registered ones and by guessing. */
const tryHidden = async (
  { wire }: Environment,
  fixture: Fixture,
  operations: readonly Offered[],
  routesFile: string,
  tally: Tally,
): Promise<number> => {
  const administrator = fixture.principals[3] as Principal
  const told = new Set(operations.map(({ method, path }) => `${method} ${path.toLowerCase()}`))
  const routes = readFileSync(routesFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { methods: string[]; url: string })
    .flatMap(({ methods, url }) => methods.map((method) => ({ method, path: url.replace(/:(\w+)/g, '{$1}') })))
  const registered = new Set(routes.map(({ method, path }) => `${method} ${path.toLowerCase()}`))
  for (const name of told)
    if (!registered.has(name) && name !== 'POST /agent/v1/check-in')
      tally.hidden.push(`${name} is told of and not there`)
  await forEachOf(
    // HEAD answers for every documented GET.
    routes.filter(
      ({ method, path }) =>
        !told.has(`${method} ${path.toLowerCase()}`) && !(method === 'HEAD' && told.has(`GET ${path.toLowerCase()}`)),
    ),
    8,
    async ({ method, path }) => {
      tally.requests++
      const got = await wire.send({ method, path: filled(path), token: administrator.token })
      if (got.status !== 405) tally.hidden.push(`${method} ${path} is there, is not told of and answers ${got.status}`)
    },
  )
  for (const door of doors)
    for (const token of [undefined, administrator.token]) {
      tally.requests++
      const got = await wire.send({ method: 'GET', path: `/${door}`, token })
      if (isSuccess(got) && !isConsolePage(got)) tally.hidden.push(`GET /${door} answers ${got.status}`)
    }
  return routes.length
}

doorTest('answers each operation only to principals with permission', async ({ root }): Promise<Outcome> => {
  const folder = temporaryFolder('routes')
  const routesFile = join(folder, 'routes')
  const env = {
    GATE_ROUTES_FILE: routesFile,
    NODE_OPTIONS: `--import ${pathToFileURL(fromRoot('e2e/door/route-spy.mjs'))}`,
  }
  const tally: Tally = { requests: 0, wrong: [], unexpected: [], unknown: [], hidden: [], objects: [] }
  try {
    return await withEnvironment({ root, env }, async (environment) => {
      const fixture = await seedFixture(environment)
      const operations = offeredBy(await readDocument(environment))
      for (const { id } of operations) if (audienceOf(id) === undefined) tally.unknown.push(`${id} is in no contract`)
      await tryPrincipals(environment, fixture, operations, tally)
      await trySpellings(environment, fixture, operations, tally)
      await tryHeaders(environment, fixture, operations, tally)
      const routes = await tryHidden(environment, fixture, operations, routesFile, tally)
      await tryMissing(environment, fixture, operations, tally)
      return {
        findings: [
          atLeast('operations', operations.length, 200),
          atLeast('routes registered', routes, operations.length - 1),
          figure('principals', fixture.principals.length),
          atLeast('requests', tally.requests, operations.length * fixture.principals.length),
          atMost('let in where refusal is due', tally.unexpected.length, 0),
          atMost('other answer than due', tally.wrong.length, 0),
          atMost('operations without an audience', tally.unknown.length, 0),
          atMost('routes nobody tells of', tally.hidden.length, 0),
          atMost('missing objects not answered 404', tally.objects.length, 0),
          atMost('server ended', environment.server.isRunning() ? 0 : 1, 0),
        ],
        notes: [
          ...tally.unexpected.slice(0, 10),
          ...tally.wrong.slice(0, 20),
          ...tally.unknown,
          ...tally.hidden.slice(0, 10),
          ...tally.objects.slice(0, 20),
        ],
      }
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
