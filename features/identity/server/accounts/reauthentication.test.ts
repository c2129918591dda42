import { sql } from '@portcullis/platform/server/db/sql.ts'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { whileLocked } from '@portcullis/server/test/locked.ts'
import { person } from '@portcullis/server/test/people.ts'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { permissionsOf } from '#features/contract.ts'

const base = '/prime/webui'
const challenge = 'Bearer error="insufficient_user_authentication", max_age=300'
let t: TestApp
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(() => t.close())

type Api = ReturnType<TestApp['as']>

/** Calls an operation that needs fresh authentication and changes nothing: the account has no factors. */
const tryFresh = (api: Api, userName: string) => api.post(`${base}/admin/resetmfa`, { userName })
const prove = (api: Api, given: object) => api.post(`${base}/auth/reauthenticate`, given)
const login = async (userName: string, password: string) =>
  (await t.as(undefined).post(`${base}/Auth/LocalLogin`, { username: userName, password })).json()
const auditOf = async (action: string, userName: string) =>
  t.db.withClient(async (client) =>
    (
      await client.query('select record from audit_records where action = $1 and actor = $2 order by audit_id', [
        action,
        userName,
      ])
    ).rows.map(({ record }) => JSON.parse(record)),
  )

/** Creates an Administrator whose session was fresh six minutes ago, and another account. */
const stale = async () => {
  const [admin, other] = [await person(t, { profile: 10 }), await person(t)]
  t.clock.advance(6 * 60_000)
  return { ...admin, other: other.userName }
}

describe('fresh authentication (RFC 9470)', () => {
  it('a session is fresh for exactly 300 seconds after its sign-in', async () => {
    const [admin, other] = [await person(t, { profile: 10 }), await person(t)]
    expect((await tryFresh(admin.api, other.userName)).statusCode).toBe(200)
    t.clock.advance(300_000)
    expect((await tryFresh(admin.api, other.userName)).statusCode).toBe(200)
    t.clock.advance(1)
    const late = await tryFresh(admin.api, other.userName)
    expect(late.statusCode).toBe(401)
    expect(late.json().code).toBe('reauthentication_required')
    expect(late.headers['www-authenticate']).toBe(challenge)
    // Other operations still work.
    expect((await admin.api.get(`${base}/admin/users`)).statusCode).not.toBe(401)
  })

  it('an API token never performs an operation that needs fresh authentication', async () => {
    const [admin, other] = [await person(t, { profile: 10 }), await person(t)]
    const made = await admin.api.post(`${base}/admin/apitokens`, {
      name: 'automation',
      userProfile: 10,
      scopes: permissionsOf(10),
    })
    expect(made.statusCode, made.body).toBe(200)
    const token = t.as(made.json().token)
    const refused = await tryFresh(token, other.userName)
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'session_required'])
    const proof = await prove(token, { password: admin.password })
    expect([proof.statusCode, proof.json().code]).toEqual([403, 'session_required'])
    expect((await token.post(`${base}/auth/reauthenticate/passkey`)).json().code).toBe('session_required')
    expect((await tryFresh(token, other.userName)).json().code).toBe('session_required')
  })

  it('renewing tokens does not make a session fresh', async () => {
    const { userName, password } = await person(t, { profile: 10 })
    const { token, refreshToken } = await login(userName, password)
    const { userName: other } = await person(t)
    expect((await tryFresh(t.as(token), other)).statusCode).toBe(200)
    t.clock.advance(6 * 60_000)
    const renewed = await t.as(undefined).post(`${base}/Auth/RefreshToken`, { refreshToken })
    expect(renewed.statusCode).toBe(200)
    expect((await tryFresh(t.as(renewed.json().token), other)).json().code).toBe('reauthentication_required')
  })

  it('a password makes only the current session fresh, for five minutes', async () => {
    const [admin, { userName: other }] = [await person(t, { profile: 10 }), await person(t)]
    const before = await login(admin.userName, admin.password)
    t.clock.advance(6 * 60_000)
    const proved = await prove(admin.api, { password: admin.password })
    expect(proved.statusCode, proved.body).toBe(200)
    expect(proved.json()).toEqual({ freshUntil: new Date(t.clock.now() + 300_000).toISOString() })
    expect((await tryFresh(admin.api, other)).statusCode).toBe(200)
    expect((await tryFresh(t.as(before.token), other)).json().code).toBe('reauthentication_required')
    expect(await auditOf('session.reauthenticated', admin.userName)).toMatchObject([{ details: 'with a password' }])
    t.clock.advance(300_001)
    expect((await tryFresh(admin.api, other)).json().code).toBe('reauthentication_required')
  })

  it('a wrong password leaves the session stale and is recorded, and the eleventh gets 429', async () => {
    const admin = await stale()
    for (let i = 0; i < 10; i++) {
      const wrong = await prove(admin.api, { password: 'not this one' })
      expect([wrong.statusCode, wrong.json().code]).toEqual([400, 'reauthentication_failed'])
    }
    const limited = await prove(admin.api, { password: admin.password })
    expect(limited.statusCode).toBe(429)
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(800)
    expect((await tryFresh(admin.api, admin.other)).statusCode).toBe(401)
    expect(await auditOf('session.reauthenticationRefused', admin.userName)).toHaveLength(10)
    // The owner can still sign in, and is fresh by that.
    const { token } = await login(admin.userName, admin.password)
    expect((await tryFresh(t.as(token), admin.other)).statusCode).toBe(200)
    t.clock.advance(15 * 60_000 + 1)
    const { token: later } = await login(admin.userName, admin.password)
    expect((await prove(t.as(later), { password: admin.password })).statusCode).toBe(200)
  })

  it('the password of another account is refused', async () => {
    const admin = await stale()
    expect((await prove(admin.api, { password: adminPassword })).json().code).toBe('reauthentication_failed')
    expect((await tryFresh(admin.api, admin.other)).statusCode).toBe(401)
  })

  it('requires exactly one proof', async () => {
    const admin = await stale()
    for (const given of [{}, { password: null }, { password: admin.password, code: '123456' }])
      expect((await prove(admin.api, given)).statusCode).toBe(400)
    expect((await prove(admin.api, { password: admin.password, other: 1 })).statusCode).toBe(400)
    expect((await prove(t.as(undefined), { password: admin.password })).statusCode).toBe(401)
    expect((await tryFresh(admin.api, admin.other)).statusCode).toBe(401)
  })

  it('accepts a code of the authenticator app or a recovery code once', async () => {
    const admin = await stale()
    const { token } = await login(admin.userName, admin.password)
    const api = t.as(token)
    const { secret } = (await api.post(`${base}/Auth/Mfa/totp/start`, { password: admin.password })).json()
    const code = () => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: t.clock.now() })
    const { recoveryCodes } = (await api.post(`${base}/Auth/Mfa/totp/confirm`, { code: code() })).json()
    t.clock.advance(6 * 60_000)
    const used = code()
    expect((await prove(api, { code: used })).statusCode).toBe(200)
    expect((await tryFresh(api, admin.other)).statusCode).toBe(200)
    expect((await prove(api, { code: used })).json().code).toBe('reauthentication_failed')
    t.clock.advance(5 * 60_000 + 1)
    expect((await tryFresh(api, admin.other)).statusCode).toBe(401)
    expect((await prove(api, { recoveryCode: recoveryCodes[0] })).statusCode).toBe(200)
    expect((await prove(api, { recoveryCode: recoveryCodes[0] })).json().code).toBe('reauthentication_failed')
    expect((await tryFresh(api, admin.other)).statusCode).toBe(200)
  })

  it('wrong codes and wrong passwords count together, and do not limit sign-ins', async () => {
    const admin = await stale()
    for (let i = 0; i < 5; i++) {
      expect((await prove(admin.api, { code: '111111' })).statusCode).toBe(400)
      expect((await prove(admin.api, { password: 'not this one' })).statusCode).toBe(400)
    }
    expect((await prove(admin.api, { code: '111111' })).statusCode).toBe(429)
    expect((await login(admin.userName, admin.password)).token).toEqual(expect.any(String))
  })

  it('an ended session is not made fresh', async () => {
    const admin = await stale()
    expect((await admin.api.post(`${base}/Auth/Logout`)).statusCode).toBe(200)
    expect((await prove(admin.api, { password: admin.password })).statusCode).toBe(401)
  })

  it('a session that ends while its proof is checked is not made fresh, nor recorded as such', async () => {
    const admin = await stale()
    const its = sql`user_name = ${admin.userName}`
    const answer = await whileLocked(
      t,
      {
        lock: sql`select from accounts where ${its} for update`,
        n: 1,
        change: sql`delete from sessions where account_id = (select account_id from accounts where ${its})`,
      },
      () => prove(admin.api, { password: admin.password }),
    )
    expect([answer.statusCode, answer.json().code]).toEqual([401, 'session_ended'])
    expect(await auditOf('session.reauthenticated', admin.userName)).toEqual([])
  })

  it('sessions from before the upgrade are not fresh', async () => {
    const [admin, other] = [await person(t, { profile: 10 }), await person(t)]
    await t.db.withClient((client) =>
      client.query(
        'update sessions set authenticated_at = null where account_id = (select account_id from accounts where user_name = $1)',
        [admin.userName],
      ),
    )
    t.clock.advance(31_000)
    expect((await tryFresh(admin.api, other.userName)).json().code).toBe('reauthentication_required')
  })
})
