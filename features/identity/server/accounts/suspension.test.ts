// Invariant: A suspended account cannot act on any replica, and suspending it does not switch off the gate.

import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { permissionsOf } from '#features/contract.ts'

const admin = '/prime/webui/admin'
const dayMs = 86_400_000

let t: TestApp
let replica: TestApp
beforeAll(async () => {
  t = await startTestApp()
  replica = await startTestApp({ database: t.database, clock: t.clock, keyDir: t.keyDir })
})
afterAll(async () => {
  await replica.close()
  await t.close()
})

const administrator = () => person(t, { profile: 10 })
const suspend = (by: Person, who: Person, at: TestApp = t) =>
  at.as(by.token).post(`${admin}/suspendaccount`, { userName: who.userName })
const signIn = (who: Person) =>
  t.request({
    method: 'POST',
    url: '/prime/webui/Auth/LocalLogin',
    payload: { username: who.userName, password: who.password },
  })
const statusOf = async (token: string, at: TestApp = t) => (await at.as(token).get(`${admin}/profile`)).statusCode

describe('suspension of an account', () => {
  it('one Administrator ends the sessions and suspends the tokens of another on every replica at once', async () => {
    const [by, target] = [await administrator(), await administrator()]
    const made = await target.api.post(`${admin}/apiTokens`, { name: 'x', userProfile: 30, scopes: ['self:read'] })
    const { token, id } = made.json()
    // Both replicas have cached it.
    for (const one of [target.token, token])
      expect([await statusOf(one), await statusOf(one, replica)]).toEqual([200, 200])
    const answer = await suspend(by, target)
    const until = new Date(t.clock.now() + dayMs).toISOString()
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      expect.objectContaining({
        userName: target.userName,
        userProfile: 10,
        suspendedUntil: until,
        suspendedBy: by.userName,
      }),
    ])
    for (const one of [target.token, token]) {
      expect(await statusOf(one)).toBe(401)
      await expect.poll(() => statusOf(one, replica)).toBe(401)
    }
    const listed = (await by.api.get(`${admin}/apiTokens`)).json() as { id: string; state: string }[]
    expect(listed.find((row) => row.id === id)?.state).toBe('Suspended')
    const refused = await signIn(target)
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'account_suspended'])
    // A wrong password does not reveal it.
    const wrong = await signIn({ ...target, password: 'not the password' })
    expect([wrong.statusCode, wrong.json().code]).toEqual([401, 'credentials_wrong'])

    t.clock.advance(dayMs - 1)
    expect([await statusOf(token), (await signIn(target)).statusCode]).toEqual([401, 403])
    t.clock.advance(1)
    expect([await statusOf(token), (await signIn(target)).statusCode]).toEqual([200, 200])
  })

  it('is recorded, raises an event and an alert, and is listed with its end', async () => {
    const [by, target] = [await administrator(), await administrator()]
    await suspend(by, target)
    const reader = await administrator()
    const records = (await reader.api.get('/prime/webui/events/GetAuditsIntegration?PageSize=50')).body
    expect(records).toContain('account.suspended')
    const events = (await reader.api.get('/prime/webui/events/getevents?PageSize=20')).json().data
    expect(events).toContainEqual(
      expect.objectContaining({
        eventCode: '0x130021',
        details: expect.stringContaining(
          `${by.userName} suspended the sessions, API tokens and approvals of ${target.userName}`,
        ),
      }),
    )
    await t.alerts.run()
    const notices = (await reader.api.get('/prime/webui/systemNotification/riskNotifications')).body
    expect(notices).toContain(`Account suspended: ${target.userName}`)
    const account = ((await reader.api.get(`${admin}/all`)).json() as { userName: string }[]).find(
      ({ userName }) => userName === target.userName,
    )
    expect(account).toMatchObject({ isEnabled: true, userProfile: 10, suspendedBy: by.userName })
  })

  it('is refused for the account of the caller, an unknown one, and without fresh authentication', async () => {
    const [by, target] = [await administrator(), await administrator()]
    const own = await suspend(by, by)
    expect([own.statusCode, own.json().code]).toEqual([403, 'forbidden_object'])
    expect((await by.api.post(`${admin}/suspendaccount`, { userName: 'nobody-here' })).statusCode).toBe(404)
    const manager = await person(t, { profile: 20 })
    expect((await suspend(manager, target)).json().code).toBe('forbidden')
    const { token } = (
      await by.api.post(`${admin}/apiTokens`, { name: 'x', userProfile: 30, scopes: permissionsOf(30) })
    ).json()
    expect((await t.as(token).post(`${admin}/suspendaccount`, { userName: target.userName })).statusCode).toBe(403)
    t.clock.advance(6 * 60_000)
    const stale = await suspend(by, target)
    expect([stale.statusCode, stale.json().code]).toEqual([401, 'reauthentication_required'])
    expect((await signIn(target)).statusCode).toBe(200)
  })

  it('works only for the first of two Administrators who suspend each other', async () => {
    for (let round = 0; round < 5; round++) {
      const [one, two] = [await administrator(), await administrator()]
      const answers = await Promise.all([suspend(one, two), suspend(two, one, replica)])
      expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 401])
      const signIns = await Promise.all([signIn(one), signIn(two)])
      expect(signIns.map(({ statusCode }) => statusCode).sort()).toEqual([200, 403])
    }
  })

  it('ends early when another Administrator or the command line of the server lifts it', async () => {
    const [by, other, target] = [await administrator(), await administrator(), await administrator()]
    await suspend(by, target)
    const lifted = await other.api.post(`${admin}/liftsuspension`, { userName: target.userName })
    expect([lifted.statusCode, lifted.json().suspendedUntil]).toEqual([200, null])
    expect((await signIn(target)).statusCode).toBe(200)
    await suspend(by, target)
    expect((await signIn(target)).statusCode).toBe(403)
    await t.accounts.liftSuspension(target.userName.toUpperCase())
    expect((await signIn(target)).statusCode).toBe(200)
  })
})
