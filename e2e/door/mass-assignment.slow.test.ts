// Invariant: A request body accepts no member that the contract does not name.

import type { UserProfile } from '@portcullis/features/contract.ts'
import { api, type Environment, type Person, withEnvironment } from '../../proof/kit/environment.ts'
import { pathFor, seedFixture } from '../../proof/kit/fixture.ts'
import { audienceOf, contractById, offeredBy, profileFor, readDocument } from '../../proof/kit/operations.ts'
import { atLeast, atMost, figure, type Outcome } from '../../proof/kit/verdict.ts'
import { forEachOf } from '../../proof/kit/wire.ts'
import { doorTest } from './door-test.ts'

/** Members that gave more rights in other products. They are JSON, because only JSON can contain `__proto__` as a member. */
const members: readonly string[] = [
  '"role":10',
  '"roles":["admin"]',
  '"isAdmin":true',
  '"profile":10',
  '"userProfile":10',
  '"id":"01977f6e-0000-7c3e-8f2a-000000000000"',
  '"accountId":"01977f6e-0000-7c3e-8f2a-000000000000"',
  '"permissions":["config:write"]',
  '"passwordHash":"x"',
  '"password_hash":"x"',
  '"tokenVersion":0',
  '"createdAt":"2000-01-01T00:00:00Z"',
  '"createdBy":"admin"',
  '"owner":"admin"',
  '"__proto__":{"userProfile":10,"isAdmin":true}',
  '"constructor":{"prototype":{"userProfile":10}}',
]

const nameOf = (member: string): string => /^"(\w+)"/.exec(member)?.[1] as string

/** Members with free content, which the server does not interpret. */
const openPlaces = new Set(['agentConfigViewResource', 'response'])

/** Returns the JSON of a body with one more member, once for each of its objects without that member. */
const withMember = (body: unknown, member: string): string[] => {
  const mark = '"gate mark":0'
  const found: string[] = []
  const walk = (value: unknown, put: (changed: unknown) => unknown): void => {
    if (Array.isArray(value)) {
      // The first item represents all.
      if (value.length > 0) walk(value[0], (changed) => put([changed, ...value.slice(1)]))
    } else if (typeof value === 'object' && value !== null) {
      const known = Object.keys(value).map((name) => name.toLowerCase())
      if (!known.includes(nameOf(member).toLowerCase()))
        found.push(JSON.stringify(put({ 'gate mark': 0, ...value })).replace(mark, () => member))
      for (const [name, inner] of Object.entries(value))
        if (!openPlaces.has(name)) walk(inner, (changed) => put({ ...value, [name]: changed }))
    }
  }
  walk(body, (changed) => changed)
  return found
}

/** An account can be sent back as it was read. The server ignores read-only members. */
const readOnly = (id: string, member: string): boolean =>
  nameOf(member) === 'createdAt' && (id === 'addUser' || id === 'updateUser')

/** Exports filter hosts by `owner`, so that their bodies name this member. */
const named = (id: string, member: string): boolean => {
  const body = contractById.get(id)?.body as { properties?: object; anyOf?: { properties?: object }[] } | undefined
  return [body, ...(body?.anyOf ?? [])].some((one) => Object.hasOwn(one?.properties ?? {}, nameOf(member)))
}

/** Principals that are people who have just signed in. */
const sessionNames = new Set(['User', 'Manager', 'Administrator'])

interface Tally {
  requests: number
  taken: string[]
  other: string[]
}

/** Returns all accounts and tokens without their time of last use. */
const standing = async ({ rows }: Environment): Promise<string> =>
  JSON.stringify([
    await rows(
      'select user_name, user_profile, password_hash, is_enabled, auth_source, created_at from accounts order by user_name',
    ),
    await rows('select * from (select count(*)::int as n, min(user_profile) as least from api_tokens) t'),
  ])

const everyBody = async (environment: Environment, tally: Tally): Promise<{ operations: number; isSame: boolean }> => {
  const fixture = await seedFixture(environment)
  const operations = offeredBy(await readDocument(environment)).filter(
    ({ example }) => typeof example === 'object' && example !== null,
  )
  const before = await standing(environment)
  const cases = operations.flatMap((offered) =>
    // The short run sends every third member with each operation, in turn.
    members
      .filter((member) => !readOnly(offered.id, member) && !named(offered.id, member))
      .flatMap((member) => withMember(offered.example, member).map((body) => ({ offered, body, member }))),
  )
  await forEachOf(cases, 8, async ({ offered, member, body }) => {
    const audience = audienceOf(offered.id)
    if (audience === undefined) return
    const roles =
      audience === 'agent' || audience === 'worker'
        ? fixture.principals.filter(({ is }) => is === audience)
        : // API tokens are refused before the body is read if fresh authentication is required.
          fixture.principals.filter(({ name, isApiToken }) =>
            contractById.get(offered.id)?.fresh === true ? sessionNames.has(name) : isApiToken === true,
          )
    for (const principal of roles) {
      tally.requests++
      const { status, text } = await environment.wire.send({
        method: offered.method,
        path: pathFor(fixture, offered),
        token: principal.token,
        body,
        headers: { 'content-type': 'application/json' },
      })
      const mayCall =
        principal.profile === undefined ||
        audience === 'public' ||
        audience === 'proof' ||
        principal.profile <= profileFor(audience as never)
      const due = mayCall ? 400 : 403
      if (status === due) continue
      const line = `${principal.name}: ${offered.method} ${offered.path} with ${member} in ${body.slice(0, 150)}: ${status} ${text.slice(0, 200)}`
      if (status < 400) tally.taken.push(line)
      else tally.other.push(line)
    }
  })
  return { operations: operations.length, isSame: before === (await standing(environment)) }
}

/** Tries to gain rights, and to leave no Administrator. */
const climb = async (environment: Environment, tally: Tally): Promise<number> => {
  const { wire, admin, addPerson, rows, renew } = environment
  const user = await addPerson('climbing-user', 30)
  const manager = await addPerson('climbing-manager', 20)
  const second = await addPerson('climbing-administrator', 10)
  const victim = await addPerson('victim', 30)
  const profileOf = async (person: Person): Promise<UserProfile | undefined> =>
    (
      await rows<{ user_profile: UserProfile }>('select user_profile from accounts where user_name = $1', [
        person.userName,
      ])
    )[0]?.user_profile
  let steps = 0
  const refused = async (who: Person, path: string, body: unknown, ...due: number[]): Promise<void> => {
    steps++
    const { status, text } = await wire.send({ method: 'POST', path: `${api}/${path}`, token: who.token, body })
    const line = `${who.userName}: POST ${path} ${JSON.stringify(body)}: ${status} ${text.slice(0, 200)} where ${due.join(' or ')} is due`
    if (status < 400) tally.taken.push(line)
    else if (!due.includes(status)) tally.other.push(line)
  }
  for (const profile of [10, 20]) {
    await refused(user, 'admin/updateuserdetails', { userProfile: profile }, 400)
    await refused(user, 'admin/updateuser', { userName: user.userName, userProfile: profile }, 403)
    await refused(user, 'admin/adduser', { userName: 'made-by-user', userProfile: profile }, 403)
    await refused(user, 'admin/apiTokens', { name: 'up', userProfile: profile }, 403)
    await refused(manager, 'admin/adduser', { userName: 'made-by-manager', userProfile: profile }, 403)
    await refused(manager, 'admin/updateuser', { userName: victim.userName, userProfile: profile }, 403)
  }
  await refused(manager, 'admin/updateuser', { userName: manager.userName, userProfile: 10 }, 403)
  await refused(manager, 'admin/apiTokens', { name: 'up', userProfile: 10 }, 403)
  for (const change of [
    { password: 'taken over by a manager' },
    { email: 'x@example.org' },
    { isEnabled: false },
    { mustChangePassword: true },
  ])
    await refused(manager, 'admin/updateuser', { userName: admin.userName, ...change }, 403)
  await refused(manager, 'admin/deleteUsers', [victim.userName, admin.userName], 403)
  await refused(manager, 'admin/resetmfa', { userName: admin.userName }, 403)
  await refused(second, 'admin/updateuser', { userName: second.userName, userProfile: 30 }, 409)
  await refused(second, 'admin/updateuser', { userName: second.userName.toUpperCase(), userProfile: 20 }, 409)
  await refused(second, 'admin/updateuser', { userName: second.userName, isEnabled: false }, 409)
  await refused(second, 'admin/deleteUsers', [victim.userName, second.userName], 409)
  for (const person of [user, manager, second, victim, admin])
    if ((await profileOf(person)) !== person.profile)
      tally.taken.push(`${person.userName} has another profile or no longer exists`)

  const back = { userName: victim.userName, createdAt: '2000-01-01T00:00:00Z', authSource: 'OIDC', mfaEnabled: true }
  await wire.send({ method: 'POST', path: `${api}/admin/updateuser`, token: second.token, body: back })
  const [stored] = await rows<{ created_at: Date; auth_source: string }>(
    'select created_at, auth_source from accounts where user_name = $1',
    [victim.userName],
  )
  if (stored?.created_at.getFullYear() === 2000 || stored?.auth_source !== 'Local')
    tally.taken.push('a member that nobody changes was changed by updateuser')

  // If two Administrators demote each other at once, one of them stays.
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all(
      [[admin, second] as const, [second, admin] as const].map(([by, whom]) =>
        wire.send({
          method: 'POST',
          path: `${api}/admin/updateuser`,
          token: by.token,
          body: { userName: whom.userName, userProfile: 30 },
        }),
      ),
    )
    steps += 2
    const left = await rows(
      "select user_name from accounts where user_profile = 10 and is_enabled and user_name in ('admin', 'climbing-administrator')",
    )
    const others = await rows('select 1 from accounts where user_profile = 10 and is_enabled')
    if (others.length === 0) tally.taken.push(`no Administrator is left: ${answers.map(({ status }) => status).join()}`)
    const still = left[0]?.user_name === admin.userName ? admin : second
    const fallen = still === admin ? second : admin
    await renew(still)
    await wire.send({
      method: 'POST',
      path: `${api}/admin/updateuser`,
      token: still.token,
      body: { userName: fallen.userName, userProfile: 10 },
    })
    await renew(fallen)
  }
  return steps
}

doorTest('ignores members of a body that would give its sender more rights', async ({ root }): Promise<Outcome> => {
  const tally: Tally = { requests: 0, taken: [], other: [] }
  // Run separately, because the Administrators of one part would remain in the other.
  const steps = await withEnvironment({ root }, (environment) => climb(environment, tally))
  const { operations, isSame } = await withEnvironment({ root }, (environment) => everyBody(environment, tally))
  return {
    findings: [
      atLeast('operations with a body', operations, 80),
      figure('requests with a member more', tally.requests),
      atLeast('steps up or down', steps, 30),
      atMost('taken', tally.taken.length, 0),
      atMost('refused for another reason than due', tally.other.length, 0),
      atMost('accounts changed', isSame ? 0 : 1, 0),
    ],
    notes: [...tally.taken.slice(0, 15), ...tally.other.slice(0, 15)],
  }
})
