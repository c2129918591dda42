import { setTimeout as pause } from 'node:timers/promises'
import { errorTable } from '@portcullis/features/contract.ts'
import { createTransport } from '../../cli/simulator/transport.ts'
import { type Environment, withEnvironment } from '../kit/environment.ts'
import { createFaults, faultHeader, faultText, thrownHeader } from '../kit/fault-control.ts'
import { type Fixture, pathFor, seedFixture } from '../kit/fixture.ts'
import { audienceOf, type Offered, offeredBy, readDocument } from '../kit/operations.ts'
import { startProbe } from '../kit/probe.ts'
import { enrolReportingHosts } from '../kit/reporting-host.ts'
import { compareStored } from '../kit/stored.ts'
import { atLeast, atMost, type Check, figure, type Outcome, relative } from '../kit/verdict.ts'
import { forEachOf, type HttpRequest, type HttpResponse, jsonOf } from '../kit/wire.ts'

const reporters = 12
/** Maximum number of statements tried per operation. A transaction has at least four. */
const mostStatements = 25
/** Share of statements outside requests that throw. */
const outsideShare = 1 / 25

/** A statement times out after 4.5 s, and waiting for a connection after 4 s. */
const patienceMs = 9_000

/** Matches internal details that a problem response must not reveal. */
const inside = new RegExp(`${faultText}|node_modules|\\.ts:\\d+|at async |portcullis_`)

/** A CSV file with one row, as a multipart form. */
const form = {
  body: Buffer.from(
    '--line\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\na,b\r\n1,2\r\n\r\n--line--\r\n',
  ),
  headers: { 'content-type': 'multipart/form-data; boundary=line' },
}

const bodyFor = (offered: Offered): Pick<HttpRequest, 'body' | 'headers'> => {
  if (offered.isUpload) return form
  if (offered.id === 'agentDebugLogs')
    return { body: Buffer.from([31, 139]), headers: { 'content-type': 'application/gzip' } }
  return offered.example === undefined ? {} : { body: offered.example }
}

const makesPdf = ({ described }: Offered): boolean =>
  described.responses['200']?.content?.['application/pdf'] !== undefined

/** Returns the fault of a response with a status of 500 or above, or undefined. */
const faultOf = ({ headers, text }: HttpResponse): string | undefined => {
  if (inside.test(text)) return `reveals internal details: ${text.slice(0, 300)}`
  // Some clients ask for plain text.
  if (headers['content-type']?.startsWith('text/plain')) return undefined
  const { code } = (jsonOf(text) ?? {}) as { code?: string }
  if (headers['content-type']?.startsWith('application/problem+json') && code !== undefined && code in errorTable)
    return undefined
  return `is not a problem document: ${headers['content-type']} ${text.slice(0, 300)}`
}

/** Counts the server's used database connections and the callers that wait for one, from its own metrics. */
const lentOf = async ({ wire }: Environment): Promise<number> => {
  const { text } = await wire.send({ method: 'GET', path: '/metrics' })
  const lines = text.match(/^portcullis_db_pool_(?:connections\{[^}]*state="used"[^}]*\}|waiting(?:\{[^}]*\})?) \d+/gm)
  return lines === null ? Number.NaN : lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

const newTally = () => ({
  ...{ calls: 0, thrown: 0, failed: 0, survived: 0 },
  operations: new Set<string>(),
  slow: [] as string[],
  notAlone: [] as string[],
  notProblems: [] as string[],
})

/** Calls an operation repeatedly and makes it throw at a different point each time. */
const tryOperation = async (
  { wire }: Environment,
  fixture: Fixture,
  offered: Offered,
  tally: ReturnType<typeof newTally>,
  isOver: () => boolean,
  isQuick: boolean,
): Promise<void> => {
  const audience = audienceOf(offered.id)
  const principal = fixture.principals.find(({ is, name }) =>
    audience === 'agent' || audience === 'worker' ? is === audience : name === 'API token of an Administrator',
  )
  const call = async (where: string): Promise<boolean> => {
    const { headers, ...body } = bodyFor(offered)
    const askedAt = performance.now()
    const got = await wire.send({
      method: offered.method,
      path: pathFor(fixture, offered),
      token: principal?.token,
      isHeadEnough: true,
      ...body,
      headers: { ...headers, [faultHeader]: where },
    })
    const isThrown = got.headers[thrownHeader] !== undefined
    const line = `${offered.method} ${offered.path} (${where}): ${got.status}`
    tally.calls += 1
    const ms = Math.round(performance.now() - askedAt)
    if (ms > patienceMs) tally.slow.push(`${line} after ${ms} ms`)
    if (isThrown) {
      tally.thrown += 1
      tally.operations.add(offered.id)
    }
    if (got.status !== 0 && got.status < 500) {
      if (isThrown) tally.survived += 1
      return isThrown
    }
    const isLater = got.status === 503 && got.headers['retry-after'] !== undefined && makesPdf(offered)
    if (isThrown) tally.failed += 1
    else if (!isLater) tally.notAlone.push(`${line} ${got.text.slice(0, 300)}`)
    const fault = got.status === 0 ? 'got no response' : faultOf(got)
    if (fault !== undefined) tally.notProblems.push(`${line} ${fault}`)
    return isThrown
  }
  const steps = ['hook', 'handler', 'late'] as const
  // The short form tries two of them for each operation.
  const tried = isQuick ? ['handler', offered.id.length % 2 === 0 ? 'hook' : 'late'] : steps
  for (const where of [...tried, ...(makesPdf(offered) ? ['thread'] : [])]) if (!isOver()) await call(where)
  for (let n = 1; n <= (isQuick ? 3 : mostStatements) && !isOver(); n++) if (!(await call(String(n)))) return
}

/** D18: throws unexpected errors in the server. */
export const thrownErrors: Check = {
  name: 'D18',
  isWaiting: true,
  what: `A module that is loaded into the server makes it throw unexpected errors. Every operation is called repeatedly. It fails after its guard, before or after its handler, or at each of its statements in turn, half of them after execution. PDF threads end. Of the statements outside requests, one in ${Math.round(1 / outsideShare)} throws, while ${reporters} hosts report continuously.`,
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const faults = createFaults()
    return await withEnvironment({ root, env: faults.env }, async (environment) => {
      const { server, database, wire, rows } = environment
      const fixture = await seedFixture(environment)
      const operations = offeredBy(await readDocument(environment))
      const transport = createTransport({ server: new URL(server.url), connections: reporters, timeoutMs: 10_000 })
      const token = await environment.enrolmentToken()
      // Agents send a report again after a 500.
      const hosts = await enrolReportingHosts(reporters, () => transport, token, 'thrown', { repeatsAfter500: true })
      const healthy = startProbe({ url: server.url, path: '/healthz', perSecond: 20, isFresh: true })
      const tally = newTally()
      // Collecting the metrics also runs statements, which count as used connections.
      const lentBefore = await lentOf(environment)
      faults.outside(outsideShare)
      const reporting = Promise.all(hosts.map((host) => host.run(20)))
      const startedAt = performance.now()
      const secondsAtMost = isQuick ? 25 : 300
      const isOver = (): boolean => !server.isRunning() || performance.now() - startedAt > secondsAtMost * 1_000
      for (let round = 0; round < (isQuick ? 1 : 10); round++)
        // One at a time: callers that join a running computation (such as a list reload) would share its error.
        await forEachOf(operations, 1, (offered) => tryOperation(environment, fixture, offered, tally, isOver, isQuick))
      faults.outside(0)
      await pause(300)
      const { inRequests, outside } = faults.told()
      for (const host of hosts) host.stop()
      await Promise.race([reporting, pause(10_000)])
      for (const host of hosts) host.leave()
      const health = await healthy.stop()
      // Timers of the server may briefly use a connection.
      let lent = Number.NaN
      for (let tries = 0; tries < 50 && !(lent <= lentBefore) && server.isRunning(); tries++) {
        await pause(100)
        lent = await lentOf(environment)
      }
      const [open] = await rows<{ n: number }>(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name LIKE 'portcullis %' AND state LIKE 'idle in transaction%' AND state_change < now() - interval '1 second'",
      )
      const after = await Promise.all(
        Array.from({ length: 40 }, () =>
          wire.send({
            method: 'GET',
            path: '/prime/webui/agents?PageSize=5',
            token: fixture.tokens[10].token,
          }),
        ),
      )
      transport.close()
      const { acknowledged, lost, twice, resent, refused } = await compareStored(database.connection, hosts)
      return {
        findings: [
          figure('requests', tally.calls),
          figure('operations', operations.length),
          // Check-ins bypass the router, so they meet only the errors thrown outside requests.
          relative(atLeast('operations that met an error', tally.operations.size, operations.length - 1)),
          relative(atLeast('errors thrown in requests', inRequests, operations.length)),
          atLeast('errors thrown elsewhere', outside, 20),
          relative(atLeast('requests that failed by their own error', tally.failed, operations.length)),
          figure('requests that succeeded in spite of it', tally.survived),
          atMost('requests that failed by an error of others', tally.notAlone.length, 0),
          atMost('requests of over nine seconds', tally.slow.length, 0),
          atMost('failures that are no problem', tally.notProblems.length, 0),
          atMost('server ended', server.isRunning() ? 0 : 1, 0),
          atMost('healthy requests that failed', health.failed, 0),
          figure('connections lent before', lentBefore),
          relative(atMost('connections still lent afterwards', lent, lentBefore)),
          atMost('transactions left open', open?.n ?? Number.NaN, 0),
          atMost('requests that failed afterwards', after.filter((a) => a.status !== 200).length, 0),
          atLeast('reports acknowledged', acknowledged, reporters * 5),
          figure('reports sent again', resent),
          atMost('reports refused', refused, 0),
          atMost('reports lost', lost, 0),
          atMost('reports stored twice', twice, 0),
        ],
        notes: [
          ...tally.slow.slice(0, 8),
          ...tally.notAlone.slice(0, 5),
          ...tally.notProblems.slice(0, 5),
          ...hosts.flatMap(({ reported }) => reported.refused).slice(0, 3),
          ...health.failures,
          `Met no error: ${operations
            .filter(({ id }) => !tally.operations.has(id))
            .map(({ id }) => id)
            .join(', ')}.`,
          ...(server.isRunning() ? [] : [server.output().slice(-3_000).replace(/\n/g, ' | ')]),
        ],
      }
    })
  },
}
