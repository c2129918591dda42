import type { Log } from '../log.ts'
import type { TracingConfig } from './tracing-config.ts'

/** Values are numbers and our own names, never text from a host, a person or a statement. */
export type Attributes = Readonly<Record<string, string | number>>

/** Queued spans; about 2 MB while the receiver is unavailable. */
const mostWaiting = 2_048
const batchSize = 512
const everyMs = 5_000
const answerMs = 10_000
/** Attempts of a batch before it is dropped in favour of newer ones. */
const mostTries = 5

/** Returns attributes in the form of OTLP. */
export const attributesOf = (attributes: Attributes) =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value:
      typeof value === 'string'
        ? { stringValue: value }
        : Number.isInteger(value)
          ? { intValue: String(value) }
          : { doubleValue: value },
  }))

/** A finished span in the form of OTLP. */
export interface EndedSpan {
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: ReturnType<typeof attributesOf>
  status: { code?: number }
}

/** Outcome of one attempt. */
type Tried = 'taken' | 'refused' | 'away'

/**
 * Sends spans by OTLP over HTTP as JSON, in the background and in batches. Spans beyond the memory limit are dropped
 * and counted.
 */
export const createExporter = ({ config, version, log }: { config: TracingConfig; version: string; log: Log }) => {
  let waiting: EndedSpan[] = []
  let batch: EndedSpan[] = []
  let tries = 0
  let notBefore = 0
  let sending: Promise<void> | null = null
  let isFailing = false
  const counts = { exported: 0, dropped: 0 }
  const resource = { attributes: attributesOf({ 'service.name': config.serviceName, 'service.version': version }) }

  async function post(spans: readonly EndedSpan[]): Promise<Tried> {
    try {
      const answer = await fetch(config.url, {
        method: 'POST',
        headers: {
          ...Object.fromEntries(Object.entries(config.headers).map(([name, value]) => [name, value.reveal()])),
          'content-type': 'application/json',
        },
        body: JSON.stringify({
          resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'portcullis', version }, spans }] }],
        }),
        redirect: 'manual',
        signal: AbortSignal.timeout(answerMs),
      })
      await answer.body?.cancel()
      if (answer.ok) return 'taken'
      return [408, 429, 502, 503, 504].includes(answer.status) ? 'away' : 'refused'
    } catch {
      return 'away'
    }
  }

  async function sendBatch(): Promise<void> {
    if (batch.length === 0) {
      batch = waiting.slice(0, batchSize)
      waiting = waiting.slice(batchSize)
      tries = 0
    }
    const tried = await post(batch)
    tries++
    if (tried === 'taken') counts.exported += batch.length
    if (tried !== 'taken' && !isFailing) log.warn({ url: config.url, tried }, 'cannot deliver traces')
    if (tried === 'taken' && isFailing) log.info({ url: config.url }, 'trace delivery works again')
    isFailing = tried !== 'taken'
    if (tried === 'away' && tries < mostTries) {
      notBefore = performance.now() + everyMs * 2 ** tries
      return
    }
    if (tried !== 'taken') counts.dropped += batch.length
    batch = []
    notBefore = 0
  }

  /** Sends the queued spans; one call at a time. */
  function flush(): Promise<void> {
    if (sending !== null) return sending
    if ((waiting.length === 0 && batch.length === 0) || performance.now() < notBefore) return Promise.resolve()
    sending = sendBatch().finally(() => {
      sending = null
      if (batch.length === 0 && waiting.length >= batchSize) void flush()
    })
    return sending
  }

  const timer = setInterval(() => void flush(), everyMs).unref()
  return {
    add: (span: EndedSpan): void => {
      if (waiting.length >= mostWaiting) {
        counts.dropped++
        return
      }
      waiting.push(span)
      if (waiting.length >= batchSize) void flush()
    },
    counts: (): Readonly<typeof counts> & { waiting: number } => ({
      ...counts,
      waiting: waiting.length + batch.length,
    }),
    flush,
    /** Spends up to two seconds on the remaining spans. */
    close: async (): Promise<void> => {
      clearInterval(timer)
      notBefore = 0
      let timeout: NodeJS.Timeout | undefined
      await Promise.race([
        (async () => {
          while (waiting.length > 0 || batch.length > 0) {
            notBefore = 0
            await flush()
            if (isFailing) return
          }
        })(),
        new Promise<void>((resolve) => {
          timeout = setTimeout(resolve, 2_000)
        }),
      ])
      clearTimeout(timeout)
    },
  }
}
