import { storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest } from '@portcullis/server/test/approvals.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { permissionsOf } from '#features/contract.ts'

const base = '/prime/webui'
/** No host has seen a device with these ids. */
const unseen = { vid: '1B4F', pid: '9999' }
const fingerprint = 'ab'.repeat(16)
let t: TestApp
let agents: TestAgent[]
let alice: Person
let bob: Person
let token: ReturnType<TestApp['as']>

/** Two Administrators; three hosts, a limit of one, and an API token of a Manager. */
beforeAll(async () => {
  t = await startTestApp({ listen: true })
  agents = await Promise.all([1, 2, 3].map(() => enrolAgent(t, { devices: [storageStick({ portPath: '1-1' })] })))
  const admin = await t.admin()
  const { settings } = (await admin.get(`${base}/policy`)).json()
  await admin.put(`${base}/policy/settings`, { ...settings, twoPersonHosts: 1 })
  const body = { name: 'automation', userProfile: 20, scopes: permissionsOf(20) }
  token = t.as((await admin.post(`${base}/admin/apiTokens`, body)).json().token)
  alice = await person(t, { profile: 10, userName: 'alice' })
  bob = await person(t, { profile: 10, userName: 'bob' })
})
afterAll(() => t.close())
beforeEach(async () => {
  t.clock.advance(16 * 60_000)
  await t.db.execute(sql`delete from account_influences`)
  await t.db.execute(sql`delete from change_requests`)
  alice = { ...alice, api: t.as(await t.signIn(alice.userName, alice.password)) }
  bob = { ...bob, api: t.as(await t.signIn(bob.userName, bob.password)) }
})

type Api = Person['api']
const rule = (api: Api, change: object) =>
  api.post(`${base}/policy/rules`, { effect: 'allow', reason: 'test', ...change })
/** Adds a rule for all hosts with a second approver. */
const allow = async (match: object): Promise<void> => {
  await rule(alice.api, match)
  expect((await approveRequest(bob.api, (await waiting())[0].id)).statusCode).toBe(200)
}
const outcome = ({ statusCode, body }: { statusCode: number; body: string }) =>
  statusCode === 200 ? 'done' : JSON.parse(body).code
const waiting = async () =>
  (await bob.api.get(`${base}/policy/changerequests`))
    .json()
    .data.filter(({ state }: { state: string }) => state === 'Waiting')
const soon = (): string => new Date(t.clock.now() + 3_600_000).toISOString()

describe('an allow without a host and a serial number counts every host in its scope', () => {
  it.each([
    ['ids', unseen],
    ['a vendor', { vid: '1B4F' }],
    ['a kind', { kinds: ['Mass Storage'] }],
    ['a fingerprint', { fingerprint }],
    ['no serial number', { ...unseen, serial: '' }],
  ])('%s that no host has seen', async (_, match) => {
    expect(outcome(await rule(alice.api, match))).toBe('second_person_required')
    expect((await waiting())[0]).toMatchObject({ action: 'rules', hosts: 3 })
  })

  it('a serial number or a host limits it', async () => {
    expect(outcome(await rule(alice.api, { ...unseen, serial: 'S1' }))).toBe('done')
    expect(outcome(await rule(alice.api, { ...unseen, host: agents[0]?.agentId }))).toBe('done')
    expect(outcome(await rule(alice.api, { ...unseen, host: agents[1]?.agentId }))).toBe('second_person_required')
  })

  it('deleting a deny that hides such a rule counts every host too', async () => {
    const deny = (await rule(alice.api, { ...unseen, effect: 'deny' })).json().rule.id
    await allow(unseen)
    expect(outcome(await alice.api.delete(`${base}/policy/rules/${deny}`))).toBe('second_person_required')
    const [{ id, hosts }] = await waiting()
    expect(hosts).toBe(3)
    expect((await approveRequest(bob.api, id)).statusCode).toBe(200)
  })
})

describe('removing a deny counts the hosts whose own allows may match devices that no host has seen', () => {
  /** Each host may use sticks, but none of this vendor. */
  const denied = { effect: 'deny', vid: '2B4F' }
  const allowEach = async (match: object): Promise<void> => {
    for (const { agentId } of agents) {
      t.clock.advance(16 * 60_000)
      alice = { ...alice, api: t.as(await t.signIn(alice.userName, alice.password)) }
      expect(outcome(await rule(alice.api, { ...match, host: agentId }))).toBe('done')
    }
    t.clock.advance(16 * 60_000)
    alice = { ...alice, api: t.as(await t.signIn(alice.userName, alice.password)) }
  }
  beforeEach(() => t.db.execute(sql`delete from policy_rules`))
  afterAll(() => t.db.execute(sql`delete from policy_rules`))

  it.each([
    ['a kind', { kinds: ['Mass Storage'] }],
    ['a vendor', { vid: '2B4F' }],
    ['no serial number', { vid: '2B4F', pid: '0001', serial: '' }],
  ])('a deleted or narrowed deny, and allows for %s', async (_, match) => {
    const deny = (await rule(alice.api, denied)).json().rule.id
    await allowEach(match)
    const preview = await alice.api.post(`${base}/policy/preview`, { remove: [deny] })
    expect(preview.json()).toMatchObject({ newlyAllowed: 3, secondPerson: true })
    const more = { add: [{ ...unseen, effect: 'allow', serial: 'S1', reason: 'test' }], remove: [deny] }
    expect((await alice.api.post(`${base}/policy/preview`, more)).statusCode).toBe(200)
    const url = `${base}/policy/rules/${deny}`
    expect(outcome(await token.delete(url))).toBe('session_required')
    const narrowed = { ...denied, kinds: ['Keyboard'], reason: 'test' }
    expect(outcome(await alice.api.put(url, narrowed))).toBe('second_person_required')
  })

  it('a deny for a tag, deleted, or no longer for the hosts', async () => {
    const uuids = agents.map(({ agentId }) => agentId)
    await alice.api.post(`${base}/generalconfig/addhashtags`, { hashtags: ['nostick'], elementIds: uuids })
    const deny = (await rule(alice.api, { ...denied, tag: 'nostick' })).json().rule.id
    await allowEach({ kinds: ['Mass Storage'] })
    const untag = { action: 'untag', hashtags: ['nostick'], uuids }
    expect((await alice.api.post(`${base}/agents/bulk/preview`, untag)).json()).toMatchObject({ secondPerson: true })
    expect(outcome(await token.post(`${base}/agents/bulk`, untag))).toBe('session_required')
    expect(outcome(await token.delete(`${base}/policy/rules/${deny}`))).toBe('session_required')
  })

  it('allows with a serial number, for other devices, or on one host open no more', async () => {
    const deny = (await rule(alice.api, denied)).json().rule.id
    await allowEach({ vid: '2B4F', pid: '0001', serial: 'S1' })
    await allowEach({ vid: '2B50' })
    expect(outcome(await rule(alice.api, { kinds: ['Mass Storage'], host: agents[0]?.agentId }))).toBe('done')
    t.clock.advance(16 * 60_000)
    alice = { ...alice, api: t.as(await t.signIn(alice.userName, alice.password)) }
    expect(outcome(await alice.api.delete(`${base}/policy/rules/${deny}`))).toBe('done')
  })
})

describe('an API token allows devices on named hosts only', () => {
  const grant = () => token.post(`${base}/policy/grants`, { ...unseen, pid: '9998', reason: 'test', expiresAt: soon() })

  it.each<[string, () => Promise<{ statusCode: number; body: string }>]>([
    ['a rule', () => rule(token, { ...unseen, pid: '9998' })],
    ['a rule for devices without a serial number', () => rule(token, { ...unseen, pid: '9998', serial: '' })],
    ['a grant', grant],
    ['a rule for a tag', () => rule(token, { ...unseen, pid: '9998', tag: 'lab' })],
  ])('%s for all hosts is refused, whatever the limit', async (_, attempt) => {
    await alice.api.post(`${base}/generalconfig/addhashtags`, { hashtags: ['lab'] })
    await t.db.execute(sql`update config_items set value = '0' where name = 'VENDORA_TWO_PERSON_LIMIT'`)
    try {
      const answer = await attempt()
      expect([answer.statusCode, JSON.parse(answer.body).code]).toEqual([403, 'named_hosts_required'])
    } finally {
      await t.db.execute(sql`update config_items set value = '1' where name = 'VENDORA_TWO_PERSON_LIMIT'`)
    }
  })

  it('deleting a deny that hides such a rule is refused', async () => {
    const deny = (await rule(alice.api, { ...unseen, pid: '9997', effect: 'deny' })).json().rule.id
    await allow({ ...unseen, pid: '9997' })
    expect(outcome(await token.delete(`${base}/policy/rules/${deny}`))).toBe('named_hosts_required')
  })

  it('rules for one host, rules with a serial number, and denies are written', async () => {
    expect(outcome(await rule(token, { ...unseen, pid: '9998', host: agents[0]?.agentId }))).toBe('done')
    expect(outcome(await rule(token, { ...unseen, pid: '9998', serial: 'S1' }))).toBe('done')
    expect(outcome(await rule(token, { ...unseen, pid: '9996', effect: 'deny' }))).toBe('done')
  })
})

it('a rule for all hosts is approved although a host enrolled since the request', async () => {
  await rule(alice.api, unseen)
  const [{ id }] = await waiting()
  await enrolAgent(t)
  const approved = await approveRequest(bob.api, id)
  expect([approved.statusCode, approved.json()]).toMatchObject([200, { state: 'Approved' }])
})
