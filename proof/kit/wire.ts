/** Sends requests one at a time over kept-alive connections, with the exact bytes of the path. */
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest, Agent as TlsAgent } from 'node:https'

export interface HttpRequest {
  method: string
  /** Sent unchanged: dots and slashes are not normalized. */
  path: string
  token?: string | undefined
  headers?: Readonly<Record<string, string>>
  /** Objects are sent as JSON. */
  body?: unknown
  /** Stops after the head of a response that is endless or a file of many megabytes. */
  isHeadEnough?: boolean
}

export interface HttpResponse {
  /** 0 if there was no response. */
  status: number
  headers: IncomingHttpHeaders
  text: string
}

export interface WireOptions {
  connections?: number
  /** PEM of the CA to trust if the server uses TLS. */
  ca?: string | undefined
  keepAlive?: boolean
  timeoutMs?: number
}

export type Wire = ReturnType<typeof createWire>

const bodyOf = (body: unknown): string | Buffer | undefined =>
  body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)

const endless = /^(?:text\/event-stream|application\/x-ndjson|application\/octet-stream)/

/** Parses the JSON of a response. Returns undefined if the text is not JSON. */
export const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const createWire = (
  url: string,
  { connections = 8, ca, keepAlive = true, timeoutMs = 40_000 }: WireOptions = {},
) => {
  const { hostname, port, protocol } = new URL(url)
  const isTls = protocol === 'https:'
  const options = { keepAlive, maxSockets: connections }
  const agent = isTls ? new TlsAgent({ ...options, ...(ca === undefined ? {} : { ca }) }) : new Agent(options)
  const once = ({ method, path, token, headers, body, isHeadEnough }: HttpRequest): Promise<HttpResponse> =>
    new Promise((resolve) => {
      const bytes = bodyOf(body)
      const sent = (isTls ? httpsRequest : httpRequest)({
        ...{ host: hostname, port, method, path, agent, timeout: timeoutMs },
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(bytes === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(bytes)) }),
          ...headers,
        },
      })
      sent.on('response', (response) => {
        const chunks: Buffer[] = []
        const done = (): void => {
          const text = Buffer.concat(chunks).toString('utf8')
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
        }
        if (isHeadEnough === true && endless.test(response.headers['content-type'] ?? '')) {
          done()
          sent.destroy()
          return
        }
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', done)
        response.on('error', done)
      })
      sent.on('timeout', () => sent.destroy())
      sent.on('error', () => resolve({ status: 0, headers: {}, text: '' }))
      sent.end(bytes)
    })
  return {
    once,
    /** Repeats a request that got no response, because the server may have closed a kept-alive connection just then. */
    send: async (sent: HttpRequest): Promise<HttpResponse> => {
      const got = await once(sent)
      return got.status === 0 ? once(sent) : got
    },
    close: (): void => agent.destroy(),
    [Symbol.dispose]: (): void => agent.destroy(),
  }
}

/** Creates a function for calls that must succeed: JSON in, JSON out. It throws on any status but 200. */
export const createCaller = (url: string, ca?: string) => {
  const { once } = createWire(url, { connections: Number.POSITIVE_INFINITY, ca, keepAlive: false, timeoutMs: 0 })
  return async (
    path: string,
    body?: unknown,
    token?: string,
    method = body === undefined ? 'GET' : 'POST',
  ): Promise<Record<string, unknown>> => {
    const { status, text } = await once({ method, path, body, token })
    if (status !== 200) throw new Error(`${path} returned status ${status}: ${text.slice(0, 500)}`)
    return JSON.parse(text) as Record<string, unknown>
  }
}

/** Runs `work` for each item, with at most `atOnce` at the same time. */
export const forEachOf = async <T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>) => {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < items.length) await work(items[next++] as T)
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}
