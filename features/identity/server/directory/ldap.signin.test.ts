// Invariant: A directory or identity provider never takes over a local account.

import { createServer, type Server } from 'node:net'
import { unless } from '@portcullis/domain/testing'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { liftGate } from '@portcullis/server/test/approvals.ts'
import { createAuthority } from '@portcullis/server/test/certificates.ts'
import {
  peopleDn,
  readerDn,
  readerPassword,
  type Slapd,
  startSlapd,
  suffix,
  whyNoSlapd,
} from '@portcullis/server/test/slapd.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

const reason = whyNoSlapd()

const password = 'a directory password'
const minute = 60_000

const authority = await createAuthority()

describe('directory sign-in', unless(reason), () => {
  let slapd: Slapd
  let t: TestApp
  let ada: string
  const groups = { users: '', managers: '', administrators: '' }

  const configure = async (more: Record<string, string | null> = {}) => {
    const answer = await (await t.admin()).post('/prime/webui/generalconfig/AddOrUpdateLDAPServer', {
      LDAP_ENABLED: 'true',
      LDAP_URL: slapd.tlsUrl,
      LDAP_SECURITY: 'tls',
      LDAP_CA: authority.pem,
      LDAP_BIND_DN: readerDn,
      LDAP_BIND_PASSWORD: readerPassword,
      LDAP_BASE_DN: suffix,
      LDAP_ADMINISTRATOR_GROUP: groups.administrators,
      LDAP_MANAGER_GROUP: groups.managers,
      LDAP_USER_GROUP: groups.users,
      LDAP_USER_FILTER: null,
      LDAP_GROUP_ATTRIBUTE: null,
      LDAP_USERNAME_ATTRIBUTE: null,
      ...more,
    })
    expect(answer.statusCode, answer.body).toBe(200)
  }
  const post = (path: string, payload: unknown, remoteAddress = '127.0.0.1') =>
    t.request({
      method: 'POST',
      url: `/prime/webui/${path}`,
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(payload),
      remoteAddress,
    })
  const login = (username: string, given = password, from?: string) =>
    post('Auth/LocalLogin', { username, password: given }, from)
  const codeOf = async (answer: ReturnType<typeof login>): Promise<string> => {
    const { statusCode, body } = await answer
    return statusCode === 200 ? `as ${JSON.parse(body).user.userName}` : JSON.parse(body).code
  }
  const profileOf = async (username: string): Promise<number> => {
    const answer = await login(username)
    expect(answer.statusCode, answer.body).toBe(200)
    return answer.json().user.userProfile
  }
  const account = async (userName: string) =>
    (await (await t.admin()).get('/prime/webui/admin/all'))
      .json()
      .find((one: { userName: string }) => one.userName === userName)
  const audit = async (entity: string): Promise<{ action: string; details: string }[]> =>
    (await (await t.admin()).get('/prime/webui/events/GetAuditsIntegration?PageSize=10000'))
      .json()
      .data.filter((one: { entity: string }) => one.entity === entity)

  beforeAll(async () => {
    slapd = await startSlapd({ tls: { ...(await authority.issue(['127.0.0.1', 'localhost'])), ca: authority.pem } })
    ada = await slapd.person('ada', password)
    groups.users = await slapd.group('users', [ada])
    groups.managers = await slapd.group('managers')
    groups.administrators = await slapd.group('administrators')
    t = await startTestApp()
    await liftGate(t)
    await configure()
  })
  beforeEach(() => t.clock.advance(16 * minute))
  afterAll(async () => {
    await t?.close()
    await slapd?.stop()
  })

  it('creates the account at the first sign-in, with names, mail and the profile of the group', async () => {
    const answer = await login('ADA')
    expect(answer.statusCode, answer.body).toBe(200)
    expect(answer.json().user).toMatchObject({
      userName: 'ada',
      authSource: 'LDAP',
      userProfile: 30,
      firstName: 'Ada',
      lastName: 'Keller',
      email: 'ada@example.org',
      isEnabled: true,
    })
    expect((await t.as(answer.json().token).get('/prime/webui/agents')).statusCode).toBe(200)
    await slapd.change(ada, 'replace', 'mail', ['ada.keller@example.org'])
    expect((await login('ada')).json().user.email).toBe('ada.keller@example.org')
    expect((await audit('ada')).map(({ action }) => action)).toEqual([
      'session.opened',
      'account.changed',
      'session.opened',
      'account.created',
    ])
  })

  it('handles two simultaneous first sign-ins of one person', async () => {
    await slapd.change(groups.users, 'add', 'member', [await slapd.person('twin', password)])
    const answers = await Promise.all([login('twin'), login('twin'), login('Twin')])
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200])
  })

  it.each([
    ['a wrong password', 'ada', 'a wrong password'],
    ['an empty password, which this directory treats as an anonymous bind', 'ada', ''],
    ['an empty password of an unknown name', 'nobody', ''],
    ['an unknown name', 'nobody', password],
    ['a person in none of the groups', 'loner', password],
    ['a name with spaces around it', ' ada ', password],
    ['a name with an invisible letter, which directories ignore', 'a\u00adda', password],
    ['the name of the bind account', 'reader', readerPassword],
    ['a DN in place of a name', `uid=ada,${peopleDn}`, password],
    ['*', '*', password],
    ['ad*', 'ad*', password],
    ['a filter after the name', 'ada)(uid=*', password],
    ['a filter that is always true', '*)(|(objectClass=*', password],
    ['a filter before the name', 'x)(|(uid=ada))(&(uid=x', password],
    ['an escape', 'a\\64a', password],
    ['an escaped star', '\\2a', password],
    ['a DN injection', `ada,${peopleDn}`, password],
  ])('refuses %s with the usual answer', async (_what, name, given) => {
    if (name === 'loner') await slapd.person('loner', password)
    const answer = await login(name, given)
    expect([answer.statusCode, answer.json().code]).toEqual([401, 'credentials_wrong'])
    expect(answer.json().detail).toBe('The user name or password is incorrect.')
  })

  it('treats a name that looks like a filter as a name', async () => {
    const strange = '*)(uid=*'
    await slapd.change(groups.users, 'add', 'member', [await slapd.person(strange, 'another password')])
    expect(await codeOf(login(strange, 'another password'))).toBe(`as ${strange}`)
    expect(await codeOf(login(strange, password))).toBe('credentials_wrong')
  })

  it('records why a person with the correct password is refused', async () => {
    await slapd.person('outsider', password)
    await login('outsider')
    expect(await audit('outsider')).toMatchObject([
      { action: 'session.refused', details: 'it is not in any configured group' },
    ])
  })

  describe('groups', () => {
    const person = (uid: string) => slapd.person(uid, password)

    it('give the highest of several profiles', async () => {
      const dn = await person('several')
      for (const group of Object.values(groups)) await slapd.change(group, 'add', 'member', [dn])
      expect(await profileOf('several')).toBe(10)
      await slapd.change(groups.administrators, 'delete', 'member', [dn])
      expect(await profileOf('several')).toBe(20)
    })

    it.each([null, 'member'])('count when nested, even in a cycle (%s)', async (attribute) => {
      await configure({ LDAP_GROUP_ATTRIBUTE: attribute })
      const name = `nested-${attribute}`
      const inner = await slapd.group(`inner ${name}`, [await person(name)])
      const middle = await slapd.group(`middle, ${name}`, [inner])
      const outer = await slapd.group(`outer+${name}`, [middle])
      await slapd.change(inner, 'add', 'member', [outer])
      expect(await codeOf(login(name))).toBe('credentials_wrong')
      await slapd.change(groups.managers, 'add', 'member', [outer])
      expect(await profileOf(name)).toBe(20)
      await slapd.change(groups.managers, 'delete', 'member', [outer])
      await configure()
    })

    it.each([
      [10, 'as as'],
      [11, 'credentials_wrong'],
    ])('nested %i levels deep: %s', async (depth, outcome) => {
      const name = `deep${depth}`
      let dn = await person(name)
      for (let level = 0; level < depth; level++) dn = await slapd.group(`${name} level ${level}`, [dn])
      await slapd.change(groups.managers, 'add', 'member', [dn])
      for (const attribute of ['memberOf', 'member']) {
        await configure({ LDAP_GROUP_ATTRIBUTE: attribute })
        expect(await codeOf(login(name))).toBe(outcome === 'as as' ? `as ${name}` : outcome)
      }
      await slapd.change(groups.managers, 'delete', 'member', [dn])
      await configure()
    })

    it.each(['memberOf', 'member'])('may have 2,500 members, and a person 120 groups (%s)', async (attribute) => {
      await configure({ LDAP_GROUP_ATTRIBUTE: attribute })
      const name = `crowd-${attribute}`
      const dn = await person(name)
      const others = Array.from({ length: 2_499 }, (_, i) => `uid=somebody ${i},${peopleDn}`)
      const big = await slapd.group(`big ${attribute}`, [...others, dn])
      // More than the directory returns without pages.
      for (let i = 0; i < 120; i++) await slapd.group(`${name} ${i}`, [dn])
      const last = await slapd.group(`zz ${name}`, [big])
      await slapd.change(groups.managers, 'add', 'member', [last])
      expect(await profileOf(name)).toBe(20)
      await configure()
    })

    it('can list people by uniqueMember, or by name', async () => {
      const dn = await person('listed')
      const unique = await slapd.group('unique', [dn], 'groupOfUniqueNames')
      await configure({ LDAP_GROUP_ATTRIBUTE: 'uniqueMember', LDAP_MANAGER_GROUP: unique })
      expect(await profileOf('listed')).toBe(20)
      const posix = await slapd.group('posix', ['listed'], 'posixGroup')
      await configure({ LDAP_GROUP_ATTRIBUTE: 'memberUid', LDAP_ADMINISTRATOR_GROUP: posix })
      expect(await profileOf('listed')).toBe(10)
      await configure()
    })
  })

  describe('withdrawal', () => {
    /** Creates a signed-in person with a session and an API token. */
    const signedInPerson = async (uid: string) => {
      const dn = await slapd.person(uid, password)
      await slapd.change(groups.users, 'add', 'member', [dn])
      const opened = (await login(uid)).json()
      const made = await t.as(opened.token).post('/prime/webui/admin/apiTokens', { name: 'siem' })
      expect(made.statusCode, made.body).toBe(200)
      const statusOf = async (token: string) => (await t.as(token).get('/prime/webui/agents')).statusCode
      return {
        dn,
        works: async () => [await statusOf(opened.token), await statusOf(made.json().token)],
        refresh: () => post('Auth/RefreshToken', { refreshToken: opened.refreshToken }),
      }
    }

    it('happens at the next sign-in after the group was removed, and ends when it returns', async () => {
      const { dn, works } = await signedInPerson('leaver')
      expect(await works()).toEqual([200, 200])
      await slapd.change(groups.users, 'delete', 'member', [dn])
      expect(await codeOf(login('leaver'))).toBe('credentials_wrong')
      expect(await works()).toEqual([401, 401])
      expect(await account('leaver')).toMatchObject({ isEnabled: false })
      expect((await audit('leaver')).map(({ action, details }) => `${action} ${details}`)).toContain(
        'account.withdrawn it is not in any configured group',
      )
      await slapd.change(groups.users, 'add', 'member', [dn])
      expect(await codeOf(login('leaver'))).toBe('as leaver')
      expect(await account('leaver')).toMatchObject({ isEnabled: true })
    })

    it('happens at the next sign-in after the entry was removed, whatever the password', async () => {
      const { dn, works } = await signedInPerson('gone')
      await slapd.remove(dn)
      expect(await codeOf(login('gone', 'whatever'))).toBe('credentials_wrong')
      expect(await works()).toEqual([401, 401])
    })

    it('happens when a session refreshes after 15 minutes', async () => {
      const { dn, works, refresh } = await signedInPerson('refresher')
      await slapd.change(dn, 'replace', 'userAccountControl', ['514'])
      t.clock.advance(14 * minute)
      expect(await works()).toEqual([200, 200])
      t.clock.advance(2 * minute)
      expect((await refresh()).json().code).toBe('session_ended')
      expect(await account('refresher')).toMatchObject({ isEnabled: false })
      expect((await works())[1]).toBe(401)
    })

    it('happens within 15 minutes without a sign-in, for API tokens too; others stay', async () => {
      const leaving = await signedInPerson('swept')
      const staying = await signedInPerson('stayer')
      await slapd.change(groups.users, 'delete', 'member', [leaving.dn])
      await slapd.change(groups.managers, 'add', 'member', [staying.dn])
      await t.server.accounts.checkDirectoryAccounts()
      expect(await leaving.works()).toEqual([200, 200])
      t.clock.advance(15 * minute)
      await t.server.accounts.checkDirectoryAccounts()
      expect((await leaving.works())[1]).toBe(401)
      expect((await staying.works())[1]).toBe(200)
      expect(await account('stayer')).toMatchObject({ isEnabled: true, userProfile: 20 })
    })

    it('does not happen while the directory is down', async () => {
      const { works, refresh } = await signedInPerson('patient')
      await slapd.halt()
      t.clock.advance(16 * minute)
      await expect(t.server.accounts.checkDirectoryAccounts()).rejects.toThrow('directory')
      expect((await refresh()).statusCode).toBe(200)
      expect((await works())[1]).toBe(200)
      await slapd.start()
      t.clock.advance(minute)
    })

    it('never enables an account that an Administrator disabled', async () => {
      await signedInPerson('barred')
      const changed = await (await t.admin()).post('/prime/webui/admin/updateuser', {
        userName: 'barred',
        isEnabled: false,
      })
      expect(changed.statusCode, changed.body).toBe(200)
      expect(await codeOf(login('barred'))).toBe('credentials_wrong')
      expect(await account('barred')).toMatchObject({ isEnabled: false })
    })

    it('ends the sessions and tokens of an earlier person with the same name', async () => {
      const { dn, works } = await signedInPerson('reborn')
      await slapd.remove(dn)
      const again = await slapd.person('reborn', 'the password of another')
      await slapd.change(groups.users, 'add', 'member', [again])
      expect(await codeOf(login('reborn', 'the password of another'))).toBe('as reborn')
      expect(await works()).toEqual([401, 401])
    })
  })

  describe('local accounts', () => {
    it('are never taken over by an entry with the same name', async () => {
      await slapd.change(groups.administrators, 'add', 'member', [await slapd.person('admin', password)])
      expect(await codeOf(login('admin'))).toBe('credentials_wrong')
      expect(await codeOf(login('admin', adminPassword))).toBe('as admin')
      await configure({ LDAP_USER_FILTER: '(|(uid={username})(mail={username}))' })
      await slapd.change(`uid=admin,${peopleDn}`, 'replace', 'mail', ['chief@example.org'])
      expect(await codeOf(login('chief@example.org'))).toBe('credentials_wrong')
      expect(await audit('admin')).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            action: 'session.refused',
            details: 'An account of another source has this name. It was not taken over.',
          }),
        ]),
      )
      expect(await account('admin')).toMatchObject({ authSource: 'Local', userProfile: 10 })
      await configure()
    })

    it('with reserved names cannot have an entry either', async () => {
      await slapd.change(groups.users, 'add', 'member', [await slapd.person('system', password)])
      expect(await codeOf(login('system'))).toBe('credentials_wrong')
    })
  })

  describe('guesses', () => {
    it('are counted before the directory is asked, and do not lock out the known address of the owner', async () => {
      const dn = await slapd.person('guessed', password)
      await slapd.change(groups.users, 'add', 'member', [dn])
      expect(await codeOf(login('guessed', password, '198.51.100.1'))).toBe('as guessed')
      for (let i = 0; i < 10; i++)
        expect(await codeOf(login('guessed', `guess ${i}`, '198.51.100.2'))).toBe('credentials_wrong')
      await slapd.halt()
      // The directory is down, so a request to it would give another error.
      expect(await codeOf(login('guessed', password, '198.51.100.2'))).toBe('too_many_requests')
      await slapd.start()
      expect(await codeOf(login('guessed', password, '198.51.100.1'))).toBe('as guessed')
    })

    it('count for the name of the entry, however it is spelled', async () => {
      await configure({ LDAP_USER_FILTER: '(|(uid={username})(mail={username}))' })
      const aliases = Array.from({ length: 12 }, (_, i) => `alias${i}@example.org`)
      const dn = await slapd.person('aliased', password, { mail: aliases })
      await slapd.change(groups.users, 'add', 'member', [dn])
      const codes: string[] = []
      for (const alias of aliases) codes.push(await codeOf(login(alias, 'a wrong guess', '198.51.100.3')))
      expect(codes.filter((code) => code === 'credentials_wrong')).toHaveLength(10)
      expect(codes.slice(10)).toEqual(['too_many_requests', 'too_many_requests'])
      t.clock.advance(16 * minute)
      expect(await codeOf(login('alias3@example.org', password, '198.51.100.3'))).toBe('as aliased')
      await configure()
    })
  })

  it('does not work with auth/signin, which accepts only local accounts', async () => {
    const answer = await post('auth/signin', { username: 'ada', password })
    expect(answer.statusCode).toBe(400)
  })

  it('works over STARTTLS, and at the second address if the first is down', async () => {
    await configure({ LDAP_URL: `ldap://127.0.0.1:1 ${slapd.plainUrl}`, LDAP_SECURITY: 'starttls' })
    expect(await codeOf(login('ada'))).toBe('as ada')
    await configure()
  })

  it('is shown on the sign-in page', async () => {
    const providers = async () => (await t.as(undefined).get('/prime/webui/Auth/Providers')).json()
    expect(await providers()).toMatchObject({ local: true, ldap: true })
    await configure({ LDAP_ENABLED: 'false' })
    expect(await providers()).toMatchObject({ ldap: false })
    expect(await codeOf(login('ada'))).toBe('credentials_wrong')
    await configure()
  })

  describe('while the directory', () => {
    const unavailable = async (name: string, given = password) => {
      const answer = await login(name, given)
      expect([answer.statusCode, answer.json().code, answer.headers['retry-after']], answer.body).toEqual([
        503,
        'directory_unavailable',
        '30',
      ])
      return answer.json().detail
    }

    it('is down, everyone but local accounts gets a distinct error', async () => {
      await slapd.halt()
      const details = [await unavailable('ada'), await unavailable('nobody'), await unavailable('admin', 'wrong')]
      expect(new Set(details).size).toBe(1)
      for (let i = 0; i < 12; i++) await unavailable('ada')
      expect(await codeOf(login('admin', adminPassword))).toBe('as admin')
      await slapd.start()
      t.clock.advance(11_000)
      // The attempts made while it was down do not count.
      expect(await codeOf(login('ada'))).toBe('as ada')
    })

    it.each([
      ['presents a certificate for another host', () => authority.issue(['other.example.org']), authority.pem],
      ['presents an expired certificate', () => authority.issue(['127.0.0.1'], 'expired'), authority.pem],
      [
        'has a certificate of another authority',
        async () => (await createAuthority()).issue(['127.0.0.1']),
        authority.pem,
      ],
    ])('%s, nothing is sent to it', async (_what, issue, ca) => {
      const { createServer: createTlsServer } = await import('node:tls')
      const heard: Buffer[] = []
      const { cert, key } = await issue()
      const peer = createTlsServer({ cert, key }, (socket) => {
        socket.on('data', (bytes) => heard.push(bytes)).on('error', () => {})
      })
      peer.on('tlsClientError', () => {})
      await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve))
      const { port } = peer.address() as { port: number }
      await configure({ LDAP_URL: `ldaps://127.0.0.1:${port}`, LDAP_CA: ca })
      await unavailable('ada')
      expect(heard).toEqual([])
      peer.close()
      await configure()
    })

    it('hangs, local accounts sign in immediately, and later sign-ins do not wait', async () => {
      const peers: Server[] = []
      const hanging = createServer((socket) => socket.on('error', () => {}))
      peers.push(hanging)
      await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve))
      const { port } = hanging.address() as { port: number }
      await configure({ LDAP_URL: `ldaps://127.0.0.1:${port}` })
      const waiting = unavailable('ada')
      const before = performance.now()
      expect(await codeOf(login('admin', adminPassword))).toBe('as admin')
      expect(performance.now() - before).toBeLessThan(2_000)
      await waiting
      const again = performance.now()
      await unavailable('ada')
      expect(performance.now() - again).toBeLessThan(2_000)
      for (const peer of peers) peer.close()
      await configure()
    })
  })
})
