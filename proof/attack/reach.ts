/** Tracks which operations returned 200 at least once. Fuzzing an operation that never succeeds tests nothing. */

import type { Environment } from '../kit/environment.ts'
import type { Fixture } from '../kit/fixture.ts'
import { pathFor } from '../kit/fixture.ts'
import { audienceOf, type Offered } from '../kit/operations.ts'
import type { HttpRequest, HttpResponse, Wire } from '../kit/wire.ts'

/** Share of all operations that must return 200 before fuzzing counts. */
export const reachedShare = 0.9

/** Matches operation paths. Paths without parameters come first, as in the server's router. */
const matcherOf = (operations: readonly Offered[]) => {
  const known = operations
    .map((offered) => ({
      offered,
      pattern: new RegExp(`^${offered.path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`),
    }))
    .sort((a, b) => Number(a.offered.path.includes('{')) - Number(b.offered.path.includes('{')))
  return ({ method, path }: Pick<HttpRequest, 'method' | 'path'>): Offered | undefined => {
    const bare = path.split('?')[0] as string
    return known.find(({ offered, pattern }) => offered.method === method && pattern.test(bare))?.offered
  }
}

/** Records the ids of operations that return 200 to any request on a wire from now on. */
export const recordReached = (wire: Pick<Wire, 'send'>, operations: readonly Offered[]): ReadonlySet<string> => {
  const reached = new Set<string>()
  const match = matcherOf(operations)
  const { send } = wire
  wire.send = async (sent: HttpRequest): Promise<HttpResponse> => {
    const got = await send(sent)
    const id = got.status === 200 ? match(sent)?.id : undefined
    if (id !== undefined) reached.add(id)
    return got
  }
  return reached
}

const exampleHost = '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f'

/** Order of operations: reads first, then changes, then deletions. */
const orderOf = ({ id, method }: Offered): number =>
  /logout|delete|forget|revoke|remove/i.test(id) ? 2 : method === 'GET' ? 0 : 1

/** Calls each operation that has not returned 200 yet once, with the example from the document. */
export const callExamples = async (
  { wire, admin }: Pick<Environment, 'admin'> & { wire: Pick<Wire, 'send'> },
  fixture: Fixture,
  operations: readonly Offered[],
  reached: ReadonlySet<string>,
): Promise<void> => {
  const [host, other] = fixture.hosts
  for (const offered of operations.toSorted((a, b) => orderOf(a) - orderOf(b))) {
    const { id, method, described } = offered
    if (reached.has(id)) continue
    const audience = audienceOf(id)
    const own =
      audience === 'public' || audience === 'proof'
        ? undefined
        : audience === 'agent'
          ? host.token
          : audience === 'worker'
            ? fixture.principals.find(({ is }) => is === 'worker')?.token
            : admin.token
    const example: unknown =
      id === 'agentCheckIn'
        ? host.checkIn({ inventory: [host.device] })
        : id === 'agentSession'
          ? host.proof()
          : offered.example === undefined
            ? undefined
            : JSON.parse(JSON.stringify(offered.example).replaceAll(exampleHost, other.agentId))
    const isFollowing = (described.parameters ?? []).some(({ name }) => name === 'follow')
    const path = `${pathFor(fixture, offered)}${isFollowing ? '?follow=false' : ''}`
    // It would end the session that the other operations need.
    if (id !== 'logout') await wire.send({ method, path, token: own, body: example, isHeadEnough: true })
  }
}
