// Invariant: A flood of sign-ins delays other addresses by one turn at most.

import { sql } from '@portcullis/platform/server/db/sql.ts'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const login = '/prime/webui/Auth/LocalLogin'

describe('a flood of sign-ins', () => {
  let t: TestApp
  beforeAll(async () => {
    t = await startTestApp()
  })
  afterAll(() => t.close())

  const from = async (ip: string, username: string, password: string) =>
    t.request({ method: 'POST', url: login, remoteAddress: ip, payload: { username, password } })
  const flood = (count: number, ipOf: (i: number) => string, nameOf: (i: number) => string) =>
    Promise.all(Array.from({ length: count }, (_, i) => from(ipOf(i), nameOf(i), 'wrong')))
  const statusesOf = (answers: { statusCode: number }[]) => [...new Set(answers.map((answer) => answer.statusCode))]

  it('a correct sign-in from another address is accepted during a flood', async () => {
    const flooding = flood(
      400,
      () => '198.51.100.7',
      (i) => `nobody-${i}`,
    )
    const right = await Promise.all(Array.from({ length: 8 }, (_, i) => from(`203.0.113.${i}`, 'admin', adminPassword)))
    expect(statusesOf(right)).toEqual([200])
    expect(statusesOf(await flooding).sort()).toEqual([401, 429, 503])
  })

  it('a limited address is refused without the queue and without the database', async () => {
    await flood(
      110,
      () => '198.51.100.8',
      (i) => `spray-${i}`,
    )
    await t.db.execute(sql`alter table signin_buckets rename to signin_buckets_away`)
    try {
      const refused = await from('198.51.100.8', 'another', 'wrong')
      expect(refused.statusCode).toBe(429)
      expect(refused.json().code).toBe('too_many_requests')
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
      // The refusal does not depend on whether the name exists.
      const known = await from('198.51.100.8', 'admin', adminPassword)
      expect([known.statusCode, known.json().detail]).toEqual([429, refused.json().detail])
      // The queue holds 100 of one address and would refuse the others with 503.
      const more = flood(
        150,
        () => '198.51.100.8',
        (i) => `more-${i}`,
      )
      expect(statusesOf(await more)).toEqual([429])
    } finally {
      await t.db.execute(sql`alter table signin_buckets_away rename to signin_buckets`)
    }
  })

  it('refuses a limited address before the guesses of others that wait in the queue', async () => {
    await flood(
      110,
      () => '198.51.100.12',
      (i) => `early-${i}`,
    )
    let answered = 0
    const others = Array.from({ length: 60 }, async (_, i) => {
      await from(`100.90.${i}.1`, `other-${i}`, 'wrong')
      answered++
    })
    expect((await from('198.51.100.12', 'late', 'wrong')).statusCode).toBe(429)
    expect(answered).toBeLessThan(30)
    await Promise.all(others)
  })

  it('refusals in memory are counted in the audit trail', async () => {
    for (const count of [100, 30])
      await flood(
        count,
        () => '198.51.100.9',
        (i) => `counted-${i}`,
      )
    await t.accounts.maintain()
    t.clock.advance(15 * 60_000 + 1)
    await t.accounts.maintain()
    const records = await t.db.query<{ details: string }>(sql`
      select r.record::jsonb ->> 'details' as details from audit_records r where r.action = 'session.refused'
        and r.record::jsonb ->> 'sourceIp' = '198.51.100.9' order by r.audit_id`)
    expect(records.at(-1)?.details).toBe('130 failed sign-ins within 15 minutes.')
  })

  it('accepts the owner from an address that others have used up to the limit', async () => {
    const user = await person(t)
    expect((await from('198.51.100.10', user.userName, user.password)).statusCode).toBe(200)
    await flood(
      130,
      () => '198.51.100.10',
      (i) => `beside-${i}`,
    )
    expect((await from('198.51.100.10', user.userName, user.password)).statusCode).toBe(200)
    expect((await from('198.51.100.10', 'nobody', 'wrong')).statusCode).toBe(429)
  })

  it('people at known addresses can sign in while many networks flood', async () => {
    const user = await person(t)
    expect((await from('192.0.2.77', user.userName, user.password)).statusCode).toBe(200)
    const flooding = flood(
      400,
      (i) => `100.${64 + (i >> 8)}.${i & 255}.1`,
      (i) => `many-${i}`,
    )
    const right = await Promise.all(Array.from({ length: 8 }, () => from('192.0.2.77', user.userName, user.password)))
    expect(statusesOf(right)).toEqual([200])
    expect(statusesOf(await flooding)).toContain(503)
  })

  it('a password change waits in the same queue and gets its turn during a flood', async () => {
    const user = await person(t)
    const token = await t.signIn(user.userName, user.password)
    const flooding = flood(
      300,
      () => '198.51.100.11',
      (i) => `queue-${i}`,
    )
    const changed = await t
      .as(token)
      .post('/prime/webui/admin/updateuserdetails', { oldPassword: user.password, newPassword: 'another fine secret' })
    expect([changed.statusCode, changed.body.slice(0, 80)]).toEqual([200, changed.body.slice(0, 80)])
    await flooding
  })
})
