// Invariant: Each notification of the expiry of an API token is sent once.

import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { permissionsOf } from '#features/contract.ts'

const api = '/prime/webui'
const tokens = `${api}/admin/apiTokens`
const dayMs = 86_400_000

describe('expiry of API tokens', () => {
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

  const events = async (name: string) =>
    await t.db.query<{ severity: number; details: string }>(
      sql`select e.severity, e.details from events e where e.entity like ${`${name} of %`} order by e.event_id`,
    )
  const expired = async (name: string) =>
    (
      await t.db.query(
        sql`select 1 from audit_records r where r.action = 'apiToken.expired' and r.record like ${`%${name}%`}`,
      )
    ).length
  /** Runs the maintenance on both replicas at the same time, then again on one, as after a restart. */
  const upkeep = async () => {
    await Promise.all([t.accounts.maintain(), replica.accounts.maintain()])
    await t.accounts.maintain()
  }

  it('sends one notification 14 days and one 3 days before a token expires, and records the expiry', async () => {
    const made = await (await t.admin()).post(tokens, { name: 'ninety days', scopes: ['fleet:read'] })
    const steps: [number, number, number][] = [
      [90 - 14 - 0.01, 0, 0],
      [0.01, 1, 0],
      [5, 1, 0],
      [14 - 3 - 5 - 0.01, 1, 0],
      [0.01, 2, 0],
      [2.9, 2, 0],
      [0.1, 2, 1],
      [30, 2, 1],
    ]
    for (const [days, notified, records] of steps) {
      t.clock.advance(Math.round(days * dayMs))
      await upkeep()
      expect([days, (await events('ninety days')).length, await expired('ninety days')]).toEqual([
        days,
        notified,
        records,
      ])
    }
    const [first, second] = await events('ninety days')
    const day = made.json().expiresAt.slice(0, 10)
    expect([first?.severity, second?.severity]).toEqual([4, 3])
    expect(first?.details).toContain(`expires on ${day}`)
  })

  it('the list shows it from 14 days before, to the millisecond', async () => {
    const admin = await t.admin()
    const expiresAt = new Date(t.clock.now() + 14 * dayMs + 1).toISOString()
    const { id } = (await admin.post(tokens, { name: 'near', scopes: ['fleet:read'], expiresAt })).json()
    const state = async () =>
      (await admin.get(tokens)).json().find((row: { id: string }) => row.id === id).state as string
    expect(await state()).toBe('Active')
    t.clock.advance(1)
    expect(await state()).toBe('ExpiresSoon')
  })

  it('the alert opens 14 days before and reopens 3 days before', async () => {
    await (await t.admin()).post(tokens, { name: 'alerting', scopes: ['fleet:read'] })
    const turns = async () => {
      await upkeep()
      await t.alerts.run()
      const rows = await t.db.query<{ count: number; severity: number; link: string }>(
        sql`select n.count, n.severity, n.link from notices n where n.kind = 'tokenExpiring' and n.title like ${'%alerting of %'}`,
      )
      return rows.map(({ count, severity, link }) => [Number(count), severity, link])
    }
    expect(await turns()).toEqual([])
    t.clock.advance(76 * dayMs)
    expect(await turns()).toEqual([[1, 4, '/settings/tokens']])
    expect(await turns()).toEqual([[1, 4, '/settings/tokens']])
    t.clock.advance(11 * dayMs)
    expect(await turns()).toEqual([[2, 3, '/settings/tokens']])
  })

  it('sends no immediate notification if the creator chose a near date', async () => {
    await (await t.admin()).post(tokens, {
      name: 'ten days',
      expiresAt: new Date(t.clock.now() + 10 * dayMs).toISOString(),
    })
    await upkeep()
    expect(await events('ten days')).toEqual([])
    t.clock.advance(7 * dayMs)
    await upkeep()
    expect((await events('ten days')).length).toBe(1)
  })

  it('a server that was down between both dates sends only the later notification', async () => {
    await (await t.admin()).post(tokens, { name: 'away', scopes: ['fleet:read'] })
    t.clock.advance(88 * dayMs)
    await upkeep()
    expect((await events('away')).map(({ severity }) => severity)).toEqual([3])
  })
})

describe('upgrade of API tokens from before scopes', () => {
  it('they keep the other permissions of their role, are marked, and expire in 90 days unless earlier', async () => {
    const t = await startTestApp()
    const manager = await person(t, { profile: 20 })
    const near = new Date(t.clock.now() + 5 * dayMs).toISOString()
    const made: Record<string, string> = {}
    for (const [name, expiresAt] of [
      ['endless', undefined],
      ['far', new Date(t.clock.now() + 300 * dayMs).toISOString()],
      ['near', near],
    ] as const)
      made[name] = (
        await manager.api.post(tokens, { name, ...(expiresAt === undefined ? {} : { expiresAt }) })
      ).json().token
    // As the previous release stored them.
    await t.db.execute(
      sql`update api_tokens set scopes = null, created_by = null, expires_at = case name when 'endless' then null else expires_at end`,
    )
    const upgraded = await startTestApp({ database: t.database, clock: t.clock, keyDir: t.keyDir })
    const limit = new Date(t.clock.now() + 90 * dayMs).toISOString()
    const own = upgraded.as(manager.token)
    const listed = (await own.get(tokens)).json() as { name: string }[]
    const rest = {
      scopes: null,
      isLegacy: true,
      state: 'NeedsReplacement',
      createdBy: manager.userName,
      userProfile: 20,
    }
    expect(Object.fromEntries(listed.map((row) => [row.name, row]))).toMatchObject({
      endless: { ...rest, expiresAt: limit },
      far: { ...rest, expiresAt: limit },
      near: { ...rest, expiresAt: near },
    })
    const token = upgraded.as(made.endless)
    expect((await token.get(`${api}/admin/profile`)).json().permissions).toEqual(permissionsOf(20))
    expect((await token.post(`${api}/admin/adduser`, { userName: 'still-works', userProfile: 30 })).statusCode).toBe(
      200,
    )
    const limited = () => t.db.query(sql`select 1 from audit_records r where r.action = 'apiToken.limited'`)
    expect(await limited()).toHaveLength(3)
    // The next start does not change the date.
    t.clock.advance(10 * dayMs)
    const again = await startTestApp({ database: t.database, clock: t.clock, keyDir: t.keyDir })
    expect(await limited()).toHaveLength(3)
    t.clock.advance(80 * dayMs)
    expect((await again.as(made.endless).get(`${api}/admin/profile`)).statusCode).toBe(401)
    for (const one of [again, upgraded, t]) await one.close()
  })
})
