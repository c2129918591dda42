/**
 * An operation is one call of the interface as data: routes, OpenAPI, the console's client, the CLI and the tests all
 * read it, so that a shape is written once.
 */
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import type { ErrorCode } from './errors.ts'
import type { Audience } from './permissions.ts'

/** How an operation answers. `list` may be streamed; `file` is an attachment; `stream` is an endless body (SSE, NDJSON); `redirect` is a 302 for browsers. */
export type ResponseKind = 'json' | 'list' | 'file' | 'stream' | 'html' | 'text' | 'redirect'

/**
 * Work that takes a connection of the database or a processor for long. Accounts take turns at it. One account runs one
 * `preview` or two `export` operations at once; 4 more previews or 20 more exports wait. Beyond that: 429 `too_many_requests`.
 */
export type HeavyWork = 'preview' | 'export'

export interface Operation<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Response extends TSchema = TSchema,
> {
  /** Unique name; the OpenAPI operationId. */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path with `{name}` for parameters, in the spelling of the specification. Matched case-insensitively. */
  readonly path: string
  /** Group in OpenAPI. */
  readonly tag: string
  readonly summary: string
  /** What it does beyond the summary: effects, rulings, limits. */
  readonly description?: string
  /** What the caller must be allowed to do. */
  readonly permission: Audience
  /**
   * True when the operation needs fresh authentication (RFC 9470): a session whose user entered a password or second
   * factor within `freshSeconds`. API tokens cannot call it. When only some requests need it, a string states the
   * condition, and the service calls `assertFresh`.
   */
  readonly fresh?: true | string
  /** Heavy work, which each account gets a bounded share of. */
  readonly heavy?: HeavyWork
  /** True when a caller on loopback needs no token, if no proxy forwarded the request. */
  readonly openOnLoopback?: boolean
  readonly params?: Params
  /** Query parameters by their documented name; read case-insensitively. */
  readonly query?: Query
  /** JSON body. */
  readonly body?: Body
  /** Bytes of the body, where another bound than that of its audience fits. */
  readonly bodyLimit?: number
  /** True when `null` or an empty body is as good as none, as is a form without its file. */
  readonly bodyOptional?: boolean
  /** True for one multipart part named `file`. */
  readonly upload?: boolean
  /** Bytes of the uploaded part; 32 MiB when absent. */
  readonly uploadLimit?: number
  /** Media type of a body that the handler reads as it comes (`request.body` is the stream), and bounds itself. */
  readonly streamType?: 'application/gzip'
  readonly response: Response
  readonly responseKind?: ResponseKind
  /** Media type of a `file` answer; several where the request chooses. */
  readonly fileType?: string | readonly string[]
  /** Problem codes beyond those every operation can give (validation, 401, 403, 404 path, 415, 500, 503). */
  readonly errors?: readonly ErrorCode[]
  /** Example bodies for OpenAPI. */
  readonly examples?: { readonly request?: unknown; readonly response?: unknown }
  /** True for clients of the XSOAR kind: bad input answers 400 only, as text/plain unless Accept asks for JSON. */
  readonly plainErrors?: boolean
}

export type AnyOperation = Operation<TObject, TObject, TSchema, TSchema>

/** Keeps the literal types of an operation. */
export const operation = <
  const P extends TObject = TObject<Record<never, never>>,
  const Q extends TObject = TObject<Record<never, never>>,
  const B extends TSchema = ReturnType<typeof Type.Null>,
  const R extends TSchema = TSchema,
>(
  definition: Operation<P, Q, B, R>,
): Operation<P, Q, B, R> => definition

export type ParamsOf<O> = O extends Operation<infer P, infer _Q, infer _B, infer _R> ? Static<P> : never
export type QueryOf<O> = O extends Operation<infer _P, infer Q, infer _B, infer _R> ? Static<Q> : never
export type BodyOf<O> = O extends Operation<infer _P, infer _Q, infer B, infer _R> ? Static<B> : never
export type ResponseOf<O> = O extends Operation<infer _P, infer _Q, infer _B, infer R> ? Static<R> : never

/** The paths every operation of the product starts with. */
export const apiPrefix = '/prime/webui'

// --- Building blocks -------------------------------------------------------------------------------------------------

/** Closed object: an unknown key is refused and named. */
export const closed = <P extends Record<string, TSchema>>(properties: P, options: Record<string, unknown> = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options })

export const nullable = <T extends TSchema>(schema: T, options: Record<string, unknown> = {}) =>
  Type.Union([schema, Type.Null()], options)

/** Time in shapes the field's clients know: UTC without zone, 0 to 6 fraction digits. */
export const zonelessTime = (description: string) =>
  Type.String({ description: `${description} UTC without a zone.`, examples: ['2031-05-04T10:11:12.345'] })

/** Time in our own shapes: RFC 3339 with `Z`. */
export const utcTime = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2031-05-04T10:11:12.345Z'] })

/** Largest page a list gives; above `streamFrom` rows it is streamed. */
export const paging = { defaultSize: 50, maxSize: 1_000_000 } as const

/** Query parameters every list has. */
export const listQuery = {
  PageNumber: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, default: 1, description: 'Page, from 1.' }),
  ),
  PageSize: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: paging.maxSize,
      default: paging.defaultSize,
      description: 'Rows of a page, 1 to 1,000,000. Never clamped.',
    }),
  ),
  SortBy: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        '`key_asc`, `key_desc`, `-key` or `key`; keys are the names of the response or query, any case. Addresses sort as addresses: IPv4, IPv6, then names.',
    }),
  ),
  GlobalSearch: Type.Optional(
    Type.String({ maxLength: 256, description: 'Contains, ignoring case, over the text fields of a row.' }),
  ),
}

/** Page of a read that has none: clients send it with every list query. */
export const ignoredPageNumber = Type.Optional(
  Type.Integer({ description: 'Accepted and ignored: the next page starts at the id of row 0 plus one.' }),
)

/** One page of a list, with exact counts of all rows and of the filtered ones. */
export const page = <T extends TSchema>(item: T) =>
  closed({
    recordsTotal: Type.Integer({ minimum: 0, description: 'All rows, at most one second old.' }),
    recordsFiltered: Type.Integer({ minimum: 0, description: 'Rows that the filters leave, at most one second old.' }),
    data: Type.Array(item, { description: 'The rows of this page.' }),
  })

/** Answer of bulk operations over ids. */
export const BulkResult = closed({
  accepted: Type.Array(Type.String(), { description: 'Ids the operation was carried out for.' }),
  notFound: Type.Array(Type.String(), { description: 'Ids that name nothing; not fatal.' }),
})
export type BulkResult = Static<typeof BulkResult>

/** Devices that are blocked now and work again after a change. */
export const WorksAgain = closed({
  agents: Type.Integer({ description: 'Hosts of these devices.' }),
  peripherals: Type.Integer({ description: 'Devices that are attached, blocked now, and allowed afterwards.' }),
  attackTools: Type.Integer({ description: 'How many of them are known attack tools.' }),
})
export type WorksAgain = Static<typeof WorksAgain>
