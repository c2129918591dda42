/** One entry of the error table. */
export interface ErrorDefinition {
  /** HTTP status of the response. */
  status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 503
  /** The RFC 9457 `title`: short and stable. */
  title: string
  /** The RFC 9457 `detail`. The server replaces `{name}` with the parameter of that name. */
  detail: string
  /** Why the problem occurs, for the reference. */
  cause: string
  /** How to resolve the problem, for the reference. */
  cure: string
}

/** Keeps the codes of a table as its type. */
export const define = <const T extends Record<string, ErrorDefinition>>(table: T): T => table
