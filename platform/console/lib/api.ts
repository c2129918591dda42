import type { AnyOperation, BodyOf, ParamsOf, QueryOf, ResponseOf } from '../../contract/operation.ts'
import { asCallFailure, CallFailure, failureOf } from './problem.ts'
import { strings } from './strings.ts'
import type { OpenFile } from './work.ts'

/** Parts of a call that an operation may have. */
export type CallInput<O> = CallParts<O> & (keyof ParamsOf<O> extends never ? unknown : { params: ParamsOf<O> })

interface CallParts<O> {
  params?: ParamsOf<O>
  query?: QueryOf<O>
  body?: BodyOf<O>
  /** Content of the one multipart part named `file`. */
  file?: Blob & { name?: string }
  signal?: AbortSignal
}

/** Arguments after the operation: optional if its path has no parameters. */
type Inputs<O> = keyof ParamsOf<O> extends never ? [input?: CallInput<O>] : [input: CallInput<O>]

/** The result of a sign-in or a refresh. */
export interface TokenAnswer {
  token: string
}

export interface ApiDeps {
  fetch: typeof globalThis.fetch
  /** Requests a new access token with the cookie. Throws a CallFailure when it is refused. */
  refresh: (send: Api['send']) => Promise<TokenAnswer>
  /** Called once when the session cannot be renewed. */
  onSignedOut: () => void
  /** Asks the person to confirm their identity; false when they cancel. */
  confirmIdentity: () => Promise<boolean>
  /** Runs `work` while no other tab does: refresh tokens rotate, and reusing one ends the session. */
  exclusively: <T>(work: () => Promise<T>) => Promise<T>
}

/** Returns the address of a call: encodes path parameters, omits empty query values, joins arrays by commas. */
export const addressOf = (operation: Pick<AnyOperation, 'path'>, input: { params?: unknown; query?: unknown } = {}) => {
  const params = (input.params ?? {}) as Record<string, unknown>
  const path = operation.path.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = params[name]
    if (value === undefined || value === null || value === '') throw new Error(`path parameter ${name} is missing`)
    return encodeURIComponent(String(value))
  })
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries((input.query ?? {}) as Record<string, unknown>)) {
    if (value === undefined || value === null || value === '') continue
    query.set(name, Array.isArray(value) ? value.join(',') : String(value))
  }
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}

/** Refusals with status 401 that a new access token does not change. */
const saysNothingOfTheToken: ReadonlySet<string> = new Set(['mfa_code_wrong', 'reauthentication_required'])

/** Returns the name that the server chose for a file. */
const fileName = (response: Response): string =>
  /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'portcullis-download'

/**
 * The console's client for the contract. The access token is only in memory. When it expires, one refresh with the
 * HttpOnly cookie serves all waiting calls, and each call is repeated once.
 */
export const createApi = ({ fetch, refresh, onSignedOut, confirmIdentity, exclusively }: ApiDeps) => {
  let token: string | null = null
  let renewal: Promise<boolean> | null = null

  /** Sends one request without renewal. Throws for responses that are not a success. */
  const send = async (
    operation: Pick<AnyOperation, 'method' | 'path'>,
    input: { params?: unknown; query?: unknown; body?: unknown; file?: Blob & { name?: string }; signal?: AbortSignal },
    headers: Record<string, string> = {},
  ): Promise<Response> => {
    let body: BodyInit | undefined
    const sent: Record<string, string> = { accept: 'application/json', ...headers }
    if (input.file !== undefined) {
      const form = new FormData()
      form.set('file', input.file, input.file.name ?? 'upload')
      body = form
    } else if (input.body !== undefined) {
      body = JSON.stringify(input.body)
      sent['content-type'] = 'application/json'
    }
    if (token !== null) sent.authorization = `Bearer ${token}`
    const address = addressOf(operation, input)
    let response: Response
    try {
      response = await fetch(address, {
        method: operation.method,
        headers: sent,
        cache: 'no-store',
        ...(body === undefined ? {} : { body }),
        ...(input.signal === undefined ? {} : { signal: input.signal }),
      })
    } catch (cause) {
      if (input.signal?.aborted) throw cause
      throw new CallFailure('network', strings.noResponse)
    }
    if (!response.ok) throw await failureOf(response)
    return response
  }

  /** Requests a new access token. Returns whether there is one. Concurrent callers share one refresh. */
  const renew = (): Promise<boolean> => {
    renewal ??= exclusively(async () => {
      try {
        token = null
        token = (await refresh(send)).token
        return true
      } catch (failure) {
        // Only a refusal ends the session. If the server is unreachable, the session stays for the next attempt.
        if (failure instanceof CallFailure && failure.status >= 400 && failure.status < 429) return false
        throw failure
      }
    }).finally(() => {
      renewal = null
    })
    return renewal
  }

  const sendRenewing: typeof send = async (operation, input, headers) => {
    const used = token
    try {
      return await send(operation, input, headers)
    } catch (failure) {
      // Neither a wrong second factor nor the need for fresh authentication means that the access token is invalid.
      if (!(failure instanceof CallFailure) || failure.status !== 401 || saysNothingOfTheToken.has(failure.code))
        throw failure
      // Another call may have renewed the token in the meantime.
      if (token === used && !(await renew())) {
        onSignedOut()
        throw failure
      }
      return send(operation, input, headers)
    }
  }

  /** Asks the person to confirm their identity when the server requires it, then repeats the call once. */
  const sendConfirmed: typeof send = async (operation, input, headers) => {
    try {
      return await sendRenewing(operation, input, headers)
    } catch (failure) {
      if (!(failure instanceof CallFailure) || failure.code !== 'reauthentication_required') throw failure
      if (!(await confirmIdentity())) throw new CallFailure('not_confirmed', strings.notConfirmed)
      return sendRenewing(operation, input, headers)
    }
  }

  return {
    send,
    renew,
    setToken: (next: string | null) => {
      token = next
    },
    /** Calls an operation and reads its JSON response. */
    call: async <O extends AnyOperation>(operation: O, ...[input]: Inputs<O>): Promise<ResponseOf<O>> => {
      const response = await sendConfirmed(operation, input ?? {})
      return (await response.json().catch((cause: unknown) => {
        if (asCallFailure(cause) !== cause) throw asCallFailure(cause)
        throw new CallFailure('unreadable', strings.notJson, { status: response.status })
      })) as ResponseOf<O>
    },
    /** Calls an operation that returns a file. Returns its bytes and the name that the server chose. */
    download: async <O extends AnyOperation>(operation: O, ...[input]: Inputs<O>) => {
      const response = await sendConfirmed(operation, input ?? {}, { accept: '*/*' })
      const blob = await response.blob().catch((cause: unknown) => {
        throw asCallFailure(cause)
      })
      return { blob, name: fileName(response) }
    },
    /** Opens a long file, whose bytes are read as they arrive. */
    openFile: async <O extends AnyOperation>(operation: O, ...[input]: Inputs<O>): Promise<OpenFile> => {
      const response = await sendConfirmed(operation, input ?? {}, { accept: '*/*' })
      const size = Number(response.headers.get('content-length') ?? 0)
      return {
        body: response.body ?? new Blob().stream(),
        type: response.headers.get('content-type') ?? 'application/octet-stream',
        name: fileName(response),
        // The length of a compressed response is that of the transfer, not of the content.
        size: size > 0 && response.headers.get('content-encoding') === null ? size : null,
      }
    },
    /** Opens an endless response. */
    stream: (operation: Pick<AnyOperation, 'method' | 'path'>, signal: AbortSignal) =>
      sendRenewing(operation, { signal }, { accept: 'text/event-stream' }),
  }
}

export type Api = ReturnType<typeof createApi>
