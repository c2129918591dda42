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
  /** The parsed answer, for members that only some problems have. */
  readonly body: unknown
  constructor({ status, body, retryAfterMs }: Answer) {
    const problem = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
    const code = typeof problem.code === 'string' ? problem.code : ''
    const detail = typeof problem.detail === 'string' ? problem.detail : 'no reason given'
    super(cutText(`${status} ${code}: ${detail}`, 500))
    this.name = 'Refusal'
    this.status = status
    this.code = code
    this.body = body
    this.retryAfterMs = retryAfterMs
  }
}

/** How long the server asked to be left alone by what was thrown, in ms; 0 when it did not ask. */
export const askedWaitOf = (error: unknown): number => {
  const refusal = error instanceof Error && error.cause instanceof Refusal ? error.cause : error
  return refusal instanceof Refusal ? (refusal.retryAfterMs ?? 0) : 0
}
