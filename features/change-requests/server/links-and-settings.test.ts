import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest } from '@portcullis/server/test/approvals.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { permissionsOf } from '#features/contract.ts'

const base = '/prime/webui'
const config = `${base}/generalconfig`
const hour = 3_600_000
let t: TestApp
let bob: Person
/** An Administrator's API token with all permissions, as an attacker would steal it. */
let stolen: ReturnType<TestApp['as']>

const mail = { SMTP_HOST: 'mail.example.org', SMTP_FROM: 'p@example.org', SMTP_PASSWORD: 'hidden-secret-1' }

/** A configured server with two Administrators: `admin` and bob. */
beforeEach(async () => {
  t = await startTestApp()
  const admin = await t.admin()
  expect((await admin.post(`${config}/AddOrUpdateSMPTConfig`, mail)).statusCode).toBe(200)
  const named = await admin.post(`${config}/SetServerDomainName`, { SERVER_DOMAIN_NAME: 'portcullis.example.org' })
  expect(named.statusCode).toBe(200)
  t.clock.advance(25 * hour)
  bob = await person(t, { profile: 10, userName: 'bob' })
  const made = await (await t.admin()).post(`${base}/admin/apiTokens`, {
    name: 'stolen',
    userProfile: 10,
    scopes: permissionsOf(10),
  })
  stolen = t.as(made.json().token)
})
afterEach(() => t.close())

const requests = async () => (await (await t.admin()).get(`${base}/policy/changerequests`)).json().data
const waiting = async (): Promise<string> =>
  (await requests()).find(({ state }: { state: string }) => state === 'Waiting')?.id
const approve = (by: Pick<Person, 'api'>, id: string) => approveRequest(by.api, id)
const reject = (api: Person['api'], id: string) => api.post(`${base}/policy/changerequests/${id}/reject`)
const again = async (who: Person): Promise<Person> => ({
  ...who,
  api: t.as(await t.signIn(who.userName, who.password)),
})
const stored = async (name: string): Promise<string> =>
  (await (await t.admin()).get(`${config}/GetConfigItemsByName/${name}`)).json()[name]

/** Requests that change the mail server or the domain name, one for each path. */
const paths = (api: ReturnType<TestApp['as']>): readonly (() => ReturnType<typeof api.post>)[] => [
  () => api.post(`${config}/AddOrUpdateSMPTConfig`, { SMTP_HOST: 'mail.thief.example', SMTP_PASSWORD: 'x' }),
  () => api.post(`${config}/AddOrUpdateSMPTConfig`, { SMTP_USER: 'thief' }),
  () => api.post(`${config}/RemoveSmtpPassword`),
  () => api.post(`${config}/SetServerDomainName`, { SERVER_DOMAIN_NAME: 'evil.example' }),
  () => api.post(`${config}/document`, { settings: { SMTP_HOST: 'mail.thief.example', SMTP_PASSWORD: 'x' } }),
  () => api.post(`${config}/document`, { settings: { SERVER_DOMAIN_NAME: 'evil.example' } }),
  () => api.post(`${config}/rollback/0`),
  () => api.post(`${config}/rollback/0?prefix=SMTP`),
  () => api.post(`${config}/rollback/1?prefix=SERVER_DOMAIN_NAME`),
]

/** Creates an Administrator whose link is handed over or mailed, and sets its password with the link. */
const byLink = async (maker: Person['api'], userName: string, email: string): Promise<Person> => {
  const made = (await maker.post(`${base}/admin/adduser`, { userName, userProfile: 10, email })).json()
  expect(made.isMailed).toBe(email !== '')
  return useLink(userName, made.setPasswordUrl)
}
const useLink = async (userName: string, url: string): Promise<Person> => {
  const password = 'a password set by a link'
  const answer = await t
    .as(undefined)
    .post(`${base}/Auth/SetPassword`, { token: url.split('#token=')[1], newPassword: password })
  expect(answer.statusCode, answer.body).toBe(200)
  const token = await t.signIn(userName, password)
  return { userName, password, token, api: t.as(token) }
}

/** Files a request as `admin`. Nobody controls another account, so only holds can refuse an approver. */
const file = async (): Promise<string> => {
  await t.db.execute(sql`delete from account_influences`)
  const answer = await (await t.admin()).post(`${config}/AddOrUpdateLDAPServer`, {
    LDAP_BASE_DN: `dc=${String(t.clock.now())}`,
  })
  expect(answer.json().code).toBe('second_person_required')
  return waiting()
}

describe('the mail server and the domain name', () => {
  it('an API token or a stale session can change neither the mail server nor the domain name', async () => {
    const stale = t.as(await t.signIn())
    t.clock.advance(6 * 60_000)
    for (const path of paths(stolen)) {
      const answer = await path()
      expect([answer.statusCode, answer.json().code]).toEqual([403, 'session_required'])
    }
    for (const path of paths(stale)) {
      const answer = await path()
      expect([answer.statusCode, answer.json().code]).toEqual([401, 'reauthentication_required'])
    }
    expect([await stored('SMTP_HOST'), await stored('SERVER_DOMAIN_NAME')]).toEqual([
      'mail.example.org',
      'portcullis.example.org',
    ])
    expect(await requests()).toEqual([])
  })

  it('one Administrator alone can change neither the mail server nor the domain name, on any path', async () => {
    for (const path of paths(await t.admin())) {
      const answer = await path()
      expect([answer.statusCode, answer.json().code]).toEqual([403, 'second_person_required'])
    }
    expect([await stored('SMTP_HOST'), await stored('SMTP_PASSWORD'), await stored('SERVER_DOMAIN_NAME')]).toEqual([
      'mail.example.org',
      '********',
      'portcullis.example.org',
    ])
    const { setPasswordUrl } = (
      await (await t.admin()).post(`${base}/admin/adduser`, { userName: 'dora', userProfile: 30 })
    ).json()
    expect(setPasswordUrl).toMatch(/portcullis\.example\.org\/set-password#/)
  })

  it('a second approver sees old and new values, and exactly those are applied', async () => {
    const change = { SMTP_HOST: 'mail2.example.org', SMTP_PASSWORD: 'hidden-secret-2' }
    await (await t.admin()).post(`${config}/AddOrUpdateSMPTConfig`, change)
    expect((await requests())[0]).toMatchObject({
      title: 'Change the sign-in settings: Mail: Server, Mail: Password',
      details: ['Mail: Server: mail.example.org → mail2.example.org', 'Mail: Password: set → (changed)'],
    })
    expect((await approve(bob, await waiting())).statusCode).toBe(200)
    expect(await stored('SMTP_HOST')).toBe('mail2.example.org')
    // Restoring a version restores every item, so the approver sees all of them.
    await (await t.admin()).post(`${config}/AddOrUpdateCustomLogin`, { CUSTOM_LOGIN_TITLE: 'Plant 7' })
    t.clock.advance(1_000)
    await (await t.admin()).post(`${config}/rollback/1`)
    expect((await requests())[0]).toMatchObject({
      title:
        'Restore version 1 of the sign-in settings: Sign-in page: Title, Domain name, Mail: Server, Mail: Password',
      details: [
        'Domain name: portcullis.example.org → not set',
        'Mail: Server: mail2.example.org → mail.example.org',
        'Mail: Password: set → (changed)',
        'Sign-in page: Title: Plant 7 → not set',
      ],
    })
    const request = await waiting()
    await (await t.admin()).post(`${config}/AddOrUpdateCustomLogin`, { CUSTOM_LOGIN_TITLE: 'Plant 8' })
    const late = await approve(bob, request)
    expect([late.statusCode, late.json().detail]).toEqual([409, expect.stringContaining('The settings changed')])
    expect(await stored('CUSTOM_LOGIN_TITLE')).toBe('Plant 8')
  })

  it('a value cannot hide changes from the approver behind spaces or at its end', async () => {
    const url = `ldaps://dc.example.org${' '.repeat(400)}ldaps://evil.example`
    await (await t.admin()).post(`${config}/AddOrUpdateLDAPServer`, { LDAP_URL: url, LDAP_SECURITY: 'tls' })
    expect((await requests())[0].details).toContain(
      `Directory: Address: not set → ldaps://dc.example.org${'%20'.repeat(399)} ldaps://evil.example`,
    )
    t.clock.advance(1_000)
    const filterOf = (end: string) => `(&(uid={username})(cn=\u202e)${'(a=b)'.repeat(80)}${end})`
    const change = (end: string) => ({ LDAP_USER_FILTER: filterOf(end) })
    const first = await (await t.admin()).post(`${config}/AddOrUpdateLDAPServer`, change('(c=d)'))
    expect(first.json().code, first.body).toBe('second_person_required')
    const [{ id, details }] = await requests()
    const shownOf = (end: string): string => filterOf(end).replace('\u202e', '%u202E')
    expect(details).toEqual([`Directory: User filter: not set → ${shownOf('(c=d)')}`])
    expect((await approve(bob, id)).statusCode).toBe(200)
    t.clock.advance(1_000)
    await (await t.admin()).post(`${config}/AddOrUpdateLDAPServer`, change('(e=f)'))
    const [{ details: later }] = await requests()
    expect(later).toEqual([`Directory: User filter: ${shownOf('(c=d)')} → ${shownOf('(e=f)')}`])
  })

  it('a change of the domain name shows how many accounts lose their passkeys', async () => {
    await t.db.execute(sql`
      insert into account_passkeys (credential_id, account_id, public_key, counter, transports, name, created_at)
      select 'key ' || a.user_name, a.account_id, '\\x00', 0, '{}', 'key', now() from accounts a`)
    const answer = await (await t.admin()).post(`${config}/SetServerDomainName`, { SERVER_DOMAIN_NAME: 'new.example' })
    expect(answer.json().detail).toContain('2 accounts have passkeys that do not work with another domain name')
    expect((await requests())[0].details).toEqual([
      '2 accounts have passkeys that do not work with another domain name.',
      'Domain name: portcullis.example.org → new.example',
    ])
  })
})

describe('accounts with a password set by a link', () => {
  it('an account whose password was set by a mailed link cannot approve for 24 hours', async () => {
    const made = await bob.api.post(`${base}/admin/adduser`, {
      userName: 'dora',
      userProfile: 10,
      email: 'dora@example.org',
    })
    expect(made.json().isMailed).toBe(true)
    t.clock.advance(40 * hour)
    const dora = await useLink('dora', made.json().setPasswordUrl)
    const refused = await approve(dora, await file())
    expect([refused.statusCode, refused.json().detail]).toEqual([403, expect.stringContaining('mailed link')])
    t.clock.advance(23 * hour)
    expect((await approve(await again(dora), await file())).statusCode).toBe(403)
    t.clock.advance(hour)
    expect((await approve(await again(dora), await file())).statusCode).toBe(200)
  })

  it('a link that its creator handed over does not delay approvals', async () => {
    const dora = await byLink(bob.api, 'dora', '')
    expect((await approve(dora, await file())).statusCode).toBe(200)
  })

  it.each([
    ['domain name', 'SetServerDomainName', { SERVER_DOMAIN_NAME: 'evil.example' }],
    ['mail server', 'AddOrUpdateSMPTConfig', { SMTP_FROM: 'thief@example.org' }],
  ])(
    'an account whose link was created after a change of the %s cannot approve for 24 hours',
    async (_, operation, change) => {
      await (await t.admin()).post(`${config}/${operation}`, change)
      expect((await approve(bob, await waiting())).statusCode).toBe(200)
      t.clock.advance(20 * hour)
      const dora = await byLink((await again(bob)).api, 'dora', '')
      expect((await approve(dora, await file())).statusCode).toBe(403)
      t.clock.advance(4 * hour)
      expect((await approve(await again(dora), await file())).statusCode).toBe(200)
    },
  )
})

describe('requests', () => {
  it('rejecting a request needs a fresh session of an account that may approve it, or of the requester', async () => {
    const mia = await person(t, { profile: 20, userName: 'mia' })
    const scopes = ['fleet:read', 'fleet:write']
    const token = t.as((await mia.api.post(`${base}/admin/apiTokens`, { name: 'stolen', scopes })).json().token)
    const id = await file()
    for (const [api, code] of [
      [token, 'session_required'],
      [stolen, 'session_required'],
      [mia.api, 'forbidden_object'],
    ] as const)
      expect((await reject(api, id)).json().code).toBe(code)
    await t.db.execute(
      sql`update accounts set approves_from = ${new Date(t.clock.now() + hour)} where name_key = 'bob'`,
    )
    expect((await reject(bob.api, id)).json().code).toBe('forbidden_object')
    await t.db.execute(sql`update accounts set approves_from = null where name_key = 'bob'`)
    t.clock.advance(6 * 60_000)
    expect((await reject(bob.api, id)).json().code).toBe('reauthentication_required')
    expect(await waiting()).toBe(id)
    bob = await again(bob)
    expect((await reject(bob.api, id)).json().state).toBe('Rejected')
    expect((await reject(await t.admin(), await file())).json().state).toBe('Rejected')
    // A request of a suspended person cannot be approved, but can be rejected.
    const last = await file()
    await t.db.execute(sql`update accounts set suspended_until = timestamptz '2100-01-01' where name_key = 'admin'`)
    expect((await approve(bob, last)).statusCode).toBe(403)
    expect((await reject(bob.api, last)).json().state).toBe('Rejected')
  })
})

describe('accounts and tokens of other people', () => {
  it('an API token can delete and disable only accounts of profile User', async () => {
    const mia = await person(t, { profile: 20, userName: 'mia' })
    const disable = (userName: string) => stolen.post(`${base}/admin/updateuser`, { userName, isEnabled: false })
    const remove = (userName: string) => stolen.post(`${base}/admin/deleteUsers`, [userName])
    for (const userName of ['bob', 'mia'])
      for (const act of [disable, remove]) expect((await act(userName)).json().code).toBe('session_required')
    expect((await mia.api.get(`${base}/admin/getuserdetails`)).statusCode).toBe(200)
    await person(t, { userName: 'uma' })
    expect([(await disable('uma')).statusCode, (await remove('uma')).statusCode]).toEqual([200, 200])
  })

  it('an API token cannot revoke tokens of Managers or of other Administrators', async () => {
    const make = async (who: Person) => (await who.api.post(`${base}/admin/apiTokens`, { name: 'mine' })).json()
    const revoke = (api: Person['api'], id: string) => api.delete(`${base}/admin/apiTokens/${id}`)
    const mia = await person(t, { profile: 20, userName: 'mia' })
    const uma = await person(t, { userName: 'uma' })
    for (const who of [bob, mia]) {
      const { id, token } = await make(who)
      expect((await revoke(stolen, id)).json().code).toBe('session_required')
      expect((await stolen.delete(`${base}/admin/apiTokens?id=${id}`)).json().code).toBe('session_required')
      expect((await t.as(token).get(`${base}/admin/getuserdetails`)).statusCode).toBe(200)
      expect((await revoke(await t.admin(), id)).statusCode).toBe(200)
    }
    expect((await revoke(stolen, (await make(uma)).id)).statusCode).toBe(200)
    // A token can revoke the tokens of its own account, including itself.
    const own = await make(mia)
    expect((await revoke(t.as((await make(mia)).token), own.id)).statusCode).toBe(403)
    const all = { name: 'all', scopes: permissionsOf(20) }
    const { token } = (await mia.api.post(`${base}/admin/apiTokens`, all)).json()
    expect((await revoke(t.as(token), own.id)).statusCode).toBe(200)
  })

  it('an API token cannot change the e-mail address of an account above User, not even its own', async () => {
    await person(t, { profile: 20, userName: 'mia' })
    await person(t, { userName: 'uma' })
    const email = 'thief@example.org'
    for (const userName of ['bob', 'mia', 'admin']) {
      const answer = await stolen.post(`${base}/admin/updateuser`, { userName, email })
      expect(answer.json().code).toBe('session_required')
    }
    expect((await stolen.post(`${base}/admin/updateuserdetails`, { email })).json().code).toBe('session_required')
    expect((await stolen.post(`${base}/admin/updateuserdetails`, { phone: '1' })).statusCode).toBe(200)
    expect((await stolen.post(`${base}/admin/updateuser`, { userName: 'uma', email })).statusCode).toBe(200)
  })
})
