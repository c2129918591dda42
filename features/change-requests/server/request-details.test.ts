import { createHash } from 'node:crypto'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest } from '@portcullis/server/test/approvals.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { createAuthority } from '@portcullis/server/test/certificates.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ChangeRequest } from '#features/contract.ts'

const base = '/prime/webui'
let t: TestApp
let agents: TestAgent[]
let alice: Person
let bob: Person

/** Two Administrators, alice and bob. Three hosts and a limit of one. */
beforeAll(async () => {
  t = await startTestApp({ listen: true })
  agents = []
  for (const hostname of ['host-a', 'host-b', 'host-c']) agents.push(await enrolAgent(t, { facts: { hostname } }))
  const admin = await t.admin()
  const { settings } = (await admin.get(`${base}/policy`)).json()
  await admin.put(`${base}/policy/settings`, { ...settings, twoPersonHosts: 1 })
  bob = await person(t, { profile: 10, userName: 'bob' })
})
afterAll(() => t.close())
beforeEach(async () => {
  t.clock.advance(16 * 60_000)
  await t.db.execute(sql`delete from change_requests`)
  alice = { userName: 'admin', password: adminPassword, token: '', api: t.as(await t.signIn()) }
  bob = { ...bob, api: t.as(await t.signIn(bob.userName, bob.password)) }
})

const requests = async (): Promise<ChangeRequest[]> => (await bob.api.get(`${base}/policy/changerequests`)).json().data
const newest = async (): Promise<ChangeRequest> => (await requests())[0] as ChangeRequest
const named = async (): Promise<string[]> => {
  const { title, details } = await newest()
  // The next request is newer.
  t.clock.advance(1_000)
  return [title, ...details.toSorted()]
}
const wide = (who: Person, vid: string) =>
  who.api.post(`${base}/policy/rules`, { effect: 'allow', vid, reason: 'test' })
const vids = (n: number): string[] => Array.from({ length: n }, (_, i) => (0xa000 + i).toString(16).toUpperCase())
const uuids = () => agents.map(({ agentId }) => agentId)
const hosts = () => agents.map(({ agentId, facts }) => `${facts.hostname} (${agentId})`)

const ldap = { LDAP_URL: 'ldaps://192.0.2.7', LDAP_SECURITY: 'tls', LDAP_BASE_DN: 'dc=example' }

describe('an approver sees everything that a request does', () => {
  it('a request for rules lists every rule', async () => {
    const rules = vids(6).map((vid) => ({ effect: 'allow', vid, reason: `for ${vid}` }))
    rules.push({ effect: 'deny', vid: 'B000', reason: 'for one host', ...{ host: uuids()[0] } })
    expect((await alice.api.post(`${base}/generalconfig/document`, { rules })).statusCode).toBe(403)
    const { title, details } = await newest()
    expect(title).toContain('and 3 more rule changes')
    expect(details).toEqual([
      ...vids(6).map((vid) => `Allow every device of vendor ${vid} on every host (for ${vid})`),
      `Deny every device of vendor B000 on host host-a (${uuids()[0]}) (for one host)`,
    ])
  })

  it('a request that replaces a rule shows the old rule', async () => {
    const made = await alice.api.post(`${base}/policy/rules`, { effect: 'deny', vid: 'C000', reason: 'old' })
    const path = `${base}/policy/rules/${made.json().rule.id}`
    await alice.api.put(path, { effect: 'allow', vid: 'C000', reason: 'new' })
    expect((await newest()).details).toEqual([
      'Allow every device of vendor C000 on every host, instead of "deny every device of vendor C000 on every host" (new)',
    ])
    expect((await alice.api.delete(path)).statusCode).toBe(200)
  })

  it('a request to free or delete hosts names each of them', async () => {
    await alice.api.post(`${base}/agents/bulk`, { action: 'free', uuids: uuids() })
    expect(await named()).toEqual(['Free 3 hosts', ...hosts()])
    await alice.api.post(`${base}/agents/bulk`, { action: 'delete', uuids: uuids() })
    expect(await named()).toEqual(['Delete 3 hosts', ...hosts()])
    const free = uuids().map((uuid) => ({ uuid, agentConfigViewResource: { isSystemArmed: 'free' } }))
    await alice.api.post(`${base}/agents/configuration`, free)
    expect(await named()).toEqual(['Free 3 hosts', ...hosts().map((host) => `${host}: free`)])
  })

  it('a request to raise the limit lists old and new values', async () => {
    const { settings } = (await alice.api.get(`${base}/policy`)).json()
    await alice.api.put(`${base}/policy/settings`, { ...settings, twoPersonHosts: 500, contact: 'mallory' })
    expect((await newest()).details).toEqual([
      'Hosts without a second approver: 1 → 500',
      expect.stringMatching(/^Maximum grant.*unchanged/),
      expect.stringMatching(/^Command expiry.*unchanged/),
      'Contact: "" → "mallory"',
    ])
  })

  it('a request to change an account or to update agents has labels, not names of the API', async () => {
    const carol = await person(t, { profile: 10, userName: 'carol' })
    const change = { userName: carol.userName, userProfile: 20, isEnabled: false, email: 'c@example.org' }
    expect((await alice.api.post(`${base}/admin/updateuser`, change)).statusCode).toBe(403)
    expect((await newest()).details).toEqual([
      expect.stringMatching(/^Account carol \(/),
      'Profile: Manager',
      'User name: "carol"',
      'Enabled: no',
      'Email: "c@example.org"',
    ])
    const settings = { kind: 'update', name: 'Kiosks', rings: [], dwellMinutes: 60, applyToPresent: false }
    const update = t.server.changeRequests.kinds().get('rollout-update')
    const lines = await t.db.transaction(async (tx) => update?.details?.(tx, { name: 'Kiosks', settings, builds: {} }))
    expect(lines).toEqual(expect.arrayContaining(['Minutes between rings: 60', 'Also apply to attached devices: no']))
  })

  it('a request whose old values are no longer in force is refused', async () => {
    const { settings } = (await alice.api.get(`${base}/policy`)).json()
    const save = (change: object) => bob.api.put(`${base}/policy/settings`, { ...settings, ...change })
    await alice.api.put(`${base}/policy/settings`, { ...settings, twoPersonHosts: 500 })
    const { id, details } = await newest()
    expect(details).toContain('Maximum grant (hours): 168 (unchanged)')
    expect((await save({ grantMaxHours: 8 })).statusCode).toBe(200)
    const refused = await approveRequest(bob.api, id)
    expect([refused.statusCode, refused.json().detail]).toEqual([
      409,
      expect.stringContaining('Request the change again'),
    ])
    expect((await alice.api.get(`${base}/policy`)).json().settings).toEqual({ ...settings, grantMaxHours: 8 })
    expect((await save({})).statusCode).toBe(200)
    expect((await approveRequest(bob.api, id)).statusCode).toBe(200)
    expect((await save({})).statusCode).toBe(200)
  })

  it('changes of the details in the database are detected', async () => {
    await wide(alice, 'A000')
    const { id } = await newest()
    await t.db.execute(sql`update change_requests set details = '{harmless}'`)
    const answer = await approveRequest(bob.api, id)
    expect([answer.statusCode, answer.json().detail]).toEqual([409, expect.stringContaining('not authentic')])
  })
})

describe('an approval is for what the approver read', () => {
  const rulesWithOneWide = () => [
    ...vids(250).map((vid) => ({ effect: 'deny', vid, reason: 'harmless' })),
    {
      effect: 'allow',
      kinds: ['Keyboard', 'Network', 'Mass Storage'],
      overrideAttackTool: true,
      reason: 'hidden',
    },
  ]
  const read = async (id: string, query = '') =>
    (await bob.api.get(`${base}/policy/changerequests/${id}/details${query}`)).json()
  const file = async (id: string): Promise<string> =>
    (await bob.api.get(`${base}/policy/changerequests/${id}/file`)).body
  const approve = (id: string, digest?: string) =>
    bob.api.post(`${base}/policy/changerequests/${id}/approve`, digest === undefined ? {} : { digest })

  it('the widest rule comes first, and the pages and the file have every rule', async () => {
    expect((await alice.api.post(`${base}/generalconfig/document`, { rules: rulesWithOneWide() })).statusCode).toBe(403)
    const { id, title, details, lines } = await newest()
    const widest = 'Allow every keyboard or mass storage or network on every host, even a known attack tool (hidden)'
    expect(title).toContain('Allow every keyboard or mass storage or network on every host, even a known attack tool;')
    expect([details.length, details[0], lines]).toEqual([20, widest, 251])
    const pages = await Promise.all([1, 2].map((n) => read(id, `?PageNumber=${n}&PageSize=200`)))
    const all: string[] = pages.flatMap(({ data }) => data)
    expect(all).toHaveLength(251)
    expect(all[0]).toBe(widest)
    expect(new Set(all.slice(1))).toEqual(
      new Set(vids(250).map((vid) => `Deny every device of vendor ${vid} on every host (harmless)`)),
    )
    const text = await file(id)
    for (const [i, line] of all.entries()) expect(text).toContain(`\n${i + 1}. ${line}\n`)
    expect(new Set(pages.map(({ digest }) => digest))).toEqual(
      new Set([createHash('sha256').update(text).digest('hex')]),
    )
    expect((await approve(id)).json().code).toBe('validation_failed')
    const other = await approve(id, '0'.repeat(64))
    expect([other.statusCode, other.json().code]).toEqual([409, 'change_differs'])
    expect((await newest()).state).toBe('Waiting')
    expect((await approve(id, pages[0].digest)).json()).toMatchObject({ state: 'Approved', details: [], lines: 0 })
    const rules = (await bob.api.get(`${base}/policy/rules?PageSize=1000`)).json().data
    expect(rules).toHaveLength(251)
    await t.db.execute(sql`delete from policy_rules`)
  })

  it('long values are shown exactly, and letters of other scripts also in ASCII', async () => {
    const long = `ldaps://${`${'directory-of-the-company.'.repeat(6)}example.org`}`
    const url = [long, `${long}:637`, 'ldaps://directory.evil.example']
    await alice.api.post(`${base}/generalconfig/AddOrUpdateLDAPServer`, {
      ...ldap,
      LDAP_URL: url.join(' '),
      LDAP_BASE_DN: 'dc=ex\u0430mple',
    })
    const { data } = await read((await newest()).id)
    expect(data).toContain(`Directory: Address: not set → ${url.join(' ')}`)
    expect(data).toContain('Directory: Base DN: not set → dc=ex\u0430mple (in ASCII: dc=ex%u{430}mple)')
  })

  it('the title is sealed, even without details', async () => {
    await wide(alice, 'A000')
    const { id } = await newest()
    const { digest } = await read(id)
    await t.db.execute(sql`update change_requests set title = 'Harmless'`)
    for (const answer of [await approve(id, digest), await bob.api.get(`${base}/policy/changerequests/${id}/details`)])
      expect([answer.statusCode, answer.json().detail]).toEqual([409, expect.stringContaining('not authentic')])
  })

  it('a request of an earlier release, which may hide a part, must be filed again', async () => {
    await wide(alice, 'A000')
    const { id } = await newest()
    const { digest } = await read(id)
    await t.db.execute(sql`update change_requests set shown_seal = null`)
    const answer = await approve(id, digest)
    expect([answer.statusCode, answer.json().detail]).toEqual([409, expect.stringContaining('earlier release')])
  })

  it('a value that cannot be shown in full cannot be filed', async () => {
    const { pem: ca } = await createAuthority()
    const filed = await alice.api.post(
      `${base}/generalconfig/AddOrUpdateLDAPServer`,
      { ...ldap, LDAP_CA: `${ca}\n`.repeat(Math.ceil(20_000 / ca.length)) },
      { accept: 'application/json' },
    )
    expect([filed.statusCode, filed.json().code]).toEqual([422, 'change_not_shown'])
    expect(await requests()).toEqual([])
  })
})

describe('nobody can fill the queue of requests', () => {
  it('one account has at most ten waiting requests', async () => {
    for (const vid of vids(10)) expect((await wide(alice, vid)).json().code).toBe('second_person_required')
    const refused = await wide(alice, 'B001')
    expect([refused.statusCode, refused.json().code]).toEqual([409, 'approval_queue_full'])
    expect(await requests()).toHaveLength(10)
    expect((await wide(bob, 'B001')).json().code).toBe('second_person_required')
    const { id } = (await requests()).find(({ requestedBy }) => requestedBy === 'admin') as ChangeRequest
    await alice.api.post(`${base}/policy/changerequests/${id}/reject`)
    expect((await wide(alice, 'B002')).json().code).toBe('second_person_required')
  })

  it('requests of Managers leave ten places for Administrators', async () => {
    const managers: Person[] = []
    for (let n = 0; n < 5; n++) managers.push(await person(t, { profile: 20 }))
    for (const [n, vid] of vids(40).entries())
      expect((await wide(managers[n % 4] as Person, vid)).json().code).toBe('second_person_required')
    expect((await wide(managers[4] as Person, 'B001')).json().code).toBe('approval_queue_full')
    expect((await wide(alice, 'B001')).json().code).toBe('second_person_required')
  })
})
