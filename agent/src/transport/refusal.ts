import { cutText } from '../collectors/text.ts'

/** An answer of the server, whatever its status. */
export interface Answer {
  status: number
  /** Parsed JSON, or undefined when the body is none. */
  body: unknown
  /** The body as received. */
  text: string
  /** From `Retry-After`, in ms. */
  retryAfterMs?: number
}

/** The server answered, and the answer is no. What to do about it depends on `code` (SPEC.md, Refusals). */
export class Refusal extends Error {
  readonly status: number
  /** The problem's `code`; empty when the answer was no problem document. */
  readonly code: string
  readonly retryAfterMs: number | undefined
  constructor({ status, body, retryAfterMs }: Answer) {
    const problem = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
    const code = typeof problem.code === 'string' ? problem.code : ''
    const detail = typeof problem.detail === 'string' ? problem.detail : 'no reason given'
    super(cutText(`${status} ${code}: ${detail}`, 500))
    this.name = 'Refusal'
    this.status = status
    this.code = code
    this.retryAfterMs = retryAfterMs
  }
}
