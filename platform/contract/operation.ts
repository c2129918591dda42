/**
 * Describes each call of the interface as data. Routes, OpenAPI, the console's client, the CLI and the tests all
 * use it, so each shape is defined once.
 */
import { closed, nullable, utcTime } from '@portcullis/contract/shapes.ts'
import { type Static, type TObject, type TSchema, type TStringOptions, Type } from 'typebox'
import type { ErrorCode } from './errors.ts'
import { labelledFilter } from './filters.ts'
import type { Audience } from './permissions.ts'
import { queryLimits } from './query.ts'

/**
 * Text that a person types and others read, on one line or several. Bodies with control characters, or characters that are
 * invisible or reorder text, are refused.
 */
export const typedText = (options: TStringOptions, lines: 'line' | 'lines' = 'line') =>
  Type.String({ ...options, 'x-typed': lines })

/** The form of a response. `list` may be streamed; `file` is an attachment; `stream` is an endless body (SSE, NDJSON); `redirect` is a 302 for browsers. */
export type ResponseKind = 'json' | 'list' | 'file' | 'stream' | 'html' | 'text' | 'redirect'

/**
 * Work that uses a database connection or a processor for a long time. Accounts take turns. An account can run one
 * `preview` or two `export` operations at a time; 4 more previews or 20 more exports wait. Further calls get 429. Lists with a
 * `Query` are limited like exports, on their own.
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
  /** Path with `{name}` for parameters, as the specification spells it. Matching ignores case. */
  readonly path: string
  /** Group in OpenAPI. */
  readonly tag: string
  readonly summary: string
  /** Effects, rules and limits that the summary does not state. */
  readonly description?: string
  /** The call to use instead. OpenAPI marks the operation as deprecated. */
  readonly replacedBy?: string
  /** The permission that the caller needs. */
  readonly permission: Audience
  /**
   * True when the operation needs fresh authentication (RFC 9470): a session whose user entered a password or second
   * factor within `freshSeconds`. API tokens cannot call it. When only some requests need it, a string states the
   * condition, and the service calls `assertFresh`.
   */
  readonly fresh?: true | string
  /** Kind of heavy work. Without it, dry runs count as previews, and large pages as exports. */
  readonly heavy?: HeavyWork
  /** True if callers on the same machine need no token, provided that nothing can forward requests to the server. */
  readonly openOnLoopback?: boolean
  readonly params?: Params
  /** Query parameters by documented name. Matching ignores case. */
  readonly query?: Query
  /** JSON body. */
  readonly body?: Body
  /** Maximum body size in bytes, if it differs from the limit of the audience. */
  readonly bodyLimit?: number
  /** True if the body may be absent, empty or `null`, or a form without its file. */
  readonly bodyOptional?: boolean
  /** True if the body is a multipart form with one part named `file`. */
  readonly upload?: boolean
  /** Maximum size of the uploaded part in bytes. Default: 32 MiB. */
  readonly uploadLimit?: number
  /** Media types of a body that the handler parses itself (`request.body`, a Buffer), for example log lines. */
  readonly rawTypes?: readonly string[]
  /** Media type of a body that the handler reads as a stream (`request.body`) and limits itself. */
  readonly streamType?: 'application/gzip'
  readonly response: Response
  readonly responseKind?: ResponseKind
  /** Media types of a `file` response. The request chooses one if there are several. */
  readonly fileType?: string | readonly string[]
  /** Error codes in addition to those of every operation (validation, 401, 403, 404 path, 415, 500, 503). */
  readonly errors?: readonly ErrorCode[]
  /** Example bodies for OpenAPI. */
  readonly examples?: { readonly request?: unknown; readonly response?: unknown }
  /** True for clients like XSOAR: invalid input always gets 400, as text/plain unless Accept asks for JSON. */
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

/** Seconds for which a session stays fresh after its user enters a password or second factor. */
export const freshSeconds = 5 * 60

/** The prefix of the paths of the interface. */
export const apiPrefix = '/prime/webui'

// --- Building blocks -------------------------------------------------------------------------------------------------

export { closed, nullable, utcTime }

/** Defines a time in shapes of the specification: UTC, no time zone suffix, 0 to 6 fraction digits. */
export const zonelessTime = (description: string, options: Record<string, unknown> = {}) =>
  Type.String({
    description: `${description} UTC, without a time zone suffix.`,
    examples: ['2031-05-04T10:11:12.345'],
    ...options,
  })

/** Default and maximum number of rows per page. */
export const paging = { defaultSize: 50, maxSize: 1_000_000 } as const

/** The query parameters of every list. */
export const listQuery = {
  PageNumber: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, default: 1, description: 'Page number, starting at 1.' }),
  ),
  PageSize: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: paging.maxSize,
      default: paging.defaultSize,
      description: 'Rows per page. Values outside the range get 400.',
    }),
  ),
  SortBy: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'Sort order: `key` or `key_asc` (ascending), `-key` or `key_desc` (descending). A key is the name of a response field or query parameter, in any case. Addresses sort numerically: IPv4, then IPv6, then names.',
    }),
  ),
  GlobalSearch: labelledFilter(
    Type.Optional(
      Type.String({
        maxLength: 256,
        description: 'Returns rows with this text in any of their text fields, ignoring case.',
      }),
    ),
    { kind: 'text', label: 'Any text' },
  ),
  Query: labelledFilter(
    Type.Optional(
      Type.String({
        maxLength: queryLimits.length,
        description: `Returns rows that match a condition with AND, OR, NOT and parentheses, such as \`Status:Armed AND NOT (Hashtags:"front desk" OR kiosk)\`. A term is \`Name:value\` with the name and the syntax of a filter of this list, or a word for \`GlobalSearch\`. Put text with spaces, quotes or parentheses in quotes. A query can have ${queryLimits.terms} terms and ${queryLimits.depth} levels of nesting. The other filters also apply.`,
      }),
    ),
    { kind: 'query', label: 'Query' },
  ),
}

/** The page number of lists without pages. Clients send it with every list query. */
export const ignoredPageNumber = Type.Optional(
  Type.Integer({ description: 'Ignored. The next page starts at the ID of the first row plus one.' }),
)

/** Defines a page of a list with exact counts of all rows and of the rows that match the filters. */
export const page = <T extends TSchema>(item: T) =>
  closed({
    recordsTotal: Type.Integer({ minimum: 0, description: 'Number of all rows. The count is at most one second old.' }),
    recordsFiltered: Type.Integer({
      minimum: 0,
      description: 'Number of rows that match the filters. The count is at most one second old.',
    }),
    data: Type.Array(item, { description: 'The rows of this page.' }),
  })

/** The response of bulk operations. */
export const BulkResult = closed({
  accepted: Type.Array(Type.String(), { description: 'IDs that the operation was carried out for.' }),
  notFound: Type.Array(Type.String(), { description: 'IDs that do not exist. The operation skips them.' }),
})
export type BulkResult = Static<typeof BulkResult>

/** Counts the devices that are blocked now and work again after a change. */
export const WorksAgain = closed({
  agents: Type.Integer({ description: 'Number of hosts with these devices.' }),
  peripherals: Type.Integer({ description: 'Number of attached devices that are blocked now and allowed afterwards.' }),
  attackTools: Type.Integer({ description: 'Number of these devices that are known attack tools.' }),
})
export type WorksAgain = Static<typeof WorksAgain>
