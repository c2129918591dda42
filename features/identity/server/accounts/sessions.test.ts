import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { loadKeys } from '@portcullis/platform/server/keys.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { whileLocked } from '@portcullis/server/test/locked.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const auth = '/prime/webui/Auth'
const profile = '/prime/webui/admin/profile'

/** Polls until the condition holds. Returns how long it took in milliseconds. */
const until = async (condition: () => Promise<boolean>, limitMs = 20_000): Promise<number> => {
  const startedAt = performance.now()
  while (!(await condition())) {
    if (performance.now() - startedAt > limitMs) throw new Error(`not within ${limitMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return performance.now() - startedAt
}

describe('access tokens', () => {
  let t: TestApp
  let user: Person
  beforeAll(async () => {
    t = await startTestApp()
    user = await person(t, { profile: 10 })
  })
  afterAll(() => t.close())

  const status = async (token: string) => (await t.as(token).get(profile)).statusCode
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString())
  const key = () => loadKeys(join(t.keyDir, 'key')).derive('access-token').reveal()

  it('expire after 15 minutes', async () => {
    const token = await t.signIn(user.userName, user.password)
    expect(await status(token)).toBe(200)
    t.clock.advance(15 * 60_000 - 1_000)
    expect(await status(token)).toBe(200)
    t.clock.advance(1_000)
    expect(await status(token)).toBe(401)
  })

  it('are refused if any part of them is forged', async () => {
    const token = await t.signIn(user.userName, user.password)
    const claims = claimsOf(token)
    const [header, payload, signature] = token.split('.') as [string, string, string]
    const sign = (change: Record<string, unknown>, head: Record<string, unknown> = {}, secret: Buffer = key()) => {
      const body = `${encode({ alg: 'HS256', typ: 'at+jwt', ...head })}.${encode({ ...claims, ...change })}`
      return `${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`
    }
    // The helper signs valid tokens, so each refusal below has exactly one reason.
    expect(await status(sign({}))).toBe(200)
    const forged: [string, string][] = [
      ...['none', 'None', 'NONE', 'nOnE', ''].map((alg): [string, string] => [
        `alg ${alg}`,
        `${encode({ alg, typ: 'at+jwt' })}.${payload}.`,
      ]),
      ['no signature', `${header}.${payload}.`],
      ['two parts', `${header}.${payload}`],
      ['another key', sign({}, {}, Buffer.alloc(32, 1))],
      ['empty key', sign({}, {}, Buffer.alloc(0))],
      [
        'public key as secret',
        sign({}, {}, Buffer.from(loadKeys(join(t.keyDir, 'key')).command.newest().publicKey, 'base64')),
      ],
      ['another purpose', sign({}, {}, loadKeys(join(t.keyDir, 'key')).derive('agent-session').reveal())],
      ['HS512', sign({}, { alg: 'HS512' })],
      ['typ JWT', sign({}, { typ: 'JWT' })],
      ['no typ', sign({}, { typ: undefined })],
      ['kid', sign({}, { kid: '../../dev/null' })],
      ['jwk', sign({}, { jwk: { kty: 'oct', k: 'AA' } })],
      ['jku', sign({}, { jku: 'https://evil.example/keys' })],
      ['crit', sign({}, { crit: ['exp'] })],
      ['aud', sign({ aud: 'portcullis-agent' })],
      ['aud list', sign({ aud: ['portcullis-console', 'x'] })],
      ['no aud', sign({ aud: undefined })],
      ['iss', sign({ iss: 'x' })],
      ['no exp', sign({ exp: undefined })],
      ['exp text', sign({ exp: String(claims.exp) })],
      ['exp far', sign({ exp: claims.exp + 86_400 })],
      ['expired', sign({ exp: claims.iat - 1 })],
      ['from the future', sign({ iat: claims.iat + 3600, exp: claims.exp + 3600 })],
      ['other version', sign({ ver: claims.ver + 1 })],
      ['version text', sign({ ver: String(claims.ver) })],
      ['other account', sign({ sub: '01936f2a-7c11-7abc-8def-0123456789ab' })],
      ['account is SQL', sign({ sub: "' or 1=1 --" })],
      ['other session', sign({ sid: '01936f2a-7c11-7abc-8def-0123456789ab' })],
      ['session is not an id', sign({ sid: 'x' })],
      ['session list', sign({ sid: [claims.sid] })],
    ]
    for (const [why, bad] of forged) expect([why, await status(bad)]).toEqual([why, 401])
    expect(await status(token)).toBe(200)
    expect(signature).not.toBe('')
  })

  it('are refused if any single character changes', async () => {
    const token = await t.signIn(user.userName, user.password)
    for (let at = 0; at < token.length; at++) {
      // The last character of a part has unused bits. Changing those changes nothing.
      if (at === token.length - 1 || token[at + 1] === '.') continue
      const changed = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`
      expect([at, await status(changed)]).toEqual([at, 401])
    }
  })

  it('of agents do not work for people, and those of people do not work for agents', async () => {
    const agentLike = await new SignJWT({})
      .setProtectedHeader({ alg: 'HS256', typ: 'agent+jwt' })
      .setSubject('01936f2a-7c11-7abc-8def-0123456789ab')
      .setIssuer('portcullis')
      .setAudience('portcullis-agent')
      .setIssuedAt(Math.floor(t.clock.now() / 1000))
      .setExpirationTime(Math.floor(t.clock.now() / 1000) + 600)
      .sign(new Uint8Array(key()))
    expect(await status(agentLike)).toBe(401)
  })
})

describe('sessions', () => {
  let t: TestApp
  beforeAll(async () => {
    t = await startTestApp()
  })
  afterAll(() => t.close())

  const login = async (user: Person, headers: Record<string, string> = {}) =>
    t.as(undefined).post(`${auth}/LocalLogin`, { username: user.userName, password: user.password }, headers)
  const refresh = (refreshToken: string | null, headers: Record<string, string> = {}) =>
    t.as(undefined).post(`${auth}/RefreshToken`, refreshToken === null ? {} : { refreshToken }, headers)
  const status = async (token: string) => (await t.as(token).get(profile)).statusCode

  it('continue with rotating refresh tokens, and end if one is used twice', async () => {
    const user = await person(t)
    const first = (await login(user)).json()
    const second = await refresh(first.refreshToken)
    expect(second.statusCode).toBe(200)
    expect(second.json().refreshToken).not.toBe(first.refreshToken)
    expect(await status(second.json().token)).toBe(200)
    const again = await refresh(first.refreshToken)
    expect([again.statusCode, again.json().code]).toEqual([401, 'session_ended'])
    // The session ended for both holders.
    expect(await status(second.json().token)).toBe(401)
    expect((await refresh(second.json().refreshToken)).statusCode).toBe(401)
    // The account's other session did not.
    expect((await user.api.get(profile)).statusCode).toBe(200)
  })

  it('end if one refresh token is used twice at the same time', async () => {
    const user = await person(t)
    const { refreshToken } = (await login(user)).json()
    const answers = await whileLocked(
      t,
      { lock: sql`select from session_refresh_tokens r where r.used_at is null for update`, n: 2 },
      () => Promise.all([refresh(refreshToken), refresh(refreshToken)]),
    )
    expect(answers.map((answer) => answer.statusCode).sort()).toEqual([200, 401])
    const winner = answers.find((answer) => answer.statusCode === 200)?.json()
    expect((await refresh(winner.refreshToken)).statusCode).toBe(401)
  })

  it('do not continue with anything else', async () => {
    for (const token of ['x', `pr_${'A'.repeat(53)}`, '', 'pr_', ' '])
      expect([400, 401]).toContain((await refresh(token)).statusCode)
    expect((await refresh(null)).statusCode).toBe(401)
    const user = await person(t)
    expect((await refresh(user.token)).statusCode).toBe(401)
    expect((await login(user)).json().refreshToken).toMatch(/^pr_/)
    const rows = await t.db.query<{ hash: Buffer }>(sql`select r.token_hash as hash from session_refresh_tokens r`)
    expect(rows.every((row) => row.hash.length === 32)).toBe(true)
  })

  it('keep the console’s refresh token in a cookie that scripts cannot read', async () => {
    const user = await person(t)
    const answer = await login(user, { 'x-portcullis-console': '1' })
    expect(answer.json().refreshToken).toBeNull()
    const cookie = String(answer.headers['set-cookie'])
    expect(cookie).toMatch(
      /^portcullis_refresh=pr_[\w-]+; Path=\/prime\/webui\/Auth; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    )
    const pair = cookie.split(';')[0] as string
    const next = await refresh(null, { cookie: `other=1; ${pair}` })
    expect([next.statusCode, next.json().refreshToken]).toEqual([200, null])
    expect(String(next.headers['set-cookie'])).toMatch(/^portcullis_refresh=pr_/)
    const reloaded = await refresh(null, { cookie: pair })
    expect([reloaded.statusCode, String(reloaded.headers['set-cookie']).includes('pr_')]).toEqual([200, true])
    t.clock.advance(5_000)
    const stolen = await refresh(null, { cookie: pair })
    expect(stolen.statusCode).toBe(401)
    expect(String(stolen.headers['set-cookie'])).toContain('portcullis_refresh=; ')
    const foreign = await refresh(null, { cookie: pair, origin: 'https://evil.example' })
    expect(foreign.json().code).toBe('origin_refused')
  })

  it('expire after 30 idle minutes', async () => {
    const user = await person(t)
    const { token, refreshToken } = (await login(user)).json()
    t.clock.advance(14 * 60_000)
    expect(await status(token)).toBe(200)
    // The use is stored after the response.
    const used = sql`select from sessions s where s.last_used_at = ${new Date(t.clock.now())}`
    await expect.poll(() => t.db.execute(used)).toBe(1)
    t.clock.advance(29 * 60_000)
    const next = await refresh(refreshToken)
    expect(next.statusCode).toBe(200)
    t.clock.advance(30 * 60_000 + 1)
    expect((await refresh(next.json().refreshToken)).statusCode).toBe(401)
  })

  it('expire after 12 hours, even in use', async () => {
    const user = await person(t)
    let { refreshToken, token, expiresAt } = (await login(user)).json()
    const startedAt = t.clock.now()
    while (t.clock.now() - startedAt < 12 * 3_600_000 - 10 * 60_000) {
      t.clock.advance(10 * 60_000)
      ;({ refreshToken, token, expiresAt } = (await refresh(refreshToken)).json())
    }
    expect(await status(token)).toBe(200)
    // The last access token expires with its session.
    expect(Date.parse(expiresAt)).toBeLessThanOrEqual(startedAt + 12 * 3_600_000)
    t.clock.advance(10 * 60_000)
    expect(await status(token)).toBe(401)
    expect((await refresh(refreshToken)).statusCode).toBe(401)
  })

  it('are listed for their owner, who alone can end them', async () => {
    const [user, other] = [await person(t), await person(t)]
    const second = (await login(user, { 'user-agent': 'Console/1' })).json()
    const list = (await user.api.get(`${auth}/Sessions`)).json()
    expect(list).toHaveLength(2)
    expect(list.filter((row: { isCurrent: boolean }) => row.isCurrent)).toHaveLength(1)
    const id = list.find((row: { isCurrent: boolean }) => !row.isCurrent).id
    expect((await other.api.delete(`${auth}/Sessions/${id}`)).statusCode).toBe(404)
    for (const bad of ['x', '01936f2a-7c11-7abc-8def-0123456789ab', "'"])
      expect((await user.api.delete(`${auth}/Sessions/${bad}`)).statusCode).toBe(404)
    expect(await status(second.token)).toBe(200)
    expect((await user.api.delete(`${auth}/Sessions/${id}`)).json()).toEqual({ ended: true })
    expect(await status(second.token)).toBe(401)
    expect((await user.api.delete(`${auth}/Sessions/${id}`)).statusCode).toBe(404)
    expect((await user.api.post(`${auth}/Logout`)).json()).toEqual({ ended: true })
    expect(await status(user.token)).toBe(401)
  })

  it('are limited to the newest 200 of an account', async () => {
    const user = await person(t)
    for (let batch = 0; batch < 21; batch++)
      await Promise.all(
        Array.from({ length: 10 }, () =>
          t.as(undefined).post('/prime/webui/auth/signin', { username: user.userName, password: user.password }),
        ),
      )
    const [row] = await t.db.query<{ n: number }>(sql`
      select count(*) as n from sessions s join accounts a using (account_id) where a.user_name = ${user.userName}`)
    expect(row?.n).toBe(200)
  })

  it('store their use at most once a minute', async () => {
    const user = await person(t)
    const used = async () => (await user.api.get(`${auth}/Sessions`)).json()[0].lastUsedAt
    const before = await used()
    t.clock.advance(59_000)
    expect(await used()).toBe(before)
    t.clock.advance(2_000)
    await user.api.get(profile)
    await until(async () => (await used()) !== before)
  })

  it('are deleted after they expire', async () => {
    await person(t)
    t.clock.advance(31 * 60_000)
    await t.accounts.maintain()
    expect(await t.db.query(sql`select 1 from sessions s`)).toHaveLength(0)
  })
})

describe('changes of an account, on two replicas', () => {
  let a: TestApp
  let b: TestApp
  beforeAll(async () => {
    a = await startTestApp()
    b = await startTestApp({ database: a.database, clock: a.clock, keyDir: a.keyDir })
  })
  afterAll(async () => {
    await b.close()
    await a.close()
  })

  const update = async (user: Person, change: object) =>
    expect(
      (await (await a.admin()).post('/prime/webui/admin/updateuser', { userName: user.userName, ...change }))
        .statusCode,
    ).toBe(200)
  const changes: [string, (user: Person) => Promise<unknown>][] = [
    ['disabled', (user) => update(user, { isEnabled: false })],
    ['demoted', (user) => update(user, { userProfile: 30 })],
    ['given a password by an Administrator', (user) => update(user, { password: 'set by somebody else' })],
    ['deleted', async (user) => (await a.admin()).post('/prime/webui/admin/deleteUsers', [user.userName])],
    ['signed out', (user) => user.api.post(`${auth}/Logout`)],
    [
      'given a password by its owner',
      (user) =>
        user.api.post('/prime/webui/admin/updateuserdetails', {
          oldPassword: user.password,
          newPassword: 'a fresh fine password',
        }),
    ],
  ]

  it.each(changes)('end its tokens within a second when it is %s', async (_what, change) => {
    const user = await person(a, { profile: 20 })
    const there = b.as(user.token)
    // Both replicas have cached it.
    for (const api of [user.api, there]) expect((await api.get(profile)).statusCode).toBe(200)
    await change(user)
    expect((await user.api.get(profile)).statusCode).toBe(401)
    expect(await until(async () => (await there.get(profile)).statusCode === 401)).toBeLessThan(1_000)
  })

  it('end refresh tokens too, except in the session that changed its own password', async () => {
    const user = await person(a)
    const open = async () =>
      (await a.as(undefined).post(`${auth}/LocalLogin`, { username: user.userName, password: user.password })).json()
    const [one, two] = [await open(), await open()]
    await a.as(one.token).post('/prime/webui/admin/updateuserdetails', {
      oldPassword: user.password,
      newPassword: 'a fresh fine password',
    })
    const refresh = (refreshToken: string) => b.as(undefined).post(`${auth}/RefreshToken`, { refreshToken })
    expect((await refresh(two.refreshToken)).statusCode).toBe(401)
    // Its access token belongs to the former password.
    expect((await a.as(one.token).get(profile)).statusCode).toBe(401)
    const next = await refresh(one.refreshToken)
    expect(next.statusCode).toBe(200)
    expect((await b.as(next.json().token).get(profile)).statusCode).toBe(200)
  })

  it('keep tokens invalid after the account is enabled again', async () => {
    const user = await person(a)
    await update(user, { isEnabled: false })
    await update(user, { isEnabled: true })
    expect((await user.api.get(profile)).statusCode).toBe(401)
  })

  it('take effect without messages: while none arrive, every token is checked in the database', async () => {
    const user = await person(a)
    const there = b.as(user.token)
    expect((await there.get(profile)).statusCode).toBe(200)
    await b.bus.close()
    expect(b.bus.isLive()).toBe(false)
    await update(user, { isEnabled: false })
    expect((await there.get(profile)).statusCode).toBe(401)
  })
})
