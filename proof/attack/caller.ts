import { api, type Environment } from '../kit/environment.ts'
import { jsonOf } from '../kit/wire.ts'

export type Answer = Record<string, unknown> & { id?: unknown }

/** Ignores failures, because unreached operations are counted separately. */
export const callerOf = ({ wire, admin }: Pick<Environment, 'wire' | 'admin'>) => {
  const send = async (method: string, path: string, body?: unknown, token: string | undefined = admin.token) => {
    const got = await wire.send({ method, path: `${api}/${path}`, body, token, isHeadEnough: true })
    return (jsonOf(got.text) ?? {}) as Answer
  }
  return {
    get: (path: string, token?: string) => send('GET', path, undefined, token),
    post: (path: string, body?: unknown, token?: string) => send('POST', path, body, token),
    put: (path: string, body?: unknown, token?: string) => send('PUT', path, body, token),
    remove: (path: string, token?: string) => send('DELETE', path, undefined, token),
  }
}

export type Caller = ReturnType<typeof callerOf>
