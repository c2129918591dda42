import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import {
  type PollResult,
  type WorkerLeaseRequest,
  type WorkerLeaseResponse,
  type WorkerRegisterRequest,
  type WorkerRegisterResponse,
  type WorkerResultsResponse,
  workerPaths,
} from '@portcullis/contract/worker-protocol.ts'

/** The server refused a call, with its status and problem code. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, detail: string) {
    super(detail)
    this.status = status
    this.code = code
  }
}

export interface ClientOptions {
  server: URL
  /** PEM of the server's certificate authority. If absent, the system's authorities are trusted. */
  ca?: string
}

/** Limit of a response. Leases of hundreds of polls are large. */
const answerBytes = 64 * 1024 * 1024
const timeoutMs = 30_000

const post = (
  { server, ca }: ClientOptions,
  path: string,
  key: string | null,
  body: unknown,
): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const text = JSON.stringify(body)
    const make = server.protocol === 'https:' ? httpsRequest : httpRequest
    const call = make(
      new URL(path, server),
      {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        },
        timeout: timeoutMs,
        ...(ca === undefined ? {} : { ca }),
      },
      (answer) => {
        const parts: Buffer[] = []
        let size = 0
        answer.on('data', (part: Buffer) => {
          size += part.length
          if (size > answerBytes) answer.destroy(new Error('the response of the server is too large'))
          else parts.push(part)
        })
        answer.on('error', reject)
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') }))
      },
    )
    call.on('timeout', () => call.destroy(new Error(`the server did not answer within ${timeoutMs / 1_000} s`)))
    call.on('error', reject)
    call.end(text)
  })

/** Creates a client for the worker operations of the server. */
export const createClient = (options: ClientOptions) => {
  async function call<T>(path: string, key: string | null, body: unknown): Promise<T> {
    const { status, text } = await post(options, path, key, body)
    if (status === 200) return JSON.parse(text) as T
    let problem: { code?: string; detail?: string } = {}
    try {
      problem = JSON.parse(text) as typeof problem
    } catch {}
    throw new Refused(status, problem.code ?? '', problem.detail ?? `The server answered ${status}.`)
  }
  return {
    register: (body: WorkerRegisterRequest): Promise<WorkerRegisterResponse> => call(workerPaths.register, null, body),
    lease: (key: string, body: WorkerLeaseRequest): Promise<WorkerLeaseResponse> => call(workerPaths.lease, key, body),
    results: (key: string, results: readonly PollResult[]): Promise<WorkerResultsResponse> =>
      call(workerPaths.results, key, { results }),
  }
}

export type WorkerClient = ReturnType<typeof createClient>
