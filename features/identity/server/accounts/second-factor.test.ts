// Invariant: An account without its required second factor can only set one up.

import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest, trustAccounts } from '@portcullis/server/test/approvals.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const api = '/prime/webui'
const dayMs = 86_400_000

let t: TestApp
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(() => t.close())

const codeOf = (secret: string) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: t.clock.now() })

/** Sets up an authenticator app and returns its secret. */
const enrol = async (who: Pick<Person, 'api' | 'password'>): Promise<string> => {
  const { secret } = (await who.api.post(`${api}/Auth/Mfa/totp/start`, { password: who.password })).json()
  const done = await who.api.post(`${api}/Auth/Mfa/totp/confirm`, { code: codeOf(secret) })
  expect(done.statusCode, done.body).toBe(200)
  return secret
}

/** Signs in with a password and a code. */
const signInByCode = async (who: Person, secret: string) => {
  t.clock.advance(60_000)
  const post = (path: string, payload: object) => t.request({ method: 'POST', url: `${api}/Auth/${path}`, payload })
  const { mfaToken } = (await post('LocalLogin', { username: who.userName, password: who.password })).json()
  const answer = await post('Mfa/signin', { mfaToken, code: codeOf(secret) })
  expect(answer.statusCode, answer.body).toBe(200)
  return t.as(answer.json().token)
}

const require = (by: Person['api'], items: Record<string, string | null>) =>
  by.post(`${api}/generalconfig/AddOrUpdateSecurity`, items)
const codesOf = async (who: Person['api'], paths: readonly string[]) => {
  const answers = []
  for (const path of paths) {
    const answer = await who.get(`${api}/${path}`)
    answers.push(answer.statusCode === 200 ? 200 : answer.json().code)
  }
  return answers
}
const dueOf = async (who: Person['api']) =>
  (await who.get(`${api}/admin/profile`)).json().secondFactorDueAt as string | null

/** Approves the change request that an answer names. */
const approve = async (by: Person, asked: { json(): { detail: string } }) => {
  await trustAccounts(t)
  const [id] = /[0-9a-f-]{36}/.exec(asked.json().detail) ?? []
  const approved = await approveRequest(t.as(await t.signIn(by.userName, by.password)), id)
  expect(approved.statusCode, approved.body).toBe(200)
}

describe('required second factor', () => {
  it('after the grace period an account without a factor can only set one up', async () => {
    const admin = await person(t, { profile: 10 })
    const manager = await person(t, { profile: 20 })
    const user = await person(t)
    const secret = await enrol(admin)
    const at = t.clock.now()
    expect(
      (await require(admin.api, { SECURITY_FACTOR_MANAGERS: 'true', SECURITY_FACTOR_GRACE_DAYS: '7' })).statusCode,
    ).toBe(200)
    const due = new Date(at + 7 * dayMs).toISOString()
    await expect.poll(() => dueOf(manager.api)).toBe(due)
    expect(await dueOf(user.api)).toBeNull()
    expect(await codesOf(manager.api, ['agents', 'admin/all'])).toEqual([200, 200])

    t.clock.advance(7 * dayMs)
    const late = { ...manager, api: t.as(await t.signIn(manager.userName, manager.password)) }
    const everyday = ['agents', 'admin/all', 'admin/apiTokens', 'generalconfig/document', 'Auth/Sessions', 'live']
    expect(await codesOf(late.api, everyday)).toEqual(everyday.map(() => 'second_factor_required'))
    expect((await late.api.post(`${api}/Auth/Ticket`)).json().code).toBe('second_factor_required')
    expect(await codesOf(late.api, ['admin/profile', 'admin/getuserdetails', 'Auth/Mfa'])).toEqual([200, 200, 200])
    expect((await late.api.get(`${api}/admin/profile`)).json().permissions).toEqual(['self:read', 'self:write'])
    // Other accounts are not affected.
    expect(await codesOf(t.as(await t.signIn(user.userName, user.password)), ['agents'])).toEqual([200])

    const factor = await enrol(late)
    expect(await codesOf(late.api, ['agents'])).toEqual([200])
    expect(await dueOf(late.api)).toBeNull()
    expect(await codesOf(await signInByCode(manager, factor), ['agents'])).toEqual([200])
    const relaxed = await require(await signInByCode(admin, secret), {
      SECURITY_FACTOR_MANAGERS: null,
      SECURITY_FACTOR_GRACE_DAYS: null,
    })
    await approve(await person(t, { profile: 10 }), relaxed)
  })

  it('an Administrator without a factor of their own cannot require one', async () => {
    const admin = await person(t, { profile: 10 })
    for (const name of ['ADMINISTRATORS', 'MANAGERS', 'USERS']) {
      const refused = await require(admin.api, { [`SECURITY_FACTOR_${name}`]: 'true' })
      expect([refused.statusCode, refused.json().code]).toEqual([409, 'conflict'])
    }
    const whole = await admin.api.post(`${api}/generalconfig/document`, {
      settings: { SECURITY_FACTOR_ADMINISTRATORS: 'true' },
    })
    expect([whole.statusCode, whole.json().code]).toEqual([409, 'conflict'])
    expect((await admin.api.get(`${api}/generalconfig/GetConfigItemsByPrefix/SECURITY_`)).json()).toEqual({
      SECURITY_FACTOR_ADMINISTRATORS: 'false',
      SECURITY_FACTOR_MANAGERS: 'false',
      SECURITY_FACTOR_USERS: 'false',
      SECURITY_FACTOR_GRACE_DAYS: '14',
    })
  })

  it('relaxing the requirement needs fresh authentication and a second approver, whichever way it is changed', async () => {
    const [admin, second] = [await person(t, { profile: 10 }), await person(t, { profile: 10 })]
    await enrol(admin)
    expect((await require(admin.api, { SECURITY_FACTOR_USERS: 'true' })).statusCode).toBe(200)
    const version = (await admin.api.get(`${api}/generalconfig/history`)).json().data[0].version as number
    const { token } = (
      await admin.api.post(`${api}/admin/apiTokens`, {
        name: 'x',
        scopes: ['config:read', 'config:write', 'fleet:read'],
      })
    ).json()
    t.clock.advance(6 * 60_000)
    const relaxed = { SECURITY_FACTOR_USERS: 'false' }
    for (const [caller, code] of [
      [admin.api, 'reauthentication_required'],
      [t.as(token), 'session_required'],
    ] as const) {
      expect((await require(caller, relaxed)).json().code).toBe(code)
      expect((await caller.post(`${api}/generalconfig/document`, { settings: relaxed })).json().code).toBe(code)
      expect((await caller.post(`${api}/generalconfig/rollback/${version - 1}`)).json().code).toBe(code)
    }
    expect((await admin.api.get(`${api}/generalconfig/GetConfigItemsByName/SECURITY_FACTOR_USERS`)).json()).toEqual({
      SECURITY_FACTOR_USERS: 'true',
    })
    expect((await admin.api.post(`${api}/auth/reauthenticate`, { password: admin.password })).statusCode).toBe(200)
    const asked = [
      await require(admin.api, relaxed),
      await require(admin.api, { SECURITY_FACTOR_GRACE_DAYS: '90' }),
      await admin.api.post(`${api}/generalconfig/document`, { settings: relaxed }),
      await admin.api.post(`${api}/generalconfig/rollback/${version - 1}`),
    ]
    expect(asked.map((one) => one.json().code)).toEqual(asked.map(() => 'second_person_required'))
    const stored = async () =>
      (await admin.api.get(`${api}/generalconfig/GetConfigItemsByPrefix/SECURITY_FACTOR_`)).json()
    expect(await stored()).toMatchObject({ SECURITY_FACTOR_USERS: 'true', SECURITY_FACTOR_GRACE_DAYS: '14' })
    // Nobody has to approve a stricter requirement.
    expect((await require(admin.api, { SECURITY_FACTOR_GRACE_DAYS: '7' })).statusCode).toBe(200)
    expect((await require(admin.api, { SECURITY_FACTOR_GRACE_DAYS: null })).json().code).toBe('second_person_required')
    const both = { SECURITY_FACTOR_USERS: 'false', SECURITY_FACTOR_GRACE_DAYS: '5' }
    await approve(second, await require(admin.api, both))
    expect(await stored()).toMatchObject({ SECURITY_FACTOR_USERS: 'false', SECURITY_FACTOR_GRACE_DAYS: '5' })
  })

  it('the command line of the server exempts one account for a limited time, and resets a factor', async () => {
    const admin = await person(t, { profile: 10 })
    await enrol(admin)
    const stranded = await person(t)
    await require(admin.api, { SECURITY_FACTOR_USERS: 'true', SECURITY_FACTOR_GRACE_DAYS: '0' })
    const again = async () => t.as(await t.signIn(stranded.userName, stranded.password))
    await expect.poll(async () => codesOf(await again(), ['agents'])).toEqual(['second_factor_required'])
    const { until } = await t.accounts.exemptSecondFactor(stranded.userName.toUpperCase(), 2)
    expect(until.getTime()).toBe(t.clock.now() + 2 * 3_600_000)
    expect(await codesOf(await again(), ['agents'])).toEqual([200])
    t.clock.advance(2 * 3_600_000)
    expect(await codesOf(await again(), ['agents'])).toEqual(['second_factor_required'])
    await expect(t.accounts.exemptSecondFactor('nobody', 1)).rejects.toThrow('does not exist')

    await enrol({ ...stranded, api: await again() })
    expect(await t.accounts.resetSecondFactor(stranded.userName)).toEqual({ userName: stranded.userName, reset: true })
    expect(await t.accounts.resetSecondFactor(stranded.userName)).toEqual({ userName: stranded.userName, reset: false })
    expect(await codesOf(await again(), ['agents', 'Auth/Mfa'])).toEqual(['second_factor_required', 200])
    const records = (await t.as(await t.signIn('admin')).get(`${api}/events/GetAuditsIntegration?PageSize=50`)).body
    for (const action of ['mfa.exempted', 'mfa.reset']) expect(records).toContain(action)
  })
})
