import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { startTraceReceiver } from '@portcullis/server/test/trace-receiver.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tracingConfig } from '#platform/server/tracing/index.ts'

let t: TestApp
let receiver: Awaited<ReturnType<typeof startTraceReceiver>>
beforeAll(async () => {
  receiver = await startTraceReceiver()
  const tracing = tracingConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
  t = await startTestApp({ listen: true, ...(tracing === null ? {} : { tracing }) })
})
afterAll(async () => {
  await t.close()
  await receiver.close()
})

const trace = (n: number, isSampled = true) =>
  `00-${String(n).repeat(32)}-${String(n).repeat(16)}-0${isSampled ? 1 : 0}`
const spansOf = async (traceId: string) => {
  await expect
    .poll(async () => {
      await t.tracer.flush()
      return receiver.spans.some((span) => span.traceId === traceId && span.kind === 2)
    })
    .toBe(true)
  return receiver.spans.filter((span) => span.traceId === traceId)
}

describe('traces', () => {
  it('of requests continue the trace of the caller, with statements but without values', async () => {
    const admin = await t.admin()
    const answer = await admin.get('/prime/webui/agents?hostIdentifier=a-host-of-ours', { traceparent: trace(1) })
    expect(answer.statusCode).toBe(200)
    const spans = await spansOf('1'.repeat(32))
    const request = spans.find(({ kind }) => kind === 2)
    expect(request).toMatchObject({ name: 'GET /prime/webui/agents', parentSpanId: '1'.repeat(16) })
    expect(request?.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: '200' } })
    const statements = spans.filter(({ kind }) => kind === 3)
    expect(statements.length).toBeGreaterThan(0)
    for (const { parentSpanId, name } of statements) {
      expect(parentSpanId).toBe(request?.spanId)
      expect(name).toMatch(/^[a-z]+(?: \w+)?$/)
    }
    expect(JSON.stringify(receiver.requests)).not.toContain('a-host-of-ours')
  })

  it('appear in problems, including those of check-ins', async () => {
    const admin = await t.admin()
    const answer = await admin.get('/prime/webui/jobs/nothing', { traceparent: trace(2) })
    expect([answer.statusCode, answer.json().traceId]).toEqual([404, '2'.repeat(32)])
    const own = (await admin.get('/prime/webui/jobs/nothing')).json().traceId
    expect(own).toMatch(/^[0-9a-f]{32}$/)
    expect((await spansOf(own)).length).toBeGreaterThan(0)
    const refused = await fetch(`${t.address}/agent/v1/check-in`, {
      method: 'POST',
      headers: { traceparent: trace(3), 'content-type': 'application/json' },
      body: '{}',
    })
    expect(await refused.json()).toMatchObject({ traceId: '3'.repeat(32) })
  })

  it('are not created for a request whose caller does not sample it', async () => {
    const admin = await t.admin()
    await admin.get('/prime/webui/agents', { traceparent: trace(4, false) })
    await admin.get('/prime/webui/agents', { traceparent: trace(5) })
    await spansOf('5'.repeat(32))
    expect(receiver.spans.filter(({ traceId }) => traceId === '4'.repeat(32))).toEqual([])
  })

  it('are created for jobs and for batches of check-ins', async () => {
    t.jobs.handle('traced', { run: async () => 'done' })
    await t.db.transaction((tx) => t.jobs.enqueue(tx, { userName: 'somebody' }, { kind: 'traced', title: 'Trace it' }))
    await t.jobs.drain()
    await enrolAgent(t, { facts: { hostname: 'one' }, devices: [] })
    await t.tracer.flush()
    await expect
      .poll(async () => {
        await t.tracer.flush()
        return receiver.spans.map(({ name }) => name)
      })
      .toEqual(expect.arrayContaining(['job traced', 'check-in reports']))
    const batch = receiver.spans.find(({ name }) => name === 'check-in reports')
    expect(batch?.attributes).toEqual([{ key: 'portcullis.batch.size', value: { intValue: '1' } }])
    expect(receiver.spans.filter(({ parentSpanId }) => parentSpanId === batch?.spanId).length).toBeGreaterThan(3)
    expect((await t.as(undefined).get('/metrics')).body).toMatch(/^portcullis_trace_spans_exported_total [1-9]/m)
  })

  it('delay nothing when the receiver hangs', async () => {
    receiver.set('hang')
    const admin = await t.admin()
    for (let i = 0; i < 20; i++) expect((await admin.get('/prime/webui/agents')).statusCode).toBe(200)
    receiver.set('take')
  })
})
