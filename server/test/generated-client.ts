/** Source of `client.ts`, a client for the types that openapi-typescript generates from the document (`./api.d.ts`). */
export const clientSource = `
import type { paths } from './api.d.ts'

type Verb = 'get' | 'post' | 'put' | 'delete'
type VerbOf<P extends keyof paths> = { [V in Verb]: paths[P][V] extends { responses: unknown } ? V : never }[Verb]
type Json<T> = T extends { content: { 'application/json': infer J } } ? J : never
type Answer<O> = O extends { responses: { 200: infer R } } ? Json<R> : never
type Given<O> = (O extends { parameters: { query?: infer Q } } ? { query?: Q } : unknown) &
  (O extends { parameters: { path: infer P } } ? { path: P } : unknown) &
  (O extends { requestBody: infer R } ? { body: Json<R> } : O extends { requestBody?: infer R } ? { body?: Json<NonNullable<R>> } : unknown)

export const createClient = (address: string, token?: string) =>
  async <P extends keyof paths, V extends VerbOf<P>>(verb: V, path: P, given: Given<paths[P][V]>): Promise<Answer<paths[P][V]>> => {
    const { query, path: names, body } = given as { query?: Record<string, unknown>; path?: Record<string, string>; body?: unknown }
    const url = new URL(address + path.replace(/\\{(\\w+)\\}/g, (_, name: string) => encodeURIComponent(names?.[name] ?? '')))
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, String(value))
    const answer = await fetch(url, {
      method: verb.toUpperCase(),
      headers: {
        ...(token === undefined ? {} : { authorization: 'Bearer ' + token }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (answer.status !== 200) throw new Error(verb + ' ' + path + ': ' + answer.status + ' ' + (await answer.text()))
    return (await answer.json()) as Answer<paths[P][V]>
  }
`

/** The file \`program.ts\`: calls eleven operations and checks what the types reject. */
export const programSource = `
import type { components } from './api.d.ts'
import { createClient } from './client.ts'

type Schemas = components['schemas']

export const run = async (address: string, password: string, agentId: string) => {
  const { token } = await createClient(address)('post', '/prime/webui/auth/signin', { body: { username: 'admin', password } })
  const call = createClient(address, token)

  const { version } = await call('get', '/prime/webui/admin/PrimeVersion', {})
  const page: Schemas['AgentsViewDataWrapper'] = await call('get', '/prime/webui/agents', { query: { PageSize: 5, HostIdentifier: 'lab' } })
  const agent = await call('get', '/prime/webui/agents/agent/{agentId}', { path: { agentId } })

  const ada: Schemas['AccountViewResource'] = { userName: 'ada', userProfile: 30, firstName: 'Ada', password: 'twelve characters and more' }
  const { userName } = await call('post', '/prime/webui/admin/adduser', { body: ada })
  const changed: Schemas['AccountViewResource'] = await call('post', '/prime/webui/admin/updateuser', { body: { userName, lastName: 'Keller' } })
  const all: Schemas['AccountViewResource'][] = await call('get', '/prime/webui/admin/all', {})
  // An account can be sent back unchanged.
  const same = await call('post', '/prime/webui/admin/updateuser', { body: all.find((one) => one.userName === 'ada') ?? ada })
  await call('post', '/prime/webui/admin/deleteUsers', { body: ['ada'] })

  const groups: Schemas['NotificationGroupDataViewResource'][] = await call('get', '/prime/webui/systemNotification/notifications', {})
  const [first] = groups
  if (first === undefined) throw new Error('no group')
  const updated = await call('post', '/prime/webui/systemNotification/notifications/update', { body: { ...first, minimumSeverity: 'Error' } })
  const notices: Schemas['RiskNotifications'][] = await call('get', '/prime/webui/systemNotification/riskNotifications', {})
  const dismissed: boolean[] = []
  for (const notice of notices)
    dismissed.push(await call('post', '/prime/webui/systemNotification/riskNotifications/dismiss', { body: notice }))

  return {
    version,
    hosts: page.data.map((one) => one.hostIdentifier),
    peripherals: agent.peripherals.map((one) => one.vid),
    names: [changed.firstName, changed.lastName, same.lastName],
    profiles: all.map((one) => one.userProfile).sort(),
    severity: updated.find((one) => one.id === first.id)?.minimumSeverity,
    notices: notices.map((one) => one.kind),
    dismissed,
  }
}

export const wrong = async (call: ReturnType<typeof createClient>) => {
  // @ts-expect-error unknown path
  await call('get', '/prime/webui/agentz', {})
  // @ts-expect-error the path has no such method
  await call('delete', '/prime/webui/agents', {})
  // @ts-expect-error unknown filter
  await call('get', '/prime/webui/agents', { query: { HostIdentifer: 'lab' } })
  // @ts-expect-error missing path parameter
  await call('get', '/prime/webui/agents/agent/{agentId}', {})
  // @ts-expect-error unknown profile
  await call('post', '/prime/webui/admin/adduser', { body: { userName: 'eve', userProfile: 40 } })
  // @ts-expect-error missing body
  await call('post', '/prime/webui/admin/updateuser', {})
  // @ts-expect-error unknown member of the response
  ;(await call('get', '/prime/webui/admin/PrimeVersion', {})).versions
}
`
