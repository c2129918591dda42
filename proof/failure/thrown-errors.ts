import { rmSync } from 'node:fs'
import { errorTable } from '@portcullis/contract'
import { createTransport } from '../../cli/simulator/transport.ts'
import { temporaryFolder } from '../kit/database.ts'
import { type Environment, withEnvironment } from '../kit/environment.ts'
import { createFaults, faultHeader, faultText, thrownHeader } from '../kit/fault-control.ts'
import { type Fixture, pathFor, seedFixture } from '../kit/fixture.ts'
import { audienceOf, type Offered, offeredBy, readDocument } from '../kit/operations.ts'
import { startProbe } from '../kit/probe.ts'
import { enrolReportingHost } from '../kit/reporting-host.ts'
import { compareStored } from '../kit/stored.ts'
import type { Check, Outcome } from '../kit/verdict.ts'
import { forEachOf, type Got, jsonOf, type Sent } from '../kit/wire.ts'

const reporters = 12
/** Maximum number of statements tried per operation. A transaction has at least four. */
const mostStatements = 25
/** Share of statements outside requests that throw. */
const outsideShare = 1 / 25

/** A statement times out after 4.5 s, and waiting for a connection after 4 s. */
const patienceMs = 9_000

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Matches internal details that a problem response must not reveal. */
const inside = new RegExp(`${faultText}|node_modules|\\.ts:\\d+|at async |portcullis_`)

/** A CSV file with one row, as a multipart form. */
const form = {
  body: Buffer.from(
    '--line\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\na,b\r\n1,2\r\n\r\n--line--\r\n',
  ),
  headers: { 'content-type': 'multipart/form-data; boundary=line' },
}

const bodyFor = (offered: Offered): Pick<Sent, 'body' | 'headers'> => {
  if (offered.isUpload) return form
  if (offered.id === 'agentDebugLogs')
    return { body: Buffer.from([31, 139]), headers: { 'content-type': 'application/gzip' } }
  return offered.example === undefined ? {} : { body: offered.example }
}

const makesPdf = ({ described }: Offered): boolean =>
  described.responses['200']?.content?.['application/pdf'] !== undefined

/** Returns the fault of a response with a status of 500 or above, or undefined. */
const faultOf = ({ headers, text }: Got): string | undefined => {
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

interface Ledger {
  calls: number
  operations: Set<string>
  thrown: number
  failed: number
  survived: number
  slow: string[]
  notAlone: string[]
  notProblems: string[]
}

/** Calls an operation repeatedly and makes it throw at a different point each time. */
const tryOperation = async (
  { wire }: Environment,
  fixture: Fixture,
  offered: Offered,
  ledger: Ledger,
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
    ledger.calls += 1
    const ms = Math.round(performance.now() - askedAt)
    if (ms > patienceMs) ledger.slow.push(`${line} after ${ms} ms`)
    if (isThrown) {
      ledger.thrown += 1
      ledger.operations.add(offered.id)
    }
    if (got.status !== 0 && got.status < 500) {
      if (isThrown) ledger.survived += 1
      return isThrown
    }
    const isLater = got.status === 503 && got.headers['retry-after'] !== undefined && makesPdf(offered)
    if (isThrown) ledger.failed += 1
    else if (!isLater) ledger.notAlone.push(`${line} ${got.text.slice(0, 300)}`)
    const fault = got.status === 0 ? 'got no response' : faultOf(got)
    if (fault !== undefined) ledger.notProblems.push(`${line} ${fault}`)
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
    const folder = temporaryFolder('thrown')
    const faults = createFaults(folder)
    try {
      return await withEnvironment({ root, env: faults.env }, async (environment) => {
        const { server, database, wire, rows } = environment
        const fixture = await seedFixture(environment)
        const operations = offeredBy(await readDocument(environment))
        const transport = createTransport({ server: new URL(server.url), connections: reporters, timeoutMs: 10_000 })
        const token = await environment.enrolmentToken()
        const hosts = await Promise.all(
          Array.from({ length: reporters }, (_, i) =>
            // Agents send a report again after a 500.
            enrolReportingHost(() => transport, token, `thrown-${i}`, { repeatsAfter500: true }),
          ),
        )
        const healthy = startProbe({ url: server.url, path: '/healthz', perSecond: 20, isFresh: true })
        const ledger: Ledger = {
          calls: 0,
          operations: new Set(),
          thrown: 0,
          failed: 0,
          survived: 0,
          slow: [],
          notAlone: [],
          notProblems: [],
        }
        // Collecting the metrics also runs statements, which count as used connections.
        const lentBefore = await lentOf(environment)
        faults.outside(outsideShare)
        const reporting = Promise.all(hosts.map((host) => host.run(20)))
        const startedAt = performance.now()
        const secondsAtMost = isQuick ? 25 : 300
        const isOver = (): boolean => !server.isRunning() || performance.now() - startedAt > secondsAtMost * 1_000
        for (let round = 0; round < (isQuick ? 1 : 10); round++)
          // One at a time: callers that join a running computation (such as a list reload) would share its error.
          await forEachOf(operations, 1, (offered) =>
            tryOperation(environment, fixture, offered, ledger, isOver, isQuick),
          )
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
            { what: 'requests', value: ledger.calls },
            { what: 'operations', value: operations.length },
            // Check-ins bypass the router, so they meet only the errors thrown outside requests.
            {
              what: 'operations that met an error',
              value: ledger.operations.size,
              atLeast: operations.length - 1,
              isRelative: true,
            },
            { what: 'errors thrown in requests', value: inRequests, atLeast: operations.length, isRelative: true },
            { what: 'errors thrown elsewhere', value: outside, atLeast: 20 },
            {
              what: 'requests that failed by their own error',
              value: ledger.failed,
              atLeast: operations.length,
              isRelative: true,
            },
            { what: 'requests that succeeded in spite of it', value: ledger.survived },
            { what: 'requests that failed by an error of others', value: ledger.notAlone.length, atMost: 0 },
            { what: 'requests of over nine seconds', value: ledger.slow.length, atMost: 0 },
            { what: 'failures that are no problem', value: ledger.notProblems.length, atMost: 0 },
            { what: 'server ended', value: server.isRunning() ? 0 : 1, atMost: 0 },
            { what: 'healthy requests that failed', value: health.failed, atMost: 0 },
            { what: 'connections lent before', value: lentBefore },
            { what: 'connections still lent afterwards', value: lent, atMost: lentBefore, isRelative: true },
            { what: 'transactions left open', value: open?.n ?? Number.NaN, atMost: 0 },
            { what: 'requests that failed afterwards', value: after.filter((a) => a.status !== 200).length, atMost: 0 },
            { what: 'reports acknowledged', value: acknowledged, atLeast: reporters * 5 },
            { what: 'reports sent again', value: resent },
            { what: 'reports refused', value: refused, atMost: 0 },
            { what: 'reports lost', value: lost, atMost: 0 },
            { what: 'reports stored twice', value: twice, atMost: 0 },
          ],
          notes: [
            ...ledger.slow.slice(0, 8),
            ...ledger.notAlone.slice(0, 5),
            ...ledger.notProblems.slice(0, 5),
            ...hosts.flatMap(({ reported }) => reported.refused).slice(0, 3),
            ...health.failures,
            `Met no error: ${operations
              .filter(({ id }) => !ledger.operations.has(id))
              .map(({ id }) => id)
              .join(', ')}.`,
            ...(server.isRunning() ? [] : [server.output().slice(-3_000).replace(/\n/g, ' | ')]),
          ],
        }
      })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
