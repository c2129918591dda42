import { cutText } from '../collectors/text.ts'

/** A response of the server with any status. */
export interface Answer {
  status: number
  /** Parsed JSON, or undefined if the body is not JSON. */
  body: unknown
  /** The body as received. */
  text: string
  /** From `Retry-After`, in ms. */
  retryAfterMs?: number
}

/** The server refused a request. The agent reacts according to `code` (SPEC.md, Refusals). */
export class Refusal extends Error {
  readonly status: number
  /** The `code` of the problem; empty if the response is not a problem document. */
  readonly code: string
  readonly retryAfterMs: number | undefined
  /** The parsed answer, for members that only some problems have. */
  readonly body: unknown
  constructor({ status, body, retryAfterMs }: Answer) {
    const problem = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
    const code = typeof problem.code === 'string' ? problem.code : ''
    const detail = typeof problem.detail === 'string' ? problem.detail : 'the server gave no reason'
    super(cutText(`${status} ${code}: ${detail}`, 500))
    this.name = 'Refusal'
    this.status = status
    this.code = code
    this.body = body
    this.retryAfterMs = retryAfterMs
  }
}

/** Returns the `Retry-After` of a thrown refusal in ms, or 0. */
export const askedWaitOf = (error: unknown): number => {
  const refusal = error instanceof Error && error.cause instanceof Refusal ? error.cause : error
  return refusal instanceof Refusal ? (refusal.retryAfterMs ?? 0) : 0
}
