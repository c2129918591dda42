// Invariant: Every input gets an answer that the document describes, with a status below 500.

import { setTimeout as pause } from 'node:timers/promises'
import { Compile } from 'typebox/compile'
import { type Environment, withEnvironment } from '../kit/environment.ts'
import { type Fixture, seedFixture } from '../kit/fixture.ts'
import { registerWorker } from '../kit/host.ts'
import { type Offered, type OpenApi, offeredBy, readDocument, resolverOf, type Schema } from '../kit/operations.ts'
import { amount, atLeast, atMost, type Check, figure, type Outcome, relative } from '../kit/verdict.ts'
import { forEachOf, type HttpResponse, jsonOf } from '../kit/wire.ts'
import { callAllOperations, callSettings } from './call-operations.ts'
import { createReleaseKey } from './call-signed.ts'
import { bodyOf, type FuzzRequest, formRequest, targetOf } from './fuzz-requests.ts'
import { callExamples, reachedShare, recordReached } from './reach.ts'

const quickRequests = 8_000
const fullRequests = 50_000

/** Matches internal details that a problem response must not reveal. */
const inside = /node_modules|\.ts:\d+|at async |syntax error at|relation "|violates|SQLSTATE|duplicate key|pg_catalog/

type Judge = (offered: Offered, got: HttpResponse) => string | undefined

/** Returns a schema with its references resolved, so that it can be compiled alone. */
const inlined = (document: OpenApi, schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map((inner) => inlined(document, inner))
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref } = schema as Schema
  if (typeof $ref === 'string') {
    const [, , kind, name] = $ref.split('/')
    return inlined(
      document,
      (document.components as Record<string, Record<string, unknown>>)[kind as string]?.[name as string],
    )
  }
  return Object.fromEntries(Object.entries(schema).map(([key, inner]) => [key, inlined(document, inner)]))
}

/** Returns how a response violates the document. The first word is the kind of fault. */
const createJudge = (document: OpenApi): Judge => {
  const checks = new Map<string, ReturnType<typeof Compile>>()
  return (offered, { status, headers, text }) => {
    if (status === 0) return 'unanswered'
    if (status >= 500) return `status-${status} ${text.slice(0, 3_000)}`
    const described = offered.described.responses[String(status)] ?? offered.described.responses.default
    if (described === undefined) return `undocumented status ${status}: ${text.slice(0, 200)}`
    const response = inlined(document, described) as { content?: Record<string, { schema?: Schema }> }
    const type = (headers['content-type'] ?? '').split(';')[0] as string
    const media = response.content?.[type]
    if (response.content !== undefined && media === undefined)
      return `undocumented media-type ${type} of status ${status}`
    if (status >= 400 && inside.test(text)) return `internals revealed: ${text.slice(0, 300)}`
    const isPlain = type === 'text/plain' && status >= 400
    if (media?.schema === undefined || isPlain || !/json$|^text\/plain$/.test(type) || type === 'application/x-ndjson')
      return undefined
    if (media.schema.type === 'string' && type === 'text/plain') return undefined
    const key = `${offered.id} ${status}`
    let check = checks.get(key)
    if (check === undefined) {
      check = Compile(media.schema as never)
      checks.set(key, check)
    }
    const value = jsonOf(text)
    if (value === undefined) return `mismatch of status ${status}: not JSON`
    if (check.Check(value)) return undefined
    const faults = [...check.Errors(value)].slice(0, 3) as unknown as { instancePath: string; message: string }[]
    return `mismatch of status ${status}: ${faults.map((f) => `${f.instancePath} ${f.message}`).join('; ')}`
  }
}

/** Returns whether an operation makes a PDF. It asks callers to retry while too many PDFs are being made. */
const makesPdf = ({ described }: Offered): boolean =>
  described.responses['200']?.content?.['application/pdf'] !== undefined

const kindOf = (fault: string): string => fault.split(' ').slice(0, 3).join(' ')

/** Formats a request so that it can be repeated by hand. */
const written = (request: FuzzRequest, fixture: Fixture): string => {
  const body = bodyOf(request)
  return `${request.offered.method} ${targetOf(request).slice(0, 600)} as ${fixture.principals[request.principal]?.name}${
    Object.keys(request.headers).length === 0 ? '' : ` ${JSON.stringify(request.headers).slice(0, 200)}`
  }${body === undefined ? '' : ` ${(Buffer.isBuffer(body) ? body.toString('latin1') : body).slice(0, 600)}`}`
}

export const fuzz: Check = {
  name: 'fuzz',
  what: 'First calls every operation with a valid request, until 90 % of them have returned 200. Then generates requests from the OpenAPI document of the server: valid ones, valid ones with one part replaced, and ones that break parsers. Every response matches the document, and no status is 500 or above.',
  run: async ({ isQuick, root, seed }): Promise<Outcome> => {
    const release = createReleaseKey()
    return withEnvironment({ root, env: release.env }, async (environment) => {
      const requests = isQuick ? quickRequests : fullRequests
      const { wire, server } = environment
      const document = await readDocument(environment)
      const operations = offeredBy(document)
      const reached = recordReached(wire, operations)
      await callSettings(environment, release.key)
      const fixture = await seedFixture(environment)
      await callAllOperations(environment, fixture)
      await callExamples(environment, fixture, operations, reached)
      const unreached = operations.filter(({ id }) => !reached.has(id)).map(({ id }) => id)
      const resolve = resolverOf(document)
      const judge = createJudge(document)
      const found = new Map<string, { count: number; fault: string; first: FuzzRequest; index: number }>()
      const answeredWell = new Set<string>()
      const statuses = new Map<number, number>()
      let checked = 0

      let later = 0
      const send = async (request: FuzzRequest): Promise<HttpResponse> => {
        for (let tries = 0; ; tries++) {
          const got = await wire.send({
            method: request.offered.method,
            path: targetOf(request),
            token: fixture.principals[request.principal]?.token,
            headers: request.headers,
            body: bodyOf(request),
            isHeadEnough: true,
          })
          // The server limits concurrent PDFs and sends Retry-After. A caller that retries gets the file.
          if (got.status !== 503 || tries === 5 || !makesPdf(request.offered)) return got
          later++
          await pause(Number(got.headers['retry-after'] ?? 1) * 1_000)
        }
      }

      await forEachOf(
        Array.from({ length: requests }, (_, i) => i),
        8,
        async (index) => {
          if (index % 5_000 === 4_999 || index % 997 === 996) await keepSignedIn(environment, fixture)
          const request = formRequest(seed, index, operations, fixture, resolve)
          const got = await send(request)
          checked++
          statuses.set(got.status, (statuses.get(got.status) ?? 0) + 1)
          if (got.status === 200) answeredWell.add(request.offered.id)
          const fault = judge(request.offered, got)
          if (fault === undefined) return
          const key = `${request.offered.id} ${kindOf(fault)}`
          const known = found.get(key)
          if (known !== undefined) known.count++
          else found.set(key, { count: 1, fault, first: request, index })
        },
      )
      const isAlive = server.isRunning() && (await wire.send({ method: 'GET', path: '/healthz' })).status === 200

      const notes: string[] = []
      for (const { count, fault, first, index } of [...found.values()].slice(0, 20)) {
        const trace = /"traceId":"(\w+)"/.exec(fault)?.[1]
        const logged = server
          .output()
          .split('\n')
          .find((line) => trace !== undefined && line.includes(trace))
        notes.push(
          `${count} times, first at ${seed}:${index}: ${fault} | ${written(first, fixture)}${logged === undefined ? '' : ` | ${logged.slice(0, 1_000)}`}`,
        )
      }
      const sum = (kind: RegExp): number =>
        [...found.values()].filter(({ fault }) => kind.test(fault)).reduce((n, { count }) => n + count, 0)
      return {
        findings: [
          atLeast(amount(isQuick, 'requests'), checked, requests),
          figure('operations', operations.length),
          relative(
            atLeast(
              'operations that answered 200 before the fuzzing',
              operations.length - unreached.length,
              Math.ceil(operations.length * reachedShare),
            ),
          ),
          // A response schema is only checked when the operation succeeds.
          relative(atLeast('operations answered 200', answeredWell.size, Math.round(operations.length * 0.6))),
          atMost('answers of 500 or above', sum(/^status-/), 0),
          atMost('without an answer', sum(/^unanswered/), 0),
          atMost('answers that the document does not tell of', sum(/^(?:undocumented|mismatch)/), 0),
          atMost('problems that tell of the inside', sum(/^internals/), 0),
          atMost('server ended', isAlive ? 0 : 1, 0),
        ],
        notes: [
          ...notes,
          `Never returned 200 before fuzzing: ${unreached.join(', ')}.`,
          `PDF requests that were deferred and then retried: ${later}.`,
          `Responses by status: ${[...statuses]
            .sort(([a], [b]) => a - b)
            .map(([status, n]) => `${status}: ${n}`)
            .join(', ')}.`,
          `Never returned 200 to a fuzzed request: ${operations
            .filter(({ id }) => !answeredWell.has(id))
            .map(({ id }) => id)
            .join(', ')}.`,
        ],
      }
    })
  },
}

/** Signs everyone in again, because fuzzed requests may end sessions, change profiles or revoke keys. */
const keepSignedIn = async (environment: Environment, fixture: Fixture): Promise<void> => {
  const { wire } = environment
  for (const principal of fixture.principals) {
    if (principal.is === 'worker') {
      const got = await wire.send({
        method: 'POST',
        path: '/worker/v1/lease',
        token: principal.token,
        body: { free: 0, capacity: 1, running: [], version: '1', cpu: 0 },
      })
      if (got.status === 401) principal.token = await registerWorker(wire, await environment.workerToken())
    } else if (principal.is === 'agent')
      principal.token = await fixture.hosts[0].openSession().catch(() => principal.token)
  }
  for (const person of Object.values(fixture.people)) {
    const principal = fixture.principals.find(({ token }) => token === person.token)
    await environment.renew(person).catch(() => {})
    if (principal !== undefined) principal.token = person.token
  }
  await environment.renew(environment.admin).catch(() => {})
}
