// Invariant: No single Administrator can bypass the second approver, even with a stolen Manager token.

import { sql } from '@portcullis/platform/server/db/sql.ts'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest } from '@portcullis/server/test/approvals.ts'
import { enrolAgent, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ChangeRequest } from '#features/contract.ts'

const base = '/prime/webui'
const day = 24 * 3_600_000
let t: TestApp
let agents: TestAgent[]
let alice: Person
let bob: Person

/**
 * Two Administrators: alice, whose account an attacker controls, and bob. One Manager, mia; three hosts, a limit of
 * one.
 */
beforeEach(async () => {
  t = await startTestApp({ listen: true })
  agents = await Promise.all([1, 2, 3].map(() => enrolAgent(t)))
  const admin = await t.admin()
  const { settings } = (await admin.get(`${base}/policy`)).json()
  await admin.put(`${base}/policy/settings`, { ...settings, twoPersonHosts: 1 })
  bob = await person(t, { profile: 10, userName: 'bob' })
  // Here alice is the first Administrator, whose account nobody created.
  alice = { userName: 'admin', password: adminPassword, token: '', api: t.as(await t.signIn()) }
})
afterEach(() => t.close())

const again = async (who: Person): Promise<Person> => ({
  ...who,
  api: t.as(await t.signIn(who.userName, who.password)),
})
const update = (who: Person, userName: string, change: object) =>
  who.api.post(`${base}/admin/updateuser`, { userName, ...change })
const freeAll = (who: Person) =>
  who.api.post(
    `${base}/agents/configuration`,
    agents.map(({ agentId }) => ({ uuid: agentId, agentConfigViewResource: { isSystemArmed: 'free' } })),
  )
const requests = async (): Promise<ChangeRequest[]> =>
  (await alice.api.get(`${base}/policy/changerequests`)).json().data
const approve = (who: Person, id: string) => approveRequest(who.api, id)
const firstWaiting = async (): Promise<string> => (await requests()).find(({ state }) => state === 'Waiting')?.id ?? ''
/** Code of a refusal. Some operations answer errors as plain text. */
const code = (answer: { body: string; statusCode: number }): string | undefined => {
  if (answer.body.startsWith('{')) return JSON.parse(answer.body).code
  if (/second approver/.test(answer.body)) return 'second_person_required'
  return /^API tokens/.test(answer.body) ? 'session_required' : answer.body
}
const accounts = async (): Promise<{ userName: string; isEnabled: boolean; userProfile: number }[]> =>
  (await alice.api.get(`${base}/admin/all`)).json()
const commands = async (): Promise<unknown[]> => (await pageOf(t, 'agents/commands?state=queued')).data

describe('one person cannot get past the second approver', () => {
  it('disabling, demoting or deleting the other Administrator needs a second approver and does not lift the gate', async () => {
    expect(code(await update(alice, 'bob', { isEnabled: false }))).toBe('second_person_required')
    expect(code(await update(alice, 'bob', { userProfile: 30 }))).toBe('second_person_required')
    expect(code(await alice.api.post(`${base}/admin/deleteUsers`, ['bob']))).toBe('second_person_required')
    expect(await accounts()).toContainEqual(
      expect.objectContaining({ userName: 'bob', isEnabled: true, userProfile: 10 }),
    )
    expect((await requests()).map(({ action, title }) => [action, title])).toEqual(
      expect.arrayContaining([
        ['account', 'Disable Administrator bob'],
        ['account', 'Make Administrator bob a User'],
        ['account', 'Delete Administrator bob'],
      ]),
    )
    expect(code(await freeAll(alice))).toBe('second_person_required')
    expect(await commands()).toEqual([])
  })

  it('the gate stays on after the other Administrator is removed', async () => {
    await update(alice, 'bob', { isEnabled: false })
    expect((await approve(bob, await firstWaiting())).statusCode).toBe(200)
    expect(await accounts()).toContainEqual(expect.objectContaining({ userName: 'bob', isEnabled: false }))
    expect(code(await freeAll(alice))).toBe('second_person_required')
    expect(await commands()).toEqual([])
  })

  it('setting the password of the other Administrator needs a second approver', async () => {
    const password = 'a password that alice knows'
    expect(code(await update(alice, 'bob', { password }))).toBe('second_person_required')
    await expect(t.signIn('bob', password)).rejects.toThrow(/401|400/)
    expect((await requests())[0]).toMatchObject({ action: 'account', title: 'Set the password of Administrator bob' })
    // The database does not contain it in clear text.
    const [row] = await t.db.query<{ text: string }>(
      sql`select string_agg(q::text, ' ') as text from change_requests q`,
    )
    expect(row?.text).not.toMatch(/alice knows|argon2|\$scrypt/)
  })

  it('resetting the second factor of the other Administrator needs a second approver', async () => {
    const answer = await alice.api.post(`${base}/admin/resetmfa`, { userName: 'bob' })
    expect(code(answer)).toBe('second_person_required')
    expect((await requests())[0]).toMatchObject({ title: 'Reset the second factors of Administrator bob' })
  })

  it('changing the email address of the other Administrator needs a second approver', async () => {
    expect(code(await update(alice, 'bob', { email: 'alice@example.org' }))).toBe('second_person_required')
    expect((await requests())[0]).toMatchObject({ action: 'account', title: expect.stringContaining('bob') })
    expect(await accounts()).toContainEqual(expect.objectContaining({ userName: 'bob', email: '' }))
  })

  it('an account whose password another person set cannot approve for 24 hours', async () => {
    const carol = await person(t, { profile: 10, userName: 'carol' })
    const password = 'a password that alice knows'
    await update(carol, 'bob', { password })
    expect((await approve(alice, await firstWaiting())).json().detail).toMatch(/created one of these accounts/)
    await update(alice, 'bob', { password })
    expect((await approve(await again(bob), await firstWaiting())).statusCode).toBe(200)
    await freeAll(alice)
    const held = await approve(await again({ ...bob, password }), await firstWaiting())
    expect([held.statusCode, held.json().detail]).toEqual([403, expect.stringContaining('last 24 hours')])
    t.clock.advance(day)
    await freeAll(await again(alice))
    alice = await again(alice)
    expect((await approve(await again({ ...bob, password }), await firstWaiting())).statusCode).toBe(200)
  })

  it('accounts that one person created cannot approve for that person, even indirectly', async () => {
    const carol = await person(t, { profile: 10, userName: 'carol' })
    const made = await carol.api.post(`${base}/admin/adduser`, {
      userName: 'dora',
      userProfile: 10,
      password: 'a password that carol knows',
    })
    expect(made.statusCode).toBe(200)
    t.clock.advance(2 * day)
    alice = await again(alice)
    await freeAll(alice)
    const id = await firstWaiting()
    for (const who of [carol, { ...carol, userName: 'dora', password: 'a password that carol knows' }]) {
      const answer = await approve(await again(who), id)
      expect([answer.statusCode, answer.json().detail]).toEqual([
        403,
        expect.stringContaining('One person could act as both'),
      ])
    }
    expect((await approve(await again(bob), id)).statusCode).toBe(200)
  })

  it('a Manager whose password the requester set cannot approve, however long ago', async () => {
    const mia = await person(t, { profile: 20, userName: 'mia' })
    t.clock.advance(3 * day)
    alice = await again(alice)
    await freeAll(alice)
    expect((await approve(await again(mia), await firstWaiting())).statusCode).toBe(403)
    expect(await commands()).toEqual([])
  })

  it('a stale session can neither request nor approve', async () => {
    await freeAll(alice)
    const id = await firstWaiting()
    t.clock.advance(6 * 60_000)
    expect(code(await approve(bob, id))).toBe('reauthentication_required')
    expect(code(await update(alice, 'bob', { isEnabled: false }))).toBe('reauthentication_required')
    expect(await requests()).toHaveLength(1)
    expect((await approve(await again(bob), id)).statusCode).toBe(200)
  })

  it('a stolen API token of a Manager can neither request nor approve, and gets no separate limit', async () => {
    const mia = await person(t, { profile: 20, userName: 'mia' })
    await t.db.execute(sql`delete from account_influences`)
    const made = await mia.api.post(`${base}/admin/apitokens`, {
      name: 'stolen',
      scopes: ['fleet:read', 'fleet:write'],
    })
    const token = { ...mia, api: t.as(made.json().token) }
    expect(code(await freeAll(token))).toBe('session_required')
    expect(code(await rule(token, { kinds: ['Keyboard'] }))).toBe('named_hosts_required')
    expect(await requests()).toEqual([])
    const one = (who: Person, at: number) =>
      who.api.post(`${base}/agents/configuration`, [
        { uuid: agents[at]?.agentId, agentConfigViewResource: { isSystemArmed: 'free' } },
      ])
    expect((await one(token, 0)).statusCode).toBe(200)
    expect(code(await one(alice, 1))).toBe('second_person_required')
    expect(code(await approve(token, await firstWaiting()))).toBe('session_required')
    expect(await commands()).toHaveLength(1)
  })

  const rule = (who: Person, change: object) =>
    who.api.post(`${base}/policy/rules`, { effect: 'allow', reason: 'test', ...change })
  const rules = async (): Promise<unknown[]> => (await alice.api.get(`${base}/policy/rules`)).json().data

  it('one allow rule for all kinds needs a second approver', async () => {
    const answer = await rule(alice, { kinds: ['Keyboard', 'Mass Storage'] })
    expect([answer.statusCode, code(answer)]).toEqual([403, 'second_person_required'])
    expect(await rules()).toEqual([])
    const [request] = await requests()
    expect(request).toMatchObject({
      action: 'rules',
      hosts: 3,
      title: 'Allow every keyboard or mass storage on every host (newly allows devices on 3 hosts)',
    })
    expect((await approve(alice, request?.id ?? '')).statusCode).toBe(403)
    expect((await approve(bob, request?.id ?? '')).statusCode).toBe(200)
    expect(await rules()).toHaveLength(1)
  })

  it('no other path creates a wide rule', async () => {
    const admin = alice.api
    await admin.post(`${base}/generalconfig/addhashtags`, { hashtags: ['kiosk'] })
    const end = new Date(t.clock.now() + 3_600_000).toISOString()
    const denied = await rule(alice, { effect: 'deny', kinds: ['Keyboard'] })
    expect(denied.statusCode).toBe(200)
    const id = denied.json().rule.id
    const attempts = [
      () => rule(alice, { kinds: ['Keyboard'], tag: 'kiosk' }),
      () => rule(alice, { vid: '046D' }),
      () => admin.post(`${base}/policy/grants`, { kinds: ['Keyboard'], reason: 'test', expiresAt: end }),
      () => admin.put(`${base}/policy/rules/${id}`, { effect: 'allow', kinds: ['Keyboard'], reason: 'test' }),
      () =>
        admin.post(`${base}/generalconfig/document`, {
          rules: [{ effect: 'allow', kinds: ['Keyboard'], reason: 'test' }],
        }),
    ]
    for (const attempt of attempts) expect(code(await attempt())).toBe('second_person_required')
    expect(await rules()).toHaveLength(1)
    // One host is within the limit; a second one exceeds it.
    const at = (n: number) => rule(alice, { kinds: ['Keyboard'], host: agents[n]?.agentId })
    expect((await at(0)).statusCode).toBe(200)
    expect(code(await at(1))).toBe('second_person_required')
  })

  it('deleting the deny that covers an allow, and restoring an older version, are counted', async () => {
    const denied = await rule(alice, { effect: 'deny', kinds: ['Keyboard'] })
    await rule(alice, { kinds: ['Keyboard'] })
    expect((await approve(bob, await firstWaiting())).statusCode).toBe(200)
    const version = (await alice.api.get(`${base}/policy`)).json().version
    expect(code(await alice.api.delete(`${base}/policy/rules/${denied.json().rule.id}`))).toBe('second_person_required')
    const narrow = await rules()
    const allow = narrow.find((one) => (one as { effect: string }).effect === 'allow') as { id: string }
    expect((await alice.api.delete(`${base}/policy/rules/${allow.id}`)).statusCode).toBe(200)
    expect(code(await alice.api.post(`${base}/policy/restore`, { version }))).toBe('second_person_required')
    expect(await rules()).toHaveLength(1)
  })

  it('an approved change of rules is refused if the rules changed in the meantime', async () => {
    const made = await rule(alice, { kinds: ['Keyboard'], host: agents[0]?.agentId })
    const id = made.json().rule.id
    await alice.api.put(`${base}/policy/rules/${id}`, { effect: 'allow', kinds: ['Keyboard'], reason: 'wide' })
    const request = await firstWaiting()
    expect((await bob.api.delete(`${base}/policy/rules/${id}`)).statusCode).toBe(200)
    const answer = await approve(bob, request)
    expect([answer.statusCode, answer.json().detail]).toEqual([409, expect.stringContaining('A rule in this request')])
    expect(await rules()).toEqual([])
  })

  it('editing the reason of a wide rule, or narrowing it, needs no second approver', async () => {
    await rule(alice, { kinds: ['Keyboard', 'Mouse'] })
    await approve(bob, await firstWaiting())
    const [{ id }] = (await rules()) as [{ id: string }]
    const put = (kinds: string[]) =>
      alice.api.put(`${base}/policy/rules/${id}`, { effect: 'allow', kinds, reason: 'another' })
    expect((await put(['Keyboard', 'Mouse'])).statusCode).toBe(200)
    expect((await put(['Keyboard'])).statusCode).toBe(200)
    expect(code(await put(['Keyboard', 'Mouse']))).toBe('second_person_required')
  })
})
