/** The console's own interface, called with an API token. */

/** Something the person at the terminal can act on. */
export class CliError extends Error {}

export interface ClientOptions {
  server: string
  token: string
}

const detailOf = (text: string): string => {
  try {
    const problem = JSON.parse(text) as { detail?: unknown; title?: unknown }
    return String(problem.detail ?? problem.title ?? text)
  } catch {
    return text.slice(0, 300)
  }
}

export const createClient = ({ server, token }: ClientOptions) => {
  if (!URL.canParse(server)) throw new CliError('--server must be an address like http://127.0.0.1:8080.')
  const base = server.replace(/\/+$/, '')
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    let response: Response
    try {
      response = await fetch(base + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    } catch (error) {
      const cause = (error as Error).cause
      throw new CliError(
        `${base} can not be reached: ${cause instanceof Error ? cause.message : (error as Error).message}`,
      )
    }
    const text = await response.text()
    if (!response.ok) throw new CliError(`${response.status}: ${detailOf(text)}`)
    return JSON.parse(text) as T
  }
  return {
    get: <T>(path: string, query: Readonly<Record<string, string | undefined>> = {}): Promise<T> => {
      const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
      const text = new URLSearchParams(given).toString()
      return call<T>('GET', text === '' ? path : `${path}?${text}`)
    },
    post: <T>(path: string, body: unknown): Promise<T> => call<T>('POST', path, body),
  }
}
