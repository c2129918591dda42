/** Seeds objects that belong to one user, and the principals that try to access them. */
import { type Permission, permissionsOf, type UserProfile } from '@portcullis/features/contract.ts'
import { api, type Environment, type Person } from './environment.ts'
import type { Host } from './host.ts'
import { contractById, filled, type Offered, unknownId } from './operations.ts'

/** A caller of the API. */
export interface Principal {
  name: string
  token: string | undefined
  /** Profile of a person or an API token. Absent: a caller without an account. */
  profile?: UserProfile
  /** Owner of the key, if it is not a person. */
  is?: 'agent' | 'worker'
  /** True for API tokens, which can never do what needs fresh authentication. */
  isApiToken?: boolean
  /** Can access only its own account until the password is changed. */
  mustChangePassword?: boolean
}

export type Fixture = Awaited<ReturnType<typeof seedFixture>>

/** Creates all principals, and one object of each kind that a single call can create. */
export const seedFixture = async (environment: Environment) => {
  const { call, admin, addPerson, addHost, addWorker, enrolmentToken, workerToken } = environment
  const people: Record<'user' | 'manager' | 'administrator' | 'other' | 'newcomer', Person> = {
    user: await addPerson('gate-user', 30),
    manager: await addPerson('gate-manager', 20),
    administrator: await addPerson('gate-administrator', 10),
    other: await addPerson('gate-other', 30),
    newcomer: await addPerson('gate-newcomer', 10, { mustChangePassword: true }),
  }
  const apiToken = async (
    name: string,
    userProfile: UserProfile,
    by: Person = admin,
    scopes: readonly Permission[] = permissionsOf(userProfile),
  ) => {
    const made = await call('POST', `${api}/admin/apiTokens`, { name, userProfile, scopes }, by.token)
    return { id: String(made.id), token: String(made.token) }
  }
  const idOf = async (path: string, body: unknown): Promise<string> => {
    const made = await call('POST', `${api}/${path}`, body, admin.token)
    return String(made.id ?? (made.rule as { id?: unknown } | undefined)?.id)
  }
  const hosts: [Host, Host] = [await addHost('gate-host-a'), await addHost('gate-host-b')]
  const sessions = (await call('GET', `${api}/Auth/Sessions`, undefined, people.other.token)) as unknown as {
    id: string
  }[]
  const schedule = contractById.get('addReportSchedule')?.examples?.request
  const feedToken = await apiToken('of a feed', 20, admin, ['feeds:write'])
  const others = {
    feed: await idOf('ingest/feeds', { name: 'gate feed', tokenId: feedToken.id }),
    feedToken,
    session: String(sessions[0]?.id),
    apiToken: await apiToken('of somebody else', 30, people.other),
    rule: await idOf('policy/rules', { effect: 'allow', vid: '0781', pid: '5571', reason: 'gate' }),
    grant: await idOf('policy/grants', {
      vid: '0781',
      pid: '5572',
      reason: 'gate',
      expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    }),
    enrolmentToken: await idOf('agents/enrollmenttokens', { name: 'to be taken away', maxUses: 1 }),
    schedule: await idOf('reports/schedules', schedule),
    job: String((await call('POST', `${api}/assetproducer/ReplayAll`, undefined, admin.token)).jobId),
  }
  const tokens = {
    10: await apiToken('of an Administrator', 10),
    20: await apiToken('of a Manager', 20),
    30: await apiToken('of a User', 30),
  }
  const principals: Principal[] = [
    { name: 'anonymous', token: undefined },
    { name: 'User', token: people.user.token, profile: 30 },
    { name: 'Manager', token: people.manager.token, profile: 20 },
    { name: 'Administrator', token: people.administrator.token, profile: 10 },
    { name: 'API token of a User', token: tokens[30].token, profile: 30, isApiToken: true },
    { name: 'API token of a Manager', token: tokens[20].token, profile: 20, isApiToken: true },
    { name: 'API token of an Administrator', token: tokens[10].token, profile: 10, isApiToken: true },
    {
      name: 'Administrator who has to change the password',
      token: people.newcomer.token,
      profile: 10,
      mustChangePassword: true,
    },
    { name: 'agent', token: hosts[0].token, is: 'agent' },
    { name: 'worker', token: await addWorker(), is: 'worker' },
    { name: 'refresh token', token: people.administrator.refreshToken },
    { name: 'enrolment token', token: await enrolmentToken() },
    { name: 'worker token', token: await workerToken() },
  ]
  return { people, hosts, others, tokens, principals }
}

/** Returns the id of the fixture's object for `{id}` in a path. */
const idBelow = ({ others }: Fixture, path: string): string => {
  const ids = {
    '/ingest/feeds/': others.feed,
    '/Auth/Sessions/': others.session,
    '/apiTokens/': others.apiToken.id,
    '/policy/rules/': others.rule,
    '/policy/grants/': others.grant,
    '/enrollmenttokens/': others.enrolmentToken,
    '/reports/schedules/': others.schedule,
    '/jobs/': others.job,
    '/notices/': '1',
    '/mutes/': '1',
  }
  return Object.entries(ids).find(([part]) => path.includes(part))?.[1] ?? unknownId
}

/** Returns values that identify an existing object, or one that cannot exist. */
export const valuesFor = (
  fixture: Fixture,
  { path }: Pick<Offered, 'path'>,
  isThere: boolean,
): Record<string, string> => ({
  id: isThere ? idBelow(fixture, path) : /\/(?:notices|mutes)\//.test(path) ? '2147483647' : unknownId,
  agentId: isThere ? fixture.hosts[0].agentId : unknownId,
  uuid: isThere ? fixture.hosts[0].agentId : unknownId,
  jobId: isThere ? fixture.others.job : unknownId,
  commandId: unknownId,
  names: isThere ? 'SMTP_HOST' : 'NOBODY_KNOWS_THIS',
  prefixes: isThere ? 'SMTP_' : 'NOBODY_KNOWS_THIS',
  version: isThere ? '1' : '2147483647',
  auditTrailID: isThere ? '1' : '2147483647',
  platform: isThere ? 'linux-x64' : 'nowhere',
  hash: '0'.repeat(64),
  sha256: '0'.repeat(64),
  kind: 'stream',
  name: 'nobody',
})

export const pathFor = (fixture: Fixture, offered: Pick<Offered, 'path'>, isThere = true): string =>
  filled(offered.path, valuesFor(fixture, offered, isThere))
