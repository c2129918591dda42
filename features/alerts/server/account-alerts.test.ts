import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RiskNotification } from '#features/contract.ts'

let t: TestApp
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(() => t.close())

describe('alerts about deleted accounts', () => {
  it('are one per account, even if an account has the name of a flood', async () => {
    const admin = await t.admin()
    const names = ['many', '=many', 'many more', 'cleo']
    for (const userName of names) await person(t, { userName })
    for (const userName of names) {
      const deleted = await admin.post('/prime/webui/admin/deleteUsers', [userName])
      expect(deleted.statusCode, deleted.body).toBe(200)
      await t.alerts.run()
    }
    const alerts: RiskNotification[] = (
      await admin.get('/prime/webui/systemNotification/riskNotifications?kind=accountDisabled')
    ).json()
    expect(alerts.map(({ title }) => title).toSorted()).toEqual(
      names.map((name) => `Account disabled or deleted: ${name}`).toSorted(),
    )
  })
})
