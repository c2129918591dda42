import { randomBytes } from 'node:crypto'

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

export const newTraceId = (): string => randomBytes(16).toString('hex')
export const newSpanId = (): string => randomBytes(8).toString('hex')
