// Invariant: The id of another account's object gives no access.

import { agentPaths, reportListNames, workerPaths } from '@portcullis/features/contract.ts'
import { api, type Environment, withEnvironment } from '../../proof/kit/environment.ts'
import { seedFixture } from '../../proof/kit/fixture.ts'
import { unknownId } from '../../proof/kit/operations.ts'
import { atLeast, atMost, type Outcome } from '../../proof/kit/verdict.ts'
import { type HttpRequest, type HttpResponse, jsonOf } from '../../proof/kit/wire.ts'
import { emptyResult } from '../../proof/kit/worker.ts'
import { doorTest } from './door-test.ts'

interface Tally {
  tried: number
  wrong: string[]
}

const tryObjects = async (environment: Environment, tally: Tally): Promise<void> => {
  const { wire, call, admin, addPerson, rows } = environment
  const { people, hosts, others, tokens, principals } = await seedFixture(environment)
  const { user, manager, administrator, other } = people
  const [a, b] = hosts
  const ask = async (
    method: string,
    path: string,
    token: string,
    body?: unknown,
    more: Partial<HttpRequest> = {},
  ): Promise<HttpResponse> =>
    wire.send({
      method,
      path: path.startsWith('/agent') || path.startsWith('/worker') ? path : `${api}/${path}`,
      token,
      body,
      ...more,
    })
  const due = async (what: string, answer: Promise<HttpResponse>, ...statuses: number[]): Promise<HttpResponse> => {
    tally.tried++
    const got = await answer
    if (!statuses.includes(got.status))
      tally.wrong.push(`${what}: ${got.status} ${got.text.slice(0, 200)} where ${statuses.join(' or ')} is due`)
    return got
  }
  const holds = (what: string, is: boolean): void => {
    tally.tried++
    if (!is) tally.wrong.push(what)
  }
  const members = (got: HttpResponse): Record<string, unknown> => (jsonOf(got.text) ?? {}) as Record<string, unknown>

  // IDs in paths and queries.
  for (const person of [user, manager, administrator])
    await due(
      `session of somebody else, by ${person.userName}`,
      ask('DELETE', `Auth/Sessions/${others.session}`, person.token),
      404,
    )
  for (const person of [user, manager]) {
    await due(
      `API token of somebody else, by ${person.userName}`,
      ask('DELETE', `admin/apiTokens/${others.apiToken.id}`, person.token),
      403,
      404,
    )
    await due(
      `the same in the query, by ${person.userName}`,
      ask('DELETE', `admin/apiTokens?id=${others.apiToken.id}`, person.token),
      403,
      404,
    )
    const listed = jsonOf((await ask('GET', 'admin/apiTokens', person.token)).text) as { userName: string }[]
    holds(
      `${person.userName} sees API tokens of others`,
      listed.every(({ userName }) => userName === person.userName),
    )
  }
  await due('the session counts on', ask('GET', 'admin/profile', other.token), 200)
  await due('the API token counts on', ask('GET', 'admin/profile', others.apiToken.token), 200)
  const own = jsonOf((await ask('GET', 'Auth/Sessions', user.token)).text) as { id: string }[]
  holds('a session of somebody else is listed', !own.some(({ id }) => id === others.session))

  // Arrays: if one object is not accessible, none is changed.
  const exist = async (names: readonly string[]): Promise<number> =>
    (await rows('select 1 from accounts where user_name = any($1)', [names])).length
  const mixed = await addPerson('gate-mixed', 30)
  for (const list of [
    [mixed.userName, administrator.userName],
    [administrator.userName, mixed.userName],
    [mixed.userName, manager.userName, 'nobody'],
  ])
    await due(
      `deleteUsers ${list.join()} by a Manager`,
      ask('POST', 'admin/deleteUsers', manager.token, list),
      403,
      409,
    )
  holds(
    'one of a refused list was deleted',
    (await exist([mixed.userName, administrator.userName, manager.userName])) === 3,
  )
  const unknown = members(
    await due(
      'deleteUsers with a name nobody has',
      ask('POST', 'admin/deleteUsers', manager.token, [mixed.userName, 'nobody']),
      200,
    ),
  )
  holds(
    'a name nobody has is not reported',
    JSON.stringify(unknown) === JSON.stringify({ accepted: [mixed.userName], notFound: ['nobody'] }),
  )
  for (const path of ['deleteAgents', 'deleteAgentsCommands', 'updateAgents', 'fetchagentsdebuglogs'])
    await due(`${path} by a User`, ask('POST', `agents/${path}`, user.token, [b.agentId, unknownId]), 403)
  await due(
    'a configuration with one host that is none',
    ask('POST', 'agents/configuration', manager.token, [
      { uuid: a.agentId, hostIdentifier: null, ipAddress: null, agentConfigViewResource: { isSystemArmed: 'ARM' } },
      { uuid: unknownId, hostIdentifier: null, ipAddress: null, agentConfigViewResource: { isSystemArmed: 'ARM' } },
    ]),
    400,
  )
  const queued = await rows('select 1 from commands where agent_id = $1', [a.agentId])
  holds('one host of a refused configuration was told', queued.length === 0)

  // A host can access only its own data.
  await call('POST', `${api}/agents/fetchagentsdebuglogs`, [a.agentId], admin.token)
  const [command] = (await call('GET', `${api}/agents/commands?hostUuid=${a.agentId}`, undefined, admin.token))
    .data as { id: string; state: string }[]
  const commandId = String(command?.id)
  await ask('POST', agentPaths.checkIn, b.token, b.checkIn({ acks: [{ commandId, outcome: 'confirmed' }] }))
  const [still] = (await call('GET', `${api}/agents/commands?hostUuid=${a.agentId}`, undefined, admin.token)).data as {
    state: string
  }[]
  holds(`a host ended the command of another: ${still?.state}`, still?.state === command?.state)
  await due(
    'debug logs for the command of another host',
    ask('POST', `${agentPaths.debugLogs}/${commandId}`, b.token, Buffer.from([31, 139, 8, 0]), {
      headers: { 'content-type': 'application/gzip' },
    }),
    403,
    404,
    409,
  )
  await due(
    'a check-in as the start of another host',
    ask('POST', agentPaths.checkIn, b.token, b.checkIn({ bootId: a.bootId })),
    401,
    403,
    409,
  )
  const policy = members(
    await due(
      'the own policy',
      ask('POST', agentPaths.policy, b.token, { nonce: 'bm9uY2Utb2YtMzItY2hhcmFjdGVycw' }),
      200,
    ),
  )
  holds(
    'a policy names another host',
    JSON.stringify(policy).includes(b.agentId) && !JSON.stringify(policy).includes(a.agentId),
  )
  await due(
    'debug logs of one host below another',
    ask('GET', `agents/agent/${b.agentId}/debuglogs/${commandId}`, manager.token),
    404,
  )

  // A worker can send results only for its own polls.
  const worker = principals.find(({ is }) => is === 'worker')?.token as string
  const brought = members(
    await due(
      'a result nobody asked for',
      ask('POST', workerPaths.results, worker, {
        results: [unknownId, a.agentId].map((id) => emptyResult({ id, fence: 1 })),
      }),
      200,
    ),
  )
  holds('a result nobody asked for is stored', (brought.stored as string[] | undefined)?.length === 0)

  // Files: exports contain only readable data, and uploads change only writable data.
  const allowed: string[] = []
  for (const list of reportListNames) {
    const got = await ask('POST', 'reports/export', tokens[30].token, { list, format: 'csv' })
    if (got.status === 200) allowed.push(list)
    tally.tried++
    if (got.status !== 200 && got.status !== 403) tally.wrong.push(`export of ${list} by a User: ${got.status}`)
  }
  holds(
    `a User exports the audit trail: ${allowed.join()}`,
    !allowed.some((list) => /audit/i.test(list)) && allowed.length > 5,
  )
  const file =
    '--x\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\nType,Identifier,Name,Tags\r\nTag,,,gate-uploaded\r\n--x--\r\n'
  const form = { headers: { 'content-type': 'multipart/form-data; boundary=x' } }
  await due('tags from a file, by a User', ask('POST', 'generalconfig/importtags', user.token, file, form), 403)
  holds(
    'a tag of a refused file is there',
    !(await ask('GET', 'generalconfig/gethashtags', admin.token)).text.includes('gate-uploaded'),
  )

  // A ticket has the rights of its creator.
  const { ticket } = await call('POST', `${api}/Auth/Ticket`, undefined, user.token)
  await due(
    'the configuration by the ticket of a User',
    wire.send({ method: 'GET', path: `${api}/generalconfig/document?_ticket=${ticket}` }),
    403,
  )
}

doorTest(
  'refuses access to objects of others by their IDs',
  async ({ root }): Promise<Outcome> =>
    withEnvironment({ root }, async (environment) => {
      const tally: Tally = { tried: 0, wrong: [] }
      await tryObjects(environment, tally)
      return {
        findings: [
          atLeast('cases', tally.tried, 50),
          atMost('reached or done by the wrong one', tally.wrong.length, 0),
          atMost('server ended', environment.server.isRunning() ? 0 : 1, 0),
        ],
        notes: tally.wrong.slice(0, 20),
      }
    }),
)
