// Invariant: Previews and exports of one account delay other accounts by one turn at most, and take no connection
//   of the serve pool.

import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { person } from '@portcullis/server/test/people.ts'
import { startTraceReceiver } from '@portcullis/server/test/trace-receiver.ts'
import type { LightMyRequestResponse as Response } from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { raw, sql } from '#platform/server/db/sql.ts'
import { tracingConfig } from '#platform/server/tracing/index.ts'
import type { BodyShape } from './body-bounds.ts'

const base = '/prime/webui'
const rule = { effect: 'allow', vid: '0781', reason: 'x' }

let t: TestApp
let receiver: Awaited<ReturnType<typeof startTraceReceiver>>
beforeAll(async () => {
  receiver = await startTraceReceiver()
  const tracing = tracingConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
  t = await startTestApp(tracing === null ? {} : { tracing })
})
let unlock = async (): Promise<void> => {}
afterEach(() => unlock())
afterAll(async () => {
  await t.close()
  await receiver.close()
})

/** Blocks all reads of a table until `unlock`. */
const lock = async (table: 'models'): Promise<void> => {
  const held = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const ended = t.db.transaction(async (tx) => {
    await tx.execute(sql`lock table ${raw(table)} in access exclusive mode`)
    locked.resolve()
    await held.promise
  })
  unlock = async () => {
    held.resolve()
    await ended
  }
  await locked.promise
}

/** Returns the pools of the connections that wait for the lock. */
const waitingPools = async (): Promise<string[]> => {
  const rows = await t.db.query<{ name: string }>(sql`
    select a.application_name as name from pg_stat_activity a
    where a.datname = current_database() and a.wait_event_type = 'Lock' order by 1`)
  return rows.map(({ name }) => name)
}

/** Collects responses in the order of their arrival. */
const collect = (requests: readonly Promise<Response>[]): Response[] => {
  const answers: Response[] = []
  for (const request of requests) void request.then((answer) => answers.push(answer))
  return answers
}

/** Returns the names of the members of a schema. */
const namesOf = (shape: BodyShape | undefined): Set<string> =>
  new Set([
    ...Object.keys(shape?.properties ?? {}),
    ...[
      ...Object.values(shape?.properties ?? {}),
      ...(shape?.anyOf ?? []),
      ...(shape?.items ? [shape.items] : []),
    ].flatMap((inner) => [...namesOf(inner)]),
  ])

const expectRefusals = (answers: readonly Response[]): void => {
  for (const answer of answers) {
    expect([answer.statusCode, answer.json().code]).toEqual([429, 'too_many_requests'])
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  }
}

describe('heavy work', () => {
  it('one account runs one preview at a time on the export pool; another account gets its turn', async () => {
    const [one, other] = [await person(t), await person(t)]
    await lock('models')
    const first = one.api.post(`${base}/policy/preview`, { add: [rule] })
    await expect.poll(waitingPools).toEqual(['portcullis export'])
    const more = Array.from({ length: 23 }, (_, i) =>
      i % 2 === 0
        ? one.api.post(`${base}/policy/preview`, { add: [rule] })
        : one.api.post(`${base}/policy/test`, { draft: { add: [rule] } }),
    )
    const answers = collect(more)
    await expect.poll(() => answers.length).toBe(19)
    expectRefusals(answers)
    expect((await other.api.post(`${base}/policy/preview`, {})).statusCode).toBe(200)
    expect(await waitingPools()).toEqual(['portcullis export'])
    expect((await t.as(undefined).get('/readyz')).statusCode).toBe(200)
    await unlock()
    const late = (await Promise.all([first, ...more])).filter(({ statusCode }) => statusCode !== 429)
    expect(late.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200])
  })

  it('large pages of lists count as exports; small ones do not wait for them', async () => {
    const [one, other] = [await person(t), await person(t)]
    const page = (size: number) => one.api.get(`${base}/agents?pagesize=${size}`)
    await lock('models')
    const first = [0, 1].map(() => one.api.post(`${base}/agents/peripheralsAggExport`))
    await expect.poll(waitingPools).toEqual(['portcullis export', 'portcullis export'])
    const answers = collect(Array.from({ length: 22 }, () => page(2_001)))
    await expect.poll(() => answers.length).toBe(2)
    expectRefusals(answers)
    expect((await page(2_000)).statusCode).toBe(200)
    expect((await other.api.get(`${base}/agents?PageSize=1000000`)).statusCode).toBe(200)
    await unlock()
    await Promise.all(first)
    await expect.poll(() => answers.length).toBe(22)
    expect(answers.slice(2).every(({ statusCode }) => statusCode === 200)).toBe(true)
  })

  it('one account runs two exports at once; another account gets its turn', async () => {
    const [one, other] = [await person(t), await person(t)]
    const csv = () => one.api.post(`${base}/agents/peripheralsAggExport`)
    await lock('models')
    const first = [csv(), csv()]
    await expect.poll(waitingPools).toEqual(['portcullis export', 'portcullis export'])
    const more = Array.from({ length: 38 }, (_, i) =>
      i % 2 === 0 ? csv() : one.api.post(`${base}/agents/exportagentpdf/exportpdf`),
    )
    const answers = collect(more)
    await expect.poll(() => answers.length).toBe(18)
    expectRefusals(answers)
    const exported = await Promise.all([
      other.api.post(`${base}/agents/exportagentpdf/exportpdf`),
      other.api.get(`${base}/agents/AgentExportFile`),
      (await t.admin()).post(`${base}/agents/exportagentpdf/exportpdf`),
    ])
    expect(exported.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200])
    await unlock()
    const late = (await Promise.all([...first, ...more])).filter(({ statusCode }) => statusCode !== 429)
    expect(late.map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 22 }, () => 200))
  })

  it('a preview of 1,000 rules runs no query per rule', async () => {
    const host = '00000000-0000-4000-8000-000000000000'
    const add = Array.from({ length: 1_000 }, (_, i) => ({
      ...rule,
      vid: i.toString(16).padStart(4, '0'),
      ...(i % 2 === 0 ? { host } : {}),
    }))
    const traceId = '7'.repeat(32)
    const answer = await (await t.admin()).post(
      `${base}/policy/preview`,
      { add },
      { traceparent: `00-${traceId}-${'7'.repeat(16)}-01` },
    )
    expect(answer.statusCode).toBe(200)
    const ofRequest = () => receiver.spans.filter((span) => span.traceId === traceId)
    await expect
      .poll(async () => {
        await t.tracer.flush()
        return ofRequest().some(({ kind }) => kind === 2)
      })
      .toBe(true)
    expect(ofRequest().length).toBeGreaterThan(3)
    expect(ofRequest().length).toBeLessThan(20)
  })

  it('a dry run takes the turn of a preview', async () => {
    const one = await person(t, { profile: 20 })
    await lock('models')
    const first = one.api.post(`${base}/policy/preview`, { add: [rule] })
    await expect.poll(waitingPools).toEqual(['portcullis export'])
    const restored = (dryRun: boolean) => one.api.post(`${base}/policy/restore`, { version: 0, dryRun })
    const answers = collect(Array.from({ length: 5 }, () => restored(true)))
    await expect.poll(() => answers.length).toBe(1)
    expectRefusals(answers)
    expect((await restored(false)).statusCode).toBe(200)
    await unlock()
    await first
    await expect.poll(() => answers.length).toBe(5)
    expect(answers.slice(1).every(({ statusCode }) => statusCode === 200)).toBe(true)
  })

  it('every operation that computes over the fleet, and every export, is heavy work', () => {
    const heavy = Map.groupBy(t.app.operations, ({ heavy }) => heavy)
    /** Members of responses that the server computes from all hosts and devices. */
    const computed = ['prediction', 'worksAgain', 'newlyAllowed', 'secondPerson', 'worse']
    const light = t.app.operations.filter((operation) => {
      const { id, method, permission, heavy, query, body, response } = operation
      const takesDryRun = [query, body].some((given) => namesOf(given as BodyShape | undefined).has('dryRun'))
      const isComputed = computed.some((name) => namesOf(response as BodyShape).has(name))
      const changesNothing = method !== 'GET' && permission.endsWith(':read') && body !== undefined
      return (isComputed || changesNothing || /^(preview|plan)/.test(id)) && heavy === undefined && !takesDryRun
    })
    expect(light.map(({ id }) => id)).toEqual([])
    expect(heavy.get('export')?.map(({ id }) => id)).toEqual(
      t.app.operations
        .filter(
          ({ permission, responseKind }) =>
            permission === 'export:read' || (permission === 'audit:read' && responseKind === 'file'),
        )
        .map(({ id }) => id),
    )
  })
})
