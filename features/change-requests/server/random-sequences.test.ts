import { randomInt } from 'node:crypto'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { newId } from '@portcullis/platform/server/ids.ts'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest } from '@portcullis/server/test/approvals.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  accountOps,
  gate,
  type Name,
  names,
  type Op,
  opsOf,
  start,
  step,
  type World,
} from '../../../domain/test/change-gate.model.ts'

const base = '/prime/webui'
const sequences = 500
const operationsOfOne = 5
/** Hosts that one person may release or allow devices on within 15 minutes. */
const limit = 1

let t: TestApp
let agents: TestAgent[]
/** Hash of `adminPassword`, which every account uses, so the test can open any session of the model. */
let passwordHash: string
beforeAll(async () => {
  t = await startTestApp({ listen: true })
  passwordHash = (await t.db.query<{ password_hash: string }>(sql`select a.password_hash from accounts a`))[0]
    ?.password_hash as string
  agents = await Promise.all([1, 2].map(() => enrolAgent(t)))
  const admin = await t.admin()
  const { settings } = (await admin.get(`${base}/policy`)).json()
  await admin.put(`${base}/policy/settings`, { ...settings, twoPersonHosts: limit })
}, 60_000)
afterAll(() => t.close())

/** Returns random numbers that repeat for a seed (mulberry32). */
const randomOf = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let x = Math.imul(state ^ (state >>> 15), 1 | state)
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
    return (((x ^ (x >>> 14)) >>> 0) * below) >>> 0 === 0 ? 0 : Math.floor((((x ^ (x >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** Creates the accounts of one sequence with an old creation date, and deletes those of the previous one. */
const createAccounts = async (n: number): Promise<(name: Name) => string> => {
  const userName = (name: Name): string => `${name}-${n}`
  const ids = ['a', 'b', 'm'].map(() => newId(t.clock.now()))
  await t.db.execute(sql`
    with gone as (delete from change_requests), released as (delete from released_hosts),
      influences as (delete from account_influences), rules as (delete from policy_rules), ordered as (delete from commands)
    insert into accounts (account_id, user_name, name_key, password_hash, user_profile, first_name, last_name, email, phone, image,
      auth_source, is_enabled, must_change_password, created_at)
    select x.id, x.name || '-' || ${n}::int, x.name || '-' || ${n}::int, ${passwordHash}, x.profile, '', '',
      'somebody@example.org', null, '', 'Local', true, false, ${new Date(t.clock.now() - 1_000)}
    from unnest(${ids}::uuid[], array['a', 'b', 'm'], array[10, 10, 20]) x(id, name, profile)`)
  await t.db.execute(sql`delete from accounts a where not a.account_id = any(${ids}::uuid[])`)
  return userName
}

/** Checks that one person alone got nothing approved and carried out nothing that needs approval. */
const assertNothingWentThrough = async (
  userName: (name: Name) => string,
  world: World,
  history: string,
): Promise<void> => {
  const since = new Date(t.clock.now() - 15 * 60_000)
  const [found] = await t.db.query<Record<string, unknown>>(sql`
    select (select count(*)::int from change_requests q where q.state = 'Approved') as approved,
      (select count(*)::int from commands c where c.created_at > ${since}) as commands,
      (select count(*)::int from policy_rules r where r.effect = 'allow' and r.agent_id is null) as wide,
      (select count(*)::int from policy_rules r where r.effect = 'allow' and r.created_at > ${since}) as rules,
      (select count(*)::int from config_items c where c.name like 'LDAP%') as ldap,
      (select c.value from config_items c where c.name = 'VENDORA_TWO_PERSON_LIMIT') as asked,
      (select a.is_enabled and a.user_profile = 10 and a.email = 'somebody@example.org' and a.token_version = 1
        from accounts a where a.name_key = ${userName('b')}) as unharmed,
      (select json_object_agg(split_part(a.name_key, '-', 1), json_build_object('profile', a.user_profile, 'isEnabled', a.is_enabled))
        from accounts a) as accounts`)
  expect(found, history).toMatchObject({ approved: 0, wide: 0, ldap: 0, asked: String(limit), unharmed: true })
  // The model and the server agree about every account.
  expect(found?.accounts, history).toEqual(world.accounts)
  expect(Number(found?.commands), history).toBeLessThanOrEqual(limit)
  expect(Number(found?.rules), history).toBeLessThanOrEqual(limit)
}

/** Sends an operation of the model as HTTP requests. */
const perform = async (op: Op, world: World, userName: (name: Name) => string, credentials: Map<string, string>) => {
  if (op.op === 'wait') {
    t.clock.advance(op.hours * 3_600_000 + 1_000)
    for (const key of credentials.keys()) if (!key.startsWith('token')) credentials.delete(key)
    return
  }
  const isToken = !world.sessions.includes(op.who)
  const key = `${isToken ? 'token' : 'session'} ${op.who}`
  const api = async () => {
    const known = credentials.get(key)
    if (known !== undefined) return t.as(known)
    const token = await t.signIn(userName(op.who), adminPassword).catch(() => 'none')
    credentials.set(key, token)
    return t.as(token)
  }
  const send = async () => {
    const caller = await api()
    const target = 'target' in op ? userName(op.target) : ''
    switch (op.op) {
      case 'release':
        return caller.post(
          `${base}/agents/configuration`,
          agents
            .slice(0, op.hosts)
            .map(({ agentId }) => ({ uuid: agentId, agentConfigViewResource: { isSystemArmed: 'free' } })),
        )
      case 'allow':
        return caller.post(`${base}/policy/rules`, {
          effect: 'allow',
          kinds: ['Keyboard'],
          reason: 'random',
          ...(op.hosts === 1 ? { host: agents[0]?.agentId } : {}),
        })
      case 'raiseLimit': {
        const { settings } = (await caller.get(`${base}/policy`)).json()
        return caller.put(`${base}/policy/settings`, { ...settings, twoPersonHosts: null })
      }
      case 'signIn':
        return caller.post(`${base}/generalconfig/AddOrUpdateLDAPServer`, {
          LDAP_URL: 'ldaps://192.0.2.7',
          LDAP_SECURITY: 'tls',
          LDAP_BASE_DN: 'dc=example',
          LDAP_ADMINISTRATOR_GROUP: 'cn=mine,dc=example',
        })
      case 'program':
        return caller.post(
          `${base}/agents/updateAgents`,
          agents.map(({ agentId }) => agentId),
        )
      case 'make':
        return caller.post(`${base}/admin/adduser`, {
          userName: target,
          userProfile: op.profile,
          password: adminPassword,
        })
      case 'delete':
        return caller.post(`${base}/admin/deleteUsers`, [target])
      case 'factor':
        return caller.post(`${base}/admin/resetmfa`, { userName: target })
      case 'approve': {
        const [waiting] = await t.db.query<{ id: string }>(
          sql`select q.request_id as id from change_requests q where q.state = 'Waiting' order by q.requested_at desc, q.request_id desc limit 1`,
        )
        return approveRequest(caller, waiting?.id ?? 'none')
      }
      default:
        return caller.post(`${base}/admin/updateuser`, {
          userName: target,
          ...{
            promote: { userProfile: 10 },
            demote: { userProfile: 20 },
            disable: { isEnabled: false },
            enable: { isEnabled: true },
            password: { password: adminPassword },
            email: { email: 'mine@example.org' },
          }[op.op],
        })
    }
  }
  const answer = await send()
  // Its sessions ended in the meantime. Anyone who knows the password signs in again.
  if (answer.statusCode === 401 && !isToken) {
    credentials.delete(key)
    await send()
  }
}

describe('random sequences over HTTP', () => {
  it(`${sequences} sequences of one Administrator find no bypass, half of them with a stolen Manager token`, async () => {
    const seed = Number(process.env.PORTCULLIS_GATE_SEED ?? randomInt(2 ** 31))
    console.info(`seed ${seed}; PORTCULLIS_GATE_SEED=${seed} repeats it`)
    const random = randomOf(seed)
    const tried = new Map<string, number>()
    for (let n = 0; n < sequences; n++) {
      t.clock.advance(16 * 60_000)
      const withToken = n % 2 === 1
      const userName = await createAccounts(n)
      const credentials = new Map<string, string>()
      if (withToken) {
        const mia = t.as(await t.signIn(userName('m'), adminPassword))
        const made = await mia.post(`${base}/admin/apiTokens`, {
          name: 'stolen',
          scopes: ['fleet:read', 'fleet:write'],
        })
        credentials.set('token m', made.json().token)
      }
      let world = start(withToken)
      const history: string[] = []
      for (let i = 0; i < operationsOfOne; i++) {
        const all = opsOf(world)
        // Each kind of operation is equally likely, approvals twice as likely.
        const kinds = [...new Set(all.map(({ op }) => op)), ...(world.request === null ? [] : (['approve'] as const))]
        const kind = kinds[random(kinds.length)]
        const some = all.filter(({ op }) => op === kind)
        const op = some[random(some.length)] as Op
        history.push(JSON.stringify(op))
        tried.set(op.op, (tried.get(op.op) ?? 0) + 1)
        await perform(op, world, userName, credentials)
        world = step(world, op, gate)
        await assertNothingWentThrough(userName, world, `seed ${seed}, sequence ${n}: ${history.join(' ')}`)
      }
    }
    console.info(`operations: ${[...tried].map(([op, count]) => `${op} ${count}`).join(', ')}`)
    expect([...tried.keys()]).toEqual(
      expect.arrayContaining([...accountOps, 'make', 'approve', 'release', 'allow', 'wait']),
    )
    expect(names.length).toBe(5)
  }, 240_000)
})
