/** Calls the HTTP API with an API token or a session. */
import { createWriteStream, existsSync, openAsBlob, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Error with a message for the operator, printed without a stack. */
export class CliError extends Error {}

/** Reads a text file. `what` names it in the error. @throws CliError if it cannot be read */
export const readText = (file: string | 0, what = String(file)): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CliError(`Cannot read ${what}: ${(error as Error).message}.`)
  }
}

/** @throws CliError if the file that a command would write exists */
export const refuseExisting = (path: string): void => {
  if (existsSync(path))
    throw new CliError(`${path} already exists. Choose another name: the command never overwrites a file.`)
}

/** Exit code of a command whose change waits for a second approver. */
export const waitingExitCode = 3

/** The server stored the change as a request for a second approver. Nothing has changed yet. */
export class WaitsForApprover extends CliError {}

export interface ClientOptions {
  server: string
  /** An API token, a function that signs in on the first call, or null for anonymous calls. */
  token: string | (() => Promise<string>) | null
}

/** Maps an error response to a CLI error. `base` is the address of the server. */
const failureOf = (status: number, text: string, base: string): CliError => {
  const detail = detailOf(text)
  return codeOf(text) === 'second_person_required'
    ? new WaitsForApprover(`${detail} Ask a second approver to decide it at ${base}/policy/requests.`)
    : new CliError(`${status}: ${detail}`)
}

const codeOf = (text: string): unknown => {
  try {
    return (JSON.parse(text) as { code?: unknown }).code
  } catch {
    return null
  }
}

const detailOf = (text: string): string => {
  try {
    const problem = JSON.parse(text) as { code?: unknown; detail?: unknown; title?: unknown }
    const detail = String(problem.detail ?? problem.title ?? text)
    return problem.code === 'session_required'
      ? `${detail} Use --user <name> instead of the token: the command then signs in and asks for the password.`
      : detail
  } catch {
    return text.slice(0, 300)
  }
}

const untrustedCodes = ['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE']

const unreachable = (base: string, error: Error): string => {
  const cause = error.cause instanceof Error ? error.cause : error
  const code = (cause as NodeJS.ErrnoException).code ?? ''
  let cure = 'Check --server and whether the server is running.'
  if (untrustedCodes.includes(code))
    cure =
      'If the server uses its own CA, set NODE_EXTRA_CA_CERTS to a copy of tls/ca.crt from the data directory of the server.'
  else if (base.startsWith('http:') && code === 'UND_ERR_SOCKET')
    cure = 'If the server uses HTTPS, set --server to its https:// address. Otherwise, check whether it is running.'
  return `Cannot reach ${base}: ${cause.message}. ${cure}`
}

export const createClient = ({ server, token }: ClientOptions) => {
  if (!URL.canParse(server)) throw new CliError('--server must be an address like http://127.0.0.1:8080.')
  const base = server.replace(/(?<!\/)\/+$/, '')
  async function authorization(): Promise<Record<string, string>> {
    const bearer = typeof token === 'function' ? await token() : token
    return bearer === null ? {} : { authorization: `Bearer ${bearer}` }
  }
  async function answerOf(method: string, path: string, body?: string | FormData): Promise<Response> {
    const credential = await authorization()
    try {
      return await fetch(base + path, {
        method,
        headers: {
          ...credential,
          ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
        },
        ...(body === undefined ? {} : { body }),
      })
    } catch (error) {
      throw new CliError(unreachable(base, error as Error))
    }
  }
  async function send<T>(method: string, path: string, body?: string | FormData): Promise<T> {
    const response = await answerOf(method, path, body)
    const text = await response.text()
    if (!response.ok) throw failureOf(response.status, text, base)
    return JSON.parse(text) as T
  }
  type Query = Readonly<Record<string, string | undefined>>
  function withQuery(path: string, query: Query): string {
    const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
    const text = new URLSearchParams(given).toString()
    return text === '' ? path : `${path}?${text}`
  }
  return {
    get: <T>(path: string, query: Query = {}): Promise<T> => send<T>('GET', withQuery(path, query)),
    post: <T>(path: string, body: unknown): Promise<T> => send<T>('POST', path, JSON.stringify(body)),
    delete: <T>(path: string): Promise<T> => send<T>('DELETE', path),
    /** Writes a response to a file, atomically. Sends POST with a body, otherwise GET. */
    download: async (path: string, body: unknown, file: string): Promise<void> => {
      const response = await (body === undefined ? answerOf('GET', path) : answerOf('POST', path, JSON.stringify(body)))
      if (!response.ok || response.body === null)
        throw new CliError(`${response.status}: ${detailOf(await response.text())}`)
      const part = `${file}.part`
      try {
        // Remove an existing file first: its owner could read the new content.
        rmSync(part, { force: true })
        await pipeline(
          Readable.fromWeb(response.body),
          createWriteStream(part, { mode: 0o600, flags: 'wx', flush: true }),
        )
      } catch (error) {
        rmSync(part, { force: true })
        throw new CliError(`Cannot write ${file}, or the download was incomplete: ${(error as Error).message}`)
      }
      renameSync(part, file)
    },
    /** Streams a file as the form part `file`. */
    upload: async <T>(path: string, query: Query, file: string): Promise<T> => {
      const form = new FormData()
      form.append('file', await openAsBlob(file), basename(file))
      return send<T>('POST', withQuery(path, query), form)
    },
  }
}

/** What commands use of the program. */
export interface Terminal {
  client(): ReturnType<typeof createClient>
  /** Prints a response as text, or as JSON with --json. */
  show(answer: unknown, text: () => string): void
}
