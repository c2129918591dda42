import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const admin = '/prime/webui/admin'

let t: TestApp
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(() => t.close())

describe('an account that another person disables, demotes or deletes', () => {
  it('raises an event and an alert for each account', async () => {
    const by = await person(t, { profile: 10 })
    const managers = [await person(t, { profile: 20 }), await person(t, { profile: 20 })] as const
    const users = [await person(t), await person(t)] as const
    const change = (userName: string, members: Record<string, unknown>) =>
      by.api.post(`${admin}/updateUser`, { userName, ...members })
    expect((await change(managers[0].userName, { isEnabled: false })).statusCode).toBe(200)
    expect((await change(managers[1].userName, { isEnabled: false, userProfile: 30 })).statusCode).toBe(200)
    // Changing a name or raising a profile withdraws nothing.
    expect((await change(users[0].userName, { firstName: 'Ann' })).statusCode).toBe(200)
    const deleted = await by.api.post(`${admin}/deleteUsers`, [users[0].userName, users[1].userName])
    expect(deleted.statusCode, deleted.body).toBe(200)
    const events = (await by.api.get('/prime/webui/events/getevents?PageSize=100')).json().data as {
      eventCode: string
      severity: number
      eventEntityID: string
      details: string
    }[]
    const found = events.filter(({ eventCode }) => eventCode === '0x130023')
    expect(found.map(({ eventEntityID, details }) => [eventEntityID, details]).sort()).toEqual(
      [
        [managers[0].userName, `${by.userName} disabled the account; its profile was Manager.`],
        [
          managers[1].userName,
          `${by.userName} disabled the account and lowered its profile to User; its profile was Manager.`,
        ],
        [users[0].userName, `${by.userName} deleted the account; its profile was User.`],
        [users[1].userName, `${by.userName} deleted the account; its profile was User.`],
      ].sort(),
    )
    expect(new Set(found.map(({ severity }) => severity))).toEqual(new Set([4]))
    await t.alerts.run()
    const notices = (await by.api.get('/prime/webui/systemNotification/riskNotifications?PageSize=50')).body
    for (const one of [...managers, ...users]) expect(notices).toContain(`Account disabled or deleted: ${one.userName}`)
  })
})
