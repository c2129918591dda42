import { randomFillSync } from 'node:crypto'

/** What a caller says of the trace that its request belongs to (W3C Trace Context). */
export interface TraceParent {
  traceId: string
  spanId: string
  isSampled: boolean
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** Null when it is absent or not of the form: a new trace begins then. */
export const readTraceParent = (text: string | readonly string[] | undefined): TraceParent | null => {
  // Twice is as good as none: nobody can say which is meant.
  if (typeof text !== 'string' || text.length > 256) return null
  const match = form.exec(text)
  if (match === null) return null
  const [, version, traceId = '', spanId = '', flags = '', rest] = match
  // Later versions may say more behind it; this one does not, and ff is none.
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

// Each request has an id: a call to the system for each was a tenth of what a refused one costs.
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
