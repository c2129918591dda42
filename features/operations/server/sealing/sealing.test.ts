import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Job } from '#features/contract.ts'

const config = '/prime/webui/generalconfig'
let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const boxes = async (): Promise<number[]> =>
  (
    await t.db.query<{ id: number }>(sql`
      select distinct get_byte(b, 4) as id from (
        select password as b from connections union all select sealed from config_items union all select sealed from config_history) x
      where b is not null order by 1`)
  ).map(({ id }) => id)

it('secrets at rest move to a new key while the server works; afterwards the old key opens nothing', async () => {
  const admin = await t.admin()
  const add = async (from: number, count: number) => {
    const connections = Array.from({ length: count }, (_, i) => ({
      computerName: `host-${from + i}`,
      userName: 'u',
      password: `secret ${from + i}`,
    }))
    expect((await admin.post('/prime/webui/agents/agentless/connectiondetails', { connections })).statusCode).toBe(200)
  }
  await add(0, 500)
  for (const SMTP_PASSWORD of ['first', 'second'])
    await admin.post(`${config}/AddOrUpdateSMPTConfig`, { SMTP_PASSWORD, SMTP_USER: 'u' })
  const key = join(t.keyDir, 'key')
  copyFileSync(key, `${key}.before`)
  expect(await boxes()).toEqual([0])

  const manager = await person(t, { profile: 20 })
  expect((await manager.api.post(`${config}/RotateKeys`)).statusCode).toBe(403)
  const { jobId } = (await admin.post(`${config}/RotateKeys`)).json()
  expect((await admin.post(`${config}/RotateKeys`)).statusCode).toBe(409)
  // Another replica that knows only the old key reads the file again when it meets the new one.
  const other = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock })
  try {
    await Promise.all([t.server.jobs.drain(), add(500, 50)])
    const job = (await admin.get(`/prime/webui/jobs/${jobId}`)).json() as Job
    expect([job.state, job.done >= 503, job.failed]).toEqual(['completed', true, 0])
    expect(await boxes()).toEqual([1])
    const sealing = JSON.parse(readFileSync(key, 'utf8')).sealing
    expect(sealing.map(({ id }: { id: number }) => id)).toEqual([1])
    for (const app of [t, other])
      expect((await app.server.settings.values(app.db, 'smtp')).secret('SMTP_PASSWORD')?.reveal()).toBe('second')
    const back = await admin.post(`${config}/rollback/1?prefix=SMTP`)
    expect(back.statusCode).toBe(200)
    expect((await t.server.settings.values(t.db, 'smtp')).secret('SMTP_PASSWORD')?.reveal()).toBe('first')
  } finally {
    await other.close()
  }
  copyFileSync(`${key}.before`, key)
  const thief = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock })
  try {
    const values = await thief.server.settings.values(thief.db, 'smtp')
    expect(() => values.secret('SMTP_PASSWORD')).toThrow(/not in the key file/)
  } finally {
    await thief.close()
  }
}, 60_000)
