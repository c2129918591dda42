import { randomFillSync } from 'node:crypto'

/** The caller's trace context (W3C Trace Context). */
export interface TraceParent {
  traceId: string
  spanId: string
  isSampled: boolean
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** Returns null if the header is absent or malformed: a new trace begins then. */
export const readTraceParent = (text: string | readonly string[] | undefined): TraceParent | null => {
  // A repeated header is ignored, because it is ambiguous.
  if (typeof text !== 'string' || text.length > 256) return null
  const match = form.exec(text)
  if (match === null) return null
  const [, version, traceId = '', spanId = '', flags = '', rest] = match
  // Later versions may append fields. Version 00 does not, and ff is invalid.
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

// Drawn in blocks: a system call per request was a tenth of the cost of a refused one.
const drawn = Buffer.alloc(4_096)
let used = drawn.length
const draw = (bytes: number): string => {
  if (used + bytes > drawn.length) {
    randomFillSync(drawn)
    used = 0
  }
  used += bytes
  return drawn.toString('hex', used - bytes, used)
}

export const newTraceId = (): string => draw(16)
export const newSpanId = (): string => draw(8)
