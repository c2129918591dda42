import { startTraceReceiver } from '@portcullis/server/test/trace-receiver.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { createLog } from '../log.ts'
import { StartError } from '../start-error.ts'
import { createTracer, tracingConfig } from './index.ts'
import { statementName } from './statement-name.ts'
import { readTraceParent } from './traceparent.ts'

const log = createLog('silent')
const clock = { now: () => Date.UTC(2031, 4, 4) }
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})
const start = async (env: Record<string, string> = {}) => {
  const receiver = await startTraceReceiver()
  const config = tracingConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env })
  const tracer = createTracer({ config, version: '1.2.3', clock, log })
  closing.push(receiver.close)
  return { receiver, tracer }
}

describe('spans', () => {
  it('arrive as OTLP, with statements inside their work', async () => {
    const { receiver, tracer } = await start({
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b,other=c',
      OTEL_SERVICE_NAME: 'us',
    })
    await tracer.work('job tidy', { 'portcullis.batch.size': 3 }, async () => {
      await tracer.statement?.('update jobs set state = $1', async () => {})
      await tracer
        .statement?.('select 1 from agents', async () => {
          throw new Error('with a value of somebody')
        })
        .catch(() => {})
    })
    await tracer.close()
    const [request] = receiver.requests
    expect([request?.url, request?.headers['content-type'], request?.headers['x-key'], request?.headers.other]).toEqual(
      ['/v1/traces', 'application/json', 'a b', 'c'],
    )
    expect(JSON.parse(request?.body as string).resourceSpans[0].resource.attributes[0]).toEqual({
      key: 'service.name',
      value: { stringValue: 'us' },
    })
    const [update, select, job] = receiver.spans
    expect([update?.name, select?.name, job?.name]).toEqual(['update jobs', 'select agents', 'job tidy'])
    expect([update?.parentSpanId, select?.parentSpanId, job?.parentSpanId]).toEqual([
      job?.spanId,
      job?.spanId,
      undefined,
    ])
    expect(new Set(receiver.spans.map(({ traceId }) => traceId)).size).toBe(1)
    expect([update?.status.code, select?.status.code, job?.status.code]).toEqual([undefined, 2, undefined])
    expect(job?.attributes).toEqual([{ key: 'portcullis.batch.size', value: { intValue: '3' } }])
    expect(BigInt(job?.startTimeUnixNano as string)).toBeGreaterThanOrEqual(BigInt(clock.now()) * 1_000_000n)
    expect(BigInt(job?.endTimeUnixNano as string)).toBeGreaterThanOrEqual(BigInt(update?.endTimeUnixNano as string))
    expect(request?.body).not.toContain('somebody')
    expect(tracer.counts()).toEqual({ exported: 3, dropped: 0, waiting: 0 })
  })

  it('are not created for statements outside any trace', async () => {
    const { receiver, tracer } = await start()
    expect(await tracer.statement?.('select 1 from agents', async () => 7)).toBe(7)
    await tracer.close()
    expect(receiver.requests).toEqual([])
  })

  it('are sampled at the configured ratio, consistently for a trace everywhere', async () => {
    const { tracer } = await start({ OTEL_TRACES_SAMPLER_ARG: '0.25' })
    const ids = Array.from({ length: 4_000 }, (_, i) => (i * 0x9e3779b97f4a7).toString(16).padStart(32, 'a').slice(-32))
    const kept = ids.filter((id) => tracer.request(null, id) !== null)
    expect(kept.length / ids.length).toBeGreaterThan(0.15)
    expect(kept.length / ids.length).toBeLessThan(0.35)
    expect(ids.filter((id) => tracer.request(null, id) !== null)).toEqual(kept)
    const parent = (isSampled: boolean) => ({ traceId: ids[0] as string, spanId: 'b'.repeat(16), isSampled })
    expect(tracer.request(parent(true), ids[0] as string)).not.toBeNull()
    expect(tracer.request(parent(false), ids[0] as string)).toBeNull()
    await tracer.close()
  })

  it.each(['hang', 503] as const)('stay limited and are counted while the receiver answers %s', async (mode) => {
    const { receiver, tracer } = await start()
    receiver.set(mode)
    const startedAt = performance.now()
    for (let i = 0; i < 10_000; i++) await tracer.work('job x', {}, async () => {})
    expect(performance.now() - startedAt).toBeLessThan(2_000)
    const { exported, dropped, waiting } = tracer.counts() as { exported: number; dropped: number; waiting: number }
    expect(exported).toBe(0)
    expect(waiting).toBeLessThanOrEqual(2_048 + 512)
    expect(waiting + dropped).toBe(10_000)
    // Stopping waits only briefly.
    const stopping = performance.now()
    await tracer.close()
    expect(performance.now() - stopping).toBeLessThan(3_000)
  })

  it('are dropped if a receiver rejects them, and the next ones are sent', async () => {
    const { receiver, tracer } = await start()
    receiver.set(400)
    await tracer.work('job refused', {}, async () => {})
    await tracer.flush()
    expect(tracer.counts()).toEqual({ exported: 0, dropped: 1, waiting: 0 })
    receiver.set('take')
    await tracer.work('job taken', {}, async () => {})
    await tracer.close()
    expect(receiver.spans.map(({ name }) => name)).toEqual(['job taken'])
  })
})

describe('the environment', () => {
  const at = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
  it('switches traces on and off', () => {
    expect(tracingConfig({})).toBeNull()
    expect(tracingConfig({ ...at, OTEL_SDK_DISABLED: 'true' })).toBeNull()
    expect(tracingConfig({ ...at, OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c.example/otlp/' })).toMatchObject({
      url: 'https://c.example/otlp/v1/traces',
      serviceName: 'portcullis',
      ratio: 1,
      followsParent: true,
    })
    expect(tracingConfig({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://c.example/t' })?.url).toBe(
      'https://c.example/t',
    )
    expect(tracingConfig({ ...at, OTEL_TRACES_SAMPLER: 'always_off' })).toMatchObject({
      ratio: 0,
      followsParent: false,
    })
  })
  it.each([
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:secret@collector' },
    { ...at, OTEL_TRACES_SAMPLER_ARG: '2' },
    { ...at, OTEL_TRACES_SAMPLER_ARG: 'half' },
    { ...at, OTEL_TRACES_SAMPLER: 'jaeger_remote' },
    { ...at, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    { ...at, OTEL_EXPORTER_OTLP_HEADERS: 'secret' },
    { ...at, OTEL_EXPORTER_OTLP_HEADERS: 'a=secret%0d%0ab' },
  ])('is rejected with a readable error: %o', (env) => {
    let said = ''
    try {
      tracingConfig(env as Record<string, string>)
    } catch (error) {
      expect(error).toBeInstanceOf(StartError)
      said = (error as Error).message
    }
    expect(said).not.toBe('')
    expect(said).not.toContain('secret')
  })
})

describe('names and headers', () => {
  it.each([
    ['select a.x from agents a', 'select agents'],
    ['\n      insert into health_changes (a) values ($1)', 'insert health_changes'],
    ['delete from mails m where true', 'delete mails'],
    ['with x as (select 1) select 2 from events e', 'select events'],
    ['with h as (select n from ordered_head for update) insert into events (a) select 1', 'insert events'],
    ['with i as (select id from jobs for no key update) select 1 from i', 'select jobs'],
    ['COMMIT', 'commit'],
    ['select pg_notify($1, $2)', 'select'],
  ])('%s', (text, name) => expect(statementName(text)).toBe(name))

  const trace = 'a'.repeat(32)
  const span = 'b'.repeat(16)
  it.each([
    [`00-${trace}-${span}-01`, { traceId: trace, spanId: span, isSampled: true }],
    [`00-${trace}-${span}-00`, { traceId: trace, spanId: span, isSampled: false }],
    [`01-${trace}-${span}-01-more`, { traceId: trace, spanId: span, isSampled: true }],
    [`00-${trace}-${span}-01-more`, null],
    [`ff-${trace}-${span}-01`, null],
    [`00-${'0'.repeat(32)}-${span}-01`, null],
    [`00-${trace}-${'0'.repeat(16)}-01`, null],
    [`00-${trace.toUpperCase()}-${span}-01`, null],
    [`00-${trace}-${span}-01, 00-${trace}-${span}-01`, null],
    ['', null],
    [undefined, null],
  ])('%s', (text, expected) => expect(readTraceParent(text)).toEqual(expected))
})
