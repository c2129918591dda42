import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest, readRequest } from '@portcullis/server/test/approvals.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const base = '/prime/webui'
let t: TestApp
let bob: Person
beforeEach(async () => {
  t = await startTestApp()
  bob = await person(t, { profile: 10, userName: 'bob' })
})
afterEach(() => t.close())

const requests = async () => (await (await t.admin()).get(`${base}/policy/changerequests`)).json().data
const approve = async (who: Person) => {
  const [{ id }] = (await requests()).filter(({ state }: { state: string }) => state === 'Waiting')
  return approveRequest(who.api, id)
}
const ldap = {
  LDAP_URL: 'ldaps://192.0.2.7',
  LDAP_SECURITY: 'tls',
  LDAP_BASE_DN: 'dc=example',
  LDAP_BIND_DN: 'cn=reader,dc=example',
  LDAP_BIND_PASSWORD: 'hidden-secret-1',
}
const stored = async () =>
  (
    await t.db.query<{ name: string }>(sql`select c.name from config_items c where c.name like 'LDAP%' order by c.name`)
  ).map(({ name }) => name)

describe('settings that decide who signs in', () => {
  it('need a second approver, keep their secrets sealed, and are applied as requested', async () => {
    const answer = await (await t.admin()).post(`${base}/generalconfig/AddOrUpdateLDAPServer`, ldap)
    expect([answer.statusCode, answer.body]).toEqual([403, expect.stringContaining('second approver')])
    expect(await stored()).toEqual([])
    expect((await requests())[0]).toMatchObject({
      action: 'settings',
      title:
        'Change the sign-in settings: Directory: Base DN, Directory: Bind DN, Directory: Bind password, Directory: Security, Directory: Address',
      details: [
        'Directory: Base DN: not set → dc=example',
        'Directory: Bind DN: not set → cn=reader,dc=example',
        'Directory: Bind password: not set → (changed)',
        'Directory: Security: not set → tls',
        'Directory: Address: not set → ldaps://192.0.2.7',
      ],
    })
    const [row] = await t.db.query<{ text: string }>(
      sql`select string_agg(q::text, ' ') as text from change_requests q`,
    )
    expect(row?.text).not.toContain('hidden-secret-1')
    expect((await approve(bob)).statusCode).toBe(200)
    expect(await stored()).toEqual(['LDAP_BASE_DN', 'LDAP_BIND_DN', 'LDAP_BIND_PASSWORD', 'LDAP_SECURITY', 'LDAP_URL'])
  })

  it('a rollback of the configuration to other sign-in settings needs one too', async () => {
    await (await t.admin()).post(`${base}/generalconfig/AddOrUpdateLDAPServer`, ldap)
    await approve(bob)
    const version = (await (await t.admin()).get(`${base}/generalconfig/history?prefix=LDAP`)).json().data[0].version
    const back = await (await t.admin()).post(`${base}/generalconfig/rollback/${version - 1}?prefix=LDAP`)
    expect([back.statusCode, back.body]).toEqual([403, expect.stringContaining('second approver')])
    expect(await stored()).toHaveLength(5)
    expect((await approve(bob)).statusCode).toBe(200)
    expect(await stored()).toEqual([])
  })
})

describe('lifting the second approver on the command line', () => {
  it('lets one person act for a limited time, raises an event, writes an audit record, and expires', async () => {
    await t.server.changeRequests.lift(systemActor('command line'), 60)
    const [event] = (await (await t.admin()).get(`${base}/events/getevents`)).json().data
    expect(event).toMatchObject({ eventCode: '0x130022', severityString: 'Critical' })
    const audit = await t.db.query(sql`select 1 from audit_records r where r.action = 'approvals.lifted'`)
    expect(audit).toHaveLength(1)
    const disable = async (isEnabled: boolean) =>
      (await (await t.admin()).post(`${base}/admin/updateuser`, { userName: 'bob', isEnabled })).statusCode
    expect(await disable(false)).toBe(200)
    expect(await disable(true)).toBe(200)
    t.clock.advance(61 * 60_000)
    expect(await disable(false)).toBe(403)
    await t.server.changeRequests.maintain()
    expect(
      await t.db.query(sql`select 1 from approval_gate g where g.is_latched and g.lifted_until is null`),
    ).toHaveLength(1)
  })
})

describe('ending a lift early', () => {
  it('requires a second approver at once, shows the original end, and is audited', async () => {
    const admin = await t.admin()
    const twoPerson = async () => (await admin.get(`${base}/policy`)).json().twoPerson
    const end = async () => (await admin.post(`${base}/policy/secondapprover/restore`)).json()
    expect(await twoPerson()).toMatchObject({ active: true, liftedUntil: null })
    expect(await end()).toEqual({ ended: false })
    const until = await t.server.changeRequests.lift(systemActor('command line'), 60)
    expect(await twoPerson()).toMatchObject({ active: false, liftedUntil: until.toISOString() })
    expect(await end()).toEqual({ ended: true })
    expect(await twoPerson()).toMatchObject({ active: true, liftedUntil: null })
    const disabled = await admin.post(`${base}/admin/updateuser`, { userName: 'bob', isEnabled: false })
    expect(disabled.statusCode).toBe(403)
    const audit = await t.db.query(sql`select 1 from audit_records r where r.action = 'approvals.liftEnded'`)
    expect(audit).toHaveLength(1)
  })

  it('is for Administrators only', async () => {
    const manager = await person(t, { profile: 20, userName: 'lift-manager' })
    expect((await manager.api.post(`${base}/policy/secondapprover/restore`)).statusCode).toBe(403)
  })
})

describe('races', () => {
  it('two simultaneous approvals carry out a request once', async () => {
    const carol = await person(t, { profile: 10, userName: 'carol' })
    await t.db.execute(sql`delete from account_influences`)
    await (await t.admin()).post(`${base}/admin/updateuser`, {
      userName: 'bob',
      firstName: 'Bob',
      email: 'new@example.org',
    })
    const [{ id }] = await requests()
    const answers = await Promise.all([bob, carol].map(({ api }) => approveRequest(api, id)))
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409])
  })

  /** Runs `during` while another transaction holds the rows of `held`. Commits it once `during` waits or has ended. */
  const beside = async <T>(held: (tx: Tx) => Promise<unknown>, during: () => Promise<T>): Promise<T> => {
    const done = { value: null as Promise<T> | null, ended: false }
    await t.db.transaction(async (tx) => {
      await held(tx)
      done.value = during().finally(() => {
        done.ended = true
      })
      await expect
        .poll(
          async () => done.ended || (await t.db.query(sql`select 1 from pg_locks l where not l.granted`)).length > 0,
        )
        .toBe(true)
    })
    return done.value as Promise<T>
  }

  it.each([
    ['demoted', sql`update accounts set user_profile = 20 where name_key = 'carol'`],
    ['suspended', sql`update accounts set suspended_until = timestamptz '2100-01-01' where name_key = 'carol'`],
    ['disabled', sql`update accounts set is_enabled = false where name_key = 'carol'`],
  ])('an approver who is being %s at that moment cannot approve', async (_, change) => {
    const carol = await person(t, { profile: 10, userName: 'carol' })
    await t.db.execute(sql`delete from account_influences`)
    await (await t.admin()).post(`${base}/admin/updateuser`, { userName: 'bob', email: 'new@example.org' })
    const [{ id }] = await requests()
    const answer = await beside((tx) => tx.execute(change), await readRequest(carol.api, id))
    expect(answer.statusCode).toBe(403)
    expect((await requests())[0]).toMatchObject({ state: 'Waiting' })
  })

  it('two parallel releases cannot exceed the limit together', async () => {
    const admin = await t.admin()
    const { settings } = (await admin.get(`${base}/policy`)).json()
    await admin.put(`${base}/policy/settings`, { ...settings, twoPersonHosts: 1 })
    await insertFleet(t, 1)
    const [host] = await t.db.query<{ id: string }>(sql`select agent_id as id from agent_rows`)
    const answer = await beside(
      async (tx) => {
        await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('released_hosts release', 0))`)
        await tx.execute(
          sql`insert into released_hosts (user_name, hosts, released_at) values ('bob', 1, ${new Date(t.clock.now())})`,
        )
      },
      () => admin.post(`${base}/agents/bulk`, { action: 'free', uuids: [host?.id] }),
    )
    expect(answer.json().code).toBe('second_person_required')
  })
})
