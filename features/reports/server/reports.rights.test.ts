import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { liftGate } from '@portcullis/server/test/approvals.ts'
import { pageOf } from '@portcullis/server/test/builders.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { person } from '@portcullis/server/test/people.ts'
import { reportsBase, reportsOf, scheduleInput } from '@portcullis/server/test/reports.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AuditRecord, ReportScheduleInput } from '#features/contract.ts'

let t: TestApp
let reports: ReturnType<typeof reportsOf>

beforeAll(async () => {
  t = await startTestApp()
  reports = reportsOf(t)
  await liftGate(t)
  await insertFleet(t, 20)
})
afterAll(() => t.close())

const folder = (name: string): string => join(t.keyDir, 'reports', name)
const audits = async (): Promise<AuditRecord[]> =>
  (await pageOf<AuditRecord>(t, 'events/GetAuditsIntegration?PageSize=50')).data

describe('the permissions of an owner', () => {
  const asOwner = async (change: Partial<ReportScheduleInput> = {}) => {
    const owner = await person(t, { profile: 10 })
    const made = (
      await owner.api.post(`${reportsBase}/schedules`, scheduleInput({ folder: 'rights', ...change }))
    ).json()
    expect(made).toMatchObject({ owner: owner.userName, problem: '' })
    expect(await reports.runNow(made.id)).toMatchObject({ state: 'completed' })
    return { owner, id: made.id as string }
  }
  const files = () => readdirSync(folder('rights')).length

  it.each([
    ['is disabled', sql`is_enabled = false`, /is disabled/],
    ['is a Manager now', sql`user_profile = 20`, /now has the profile Manager, but this report needs Administrator/],
  ] as const)('who %s stop the schedules until another Administrator saves them', async (_what, change, problem) => {
    const { owner, id } = await asOwner()
    const before = files()
    await t.server.db.execute(sql`update accounts set ${change} where user_name = ${owner.userName}`)
    const run = await reports.runNow(id)
    expect(run).toMatchObject({
      state: 'failed',
      hasFile: false,
      deliveries: [],
      error: expect.stringMatching(problem),
    })
    expect(run.error).toContain(owner.userName)
    expect((await reports.schedule(id)).problem).toMatch(problem)
    expect(await t.server.reports.health()).toMatchObject({
      status: 'Warning',
      description: expect.stringMatching(/^1 of /),
    })
    expect(files()).toBe(before)
    const { name } = await reports.schedule(id)
    const saved = await (await t.admin()).put(
      `${reportsBase}/schedules/${id}`,
      scheduleInput({ name, folder: 'rights' }),
    )
    expect(saved.json()).toMatchObject({ owner: 'admin', problem: '' })
    expect((await audits())[0]?.details).toContain(`taken over from ${owner.userName}`)
    expect(await reports.runNow(id)).toMatchObject({ state: 'completed' })
    expect(await t.server.reports.health()).toMatchObject({ status: 'OK' })
  })

  it('who was deleted stop the schedules too', async () => {
    const { owner, id } = await asOwner()
    const gone = await (await t.admin()).post('/prime/webui/admin/deleteusers', [owner.userName])
    expect(gone.statusCode, gone.body).toBe(200)
    expect(await reports.runNow(id)).toMatchObject({ state: 'failed', error: expect.stringMatching(/was deleted/) })
    expect(await reports.schedule(id)).toMatchObject({
      owner: owner.userName,
      problem: expect.stringMatching(/was deleted/),
    })
  })

  it('decide which operations are allowed', async () => {
    const [manager, user] = [await person(t, { profile: 20 }), await person(t)]
    const made = await reports.add({ list: 'audit' })
    const run = await reports.runNow(made.id)
    const calls: [
      string,
      () => ReturnType<typeof user.api.get>,
      (api: typeof user.api) => ReturnType<typeof user.api.get>,
      number,
      number,
    ][] = [
      [
        'list',
        () => t.as(undefined).get(`${reportsBase}/schedules`),
        (api) => api.get(`${reportsBase}/schedules`),
        200,
        403,
      ],
      ['runs', () => t.as(undefined).get(`${reportsBase}/runs`), (api) => api.get(`${reportsBase}/runs`), 200, 403],
      [
        'file',
        () => t.as(undefined).get(`${reportsBase}/runs/${run.id}/file`),
        (api) => api.get(`${reportsBase}/runs/${run.id}/file`),
        200,
        403,
      ],
      [
        'add',
        () => t.as(undefined).post(`${reportsBase}/schedules`, scheduleInput()),
        (api) => api.post(`${reportsBase}/schedules`, scheduleInput()),
        403,
        403,
      ],
      [
        'run',
        () => t.as(undefined).post(`${reportsBase}/schedules/${made.id}/run`),
        (api) => api.post(`${reportsBase}/schedules/${made.id}/run`),
        403,
        403,
      ],
      [
        'delete',
        () => t.as(undefined).delete(`${reportsBase}/schedules/${made.id}`),
        (api) => api.delete(`${reportsBase}/schedules/${made.id}`),
        403,
        403,
      ],
      [
        'preview',
        () => t.as(undefined).post(`${reportsBase}/preview`, {}),
        (api) => api.post(`${reportsBase}/preview`, {}),
        403,
        403,
      ],
    ]
    for (const [what, anonymous, call, ofManager, ofUser] of calls)
      expect([
        what,
        (await anonymous()).statusCode,
        (await call(manager.api)).statusCode,
        (await call(user.api)).statusCode,
      ]).toEqual([what, 401, ofManager, ofUser])
    expect((await manager.api.get(`${reportsBase}/runs/nothing/file`)).statusCode).toBe(404)
  })
})
