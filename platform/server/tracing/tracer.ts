import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { type Attributes, attributesOf, createExporter } from './exporter.ts'
import { statementName } from './statement-name.ts'
import { newSpanId, newTraceId, readTraceParent, type TraceParent } from './traceparent.ts'
import type { TracingConfig } from './tracing-config.ts'

/** A span in progress. Exists only for traces that are kept. */
export interface Span {
  readonly traceId: string
  /** Runs work inside the span, so that statements become its children. */
  run<T>(work: () => T): T
  /** Ends the span. Call it once. */
  end(name: string, attributes: Attributes, isError: boolean): void
}

/** Creates spans. When tracing is off, it costs one comparison. */
export interface Tracer {
  /** Starts the span of a request; null if its trace is not kept. */
  request(parent: TraceParent | null, traceId: string): Span | null
  /** Traces work that no request started: jobs, batches. */
  work<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T>
  /** Traces a statement inside the current span; null if tracing is off. */
  readonly statement: (<T>(text: string, run: () => Promise<T>) => Promise<T>) | null
  counts(): { exported: number; dropped: number; waiting: number } | null
  flush(): Promise<void>
  close(): Promise<void>
}

export const noTracer: Tracer = {
  request: () => null,
  work: (_name, _attributes, work) => work(),
  statement: null,
  counts: () => null,
  flush: async () => {},
  close: async () => {},
}

/** Returns the trace of a request: the caller's own, if it gave one. */
export const traceOf = (
  header: string | readonly string[] | undefined,
): { parent: TraceParent | null; traceId: string } => {
  const parent = readTraceParent(header)
  return { parent, traceId: parent?.traceId ?? newTraceId() }
}

/** Kinds of spans by their numbers in OTLP. */
const kinds = { server: 2, client: 3, consumer: 5 } as const

interface Open {
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  kind: number
  startedAt: number
  /** Converts monotonic time to wall time, the same for all spans of a trace. */
  offsetMs: number
}

/** Returns whether a trace is kept. Depends on its id alone, so that every server decides the same. */
const isKept = (traceId: string, ratio: number): boolean =>
  ratio >= 1 || Number.parseInt(traceId.slice(-13), 16) / 2 ** 52 < ratio

const nanoseconds = (milliseconds: number): string => String(BigInt(Math.round(milliseconds * 1_000)) * 1_000n)

export const createTracer = ({
  config,
  version,
  clock,
  log,
}: {
  config: TracingConfig | null
  version: string
  clock: Clock
  log: Log
}): Tracer => {
  if (config === null) return noTracer
  const exporter = createExporter({ config, version, log })
  const current = new AsyncLocalStorage<Open>()

  function begin(kind: keyof typeof kinds, traceId: string, parentSpanId?: string, offset?: number): Open {
    const startedAt = performance.now()
    const offsetMs = offset ?? clock.now() - startedAt
    return { traceId, spanId: newSpanId(), parentSpanId, kind: kinds[kind], startedAt, offsetMs }
  }
  function end({ startedAt, offsetMs, ...open }: Open, name: string, attributes: Attributes, isError: boolean): void {
    exporter.add({
      ...open,
      name,
      startTimeUnixNano: nanoseconds(startedAt + offsetMs),
      endTimeUnixNano: nanoseconds(performance.now() + offsetMs),
      attributes: attributesOf(attributes),
      status: isError ? { code: 2 } : {},
    })
  }
  async function during<T>(open: Open, name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
    let isError = true
    try {
      const result = await work()
      isError = false
      return result
    } finally {
      end(open, name, attributes, isError)
    }
  }

  return {
    request: (parent, traceId) => {
      const isSampled = parent !== null && config.followsParent ? parent.isSampled : isKept(traceId, config.ratio)
      if (!isSampled) return null
      const open = begin('server', traceId, parent?.spanId)
      return {
        traceId,
        run: (work) => current.run(open, work),
        end: (name, attributes, isError) => end(open, name, attributes, isError),
      }
    },
    work: (name, attributes, work) => {
      const traceId = newTraceId()
      if (!isKept(traceId, config.ratio)) return current.getStore() === undefined ? work() : current.exit(work)
      const open = begin('consumer', traceId)
      return current.run(open, () => during(open, name, attributes, work))
    },
    statement: (text, run) => {
      const parent = current.getStore()
      if (parent === undefined) return run()
      const open = begin('client', parent.traceId, parent.spanId, parent.offsetMs)
      return during(open, statementName(text), { 'db.system.name': 'postgresql' }, run)
    },
    counts: exporter.counts,
    flush: exporter.flush,
    close: exporter.close,
  }
}
