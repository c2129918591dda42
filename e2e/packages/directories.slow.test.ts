import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminPassword, type RunningServer, remove, startServer, temporaryDir, until } from '../../proof/kit/harness.ts'
import { whyNoDebianRoot } from '../../scripts/release/debian-root.ts'
import { createAuthority } from '../../server/test/certificates.ts'
import { type LdapAdmin, ldapAdmin } from '../../server/test/ldap-admin.ts'
import { managerPassword, sambaPassword, stale, start389, startOpenLdap, startSamba } from './directory-root.ts'

interface Step {
  step: string
  ok: boolean
  message: string
  field?: string
}

const { password } = stale
const wrong = 'Wrong.horse.1'
const authority = await createAuthority()
const certificateOf = (address: string) => authority.issue([address])

describe('sign-in with real directories', unless(whyNoDebianRoot()), () => {
  let server: RunningServer
  const dataDir = temporaryDir()
  const stops: (() => Promise<unknown>)[] = []
  const nothing = {
    ...{ LDAP_USER_FILTER: null, LDAP_GROUP_ATTRIBUTE: null, LDAP_USERNAME_ATTRIBUTE: null },
    ...{ LDAP_ADMINISTRATOR_GROUP: null, LDAP_MANAGER_GROUP: null, LDAP_USER_GROUP: null, LDAP_CA: null },
  }
  const configure = (items: Record<string, string | null>) =>
    server.post('generalconfig/AddOrUpdateLDAPServer', { LDAP_ENABLED: 'true', ...nothing, ...items })
  const lastStep = async (items: Record<string, string | null>): Promise<Step> =>
    (await server.post<{ steps: Step[] }>('generalconfig/TestLDAP', items)).steps.at(-1) as Step
  /** Signs in. Returns the profile, or the status and the code of the refusal. */
  const signIn = async (username: string, given = password): Promise<number | string> => {
    const { status, text } = await server.request('/prime/webui/Auth/LocalLogin', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password: given }),
    })
    const answer = JSON.parse(text)
    return status === 200 ? answer.user.userProfile : `${status} ${answer.code}`
  }
  /** Connects as an administrator of the directory. */
  const manage = async (url: string, dn: string, given: string): Promise<LdapAdmin> => {
    const admin = await ldapAdmin(url, authority.pem, dn, given)
    stops.push(async () => admin.close())
    return admin
  }

  beforeAll(async () => {
    server = await startServer(dataDir, { PORTCULLIS_ADMIN_PASSWORD: adminPassword })
  })
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop().catch(() => {})
    await server?.stop()
    remove(dataDir)
  })

  describe('Samba as a domain controller', () => {
    const base = 'DC=ad,DC=example'
    const users = `CN=Users,${base}`
    const dnOf = (name: string): string => `CN=${name},${users}`
    let samba: Awaited<ReturnType<typeof startSamba>>
    let admin: LdapAdmin
    let items: Record<string, string | null>

    const person = async (name: string, more: Record<string, string | Buffer> = {}) => {
      await admin.add(dnOf(name), {
        objectClass: 'user',
        sAMAccountName: name,
        unicodePwd: Buffer.from(`"${password}"`, 'utf16le'),
        // NORMAL_ACCOUNT, DONT_EXPIRE_PASSWD
        userAccountControl: '66048',
        ...more,
      })
    }
    const group = async (name: string, ...members: string[]): Promise<string> => {
      await admin.add(dnOf(name), {
        objectClass: 'group',
        sAMAccountName: name,
        ...(members.length === 0 ? {} : { member: members.map(dnOf) }),
      })
      return dnOf(name)
    }

    beforeAll(async () => {
      samba = await startSamba(certificateOf, authority.pem)
      stops.push(samba.stop)
      const url = `ldaps://${samba.host}`
      admin = await manage(url, 'Administrator@ad.example', sambaPassword)
      for (const name of ['reader', 'ada', 'cleo', 'outsider']) await person(name)
      await person('locked')
      await person('fresh', { userAccountControl: '512' })
      await admin.replace(dnOf('fresh'), 'pwdLastSet', ['0'])
      await person('night', { logonHours: Buffer.alloc(21) })
      await person('off', { userAccountControl: '66050' })
      await person('ended', { accountExpires: '132000000000000000' })
      await group('usb-inner', 'cleo')
      items = {
        LDAP_URL: url,
        LDAP_SECURITY: 'tls',
        LDAP_CA: authority.pem,
        LDAP_BIND_DN: 'reader@ad.example',
        LDAP_BIND_PASSWORD: password,
        LDAP_BASE_DN: base,
        LDAP_USERNAME_ATTRIBUTE: 'sAMAccountName',
        LDAP_MANAGER_GROUP: await group('usb-managers', 'usb-inner'),
        LDAP_USER_GROUP: dnOf('Domain Users'),
      }
      await configure(items)
    })

    it('counts primary and nested groups, by each group attribute', async () => {
      for (const attribute of ['memberOf', 'member', 'memberOf:1.2.840.113556.1.4.1941:']) {
        await configure({ ...items, LDAP_GROUP_ATTRIBUTE: attribute })
        expect([await signIn('ada'), await signIn('cleo')], attribute).toEqual([30, 20])
      }
      await configure({ ...items, LDAP_USER_GROUP: null })
      expect([await signIn('ada'), await signIn('cleo')]).toEqual(['401 credentials_wrong', 20])
      // Domain Users is in a group that has a profile.
      await admin.append(dnOf('usb-inner'), 'member', [dnOf('Domain Users')])
      expect(await signIn('ada')).toBe(20)
      await configure(items)
    })

    it('accepts the bind names of Active Directory', async () => {
      for (const name of ['reader@ad.example', 'EXAMPLE\\reader', dnOf('reader')])
        expect(await lastStep({ LDAP_BIND_DN: name }), name).toMatchObject({ step: 'Groups', ok: true })
      expect(await lastStep({ LDAP_BIND_DN: 'reader' })).toMatchObject({
        step: 'Bind',
        field: 'LDAP_BIND_DN',
        message: expect.stringMatching(/bare name/),
      })
    })

    it('names the setting to correct', async () => {
      expect(
        await lastStep({ ...items, LDAP_URL: `ldap://${samba.host}`, LDAP_SECURITY: 'none', LDAP_CA: null }),
      ).toMatchObject({ step: 'Bind', field: 'LDAP_SECURITY', message: expect.stringMatching(/secure connection/) })
      expect(await lastStep({ LDAP_USER_GROUP: 'CN=nobody,DC=elsewhere' })).toMatchObject({ field: 'LDAP_USER_GROUP' })
      expect(await lastStep({ LDAP_BASE_DN: 'OU=people,DC=ad,DC=example' })).toMatchObject({ field: 'LDAP_BASE_DN' })
      expect(await lastStep({ LDAP_BIND_PASSWORD: wrong })).toMatchObject({ field: 'LDAP_BIND_DN' })
    })

    it('finds one of many entries, although this directory ignores size limits', async () => {
      expect((await admin.search(base, '(objectClass=*)', 2, ['cn'])).length).toBeGreaterThan(100)
      expect(
        await lastStep({ LDAP_USER_FILTER: '(|(cn={username})(objectClass=*))', LDAP_TEST_USER: 'ada' }),
      ).toMatchObject({ field: 'LDAP_USER_FILTER', message: expect.stringMatching(/More than one entry/) })
    })

    it('says why an account cannot sign in, but not on the sign-in page', async () => {
      for (let tries = 0; tries < 3; tries++) await signIn('locked', wrong)
      const reasons: Record<string, string> = {}
      const pages: Record<string, string | number> = {}
      for (const name of ['ada', 'locked', 'fresh', 'stale', 'night', 'off', 'ended']) {
        const given = name === 'ada' ? wrong : password
        reasons[name] = (await lastStep({ LDAP_TEST_USER: name, LDAP_TEST_PASSWORD: given })).message
        pages[name] = await signIn(name, given)
      }
      expect(reasons).toEqual({
        ada: 'The directory rejected this password.',
        locked: expect.stringMatching(/locked .*\(code 775\)/),
        fresh: expect.stringMatching(/must be changed .*\(code 773\)/),
        stale: expect.stringMatching(/password has expired.*\(code 532\)/),
        night: expect.stringMatching(/time of day \(code 530\)/),
        off: expect.stringMatching(/its entry is disabled/),
        ended: expect.stringMatching(/its entry expired/),
      })
      expect(new Set(Object.values(pages))).toEqual(new Set(['401 credentials_wrong']))
      const logged = server.output().split('\n')
      for (const code of ['775', '773', '532', '530'])
        expect(logged.filter((line) => line.includes(`"cause":"ad-${code}"`)).length, code).toBeGreaterThan(0)
    })
  })

  describe('389 Directory Server', () => {
    const base = 'dc=example,dc=org'
    let admin: LdapAdmin
    let items: Record<string, string | null>

    beforeAll(async () => {
      const directory = await start389()
      stops.push(directory.stop)
      const url = `ldap://${directory.host}:${directory.port}`
      admin = await manage(url, 'cn=Directory Manager', managerPassword)
      await admin.replace('cn=config', 'passwordLockout', ['on'])
      await admin.replace('cn=config', 'passwordMaxFailure', ['3'])
      for (const uid of ['ben', 'locked', 'off'])
        await admin.add(`uid=${uid},${base}`, {
          objectClass: 'inetOrgPerson',
          uid,
          cn: uid,
          sn: uid,
          userPassword: password,
        })
      await admin.add(`cn=usb,${base}`, {
        objectClass: 'groupOfNames',
        cn: 'usb',
        member: ['ben', 'locked', 'off'].map((uid) => `uid=${uid},${base}`),
      })
      await admin.replace(`uid=off,${base}`, 'nsAccountLock', ['true'])
      items = {
        LDAP_URL: url,
        LDAP_SECURITY: 'none',
        LDAP_BIND_DN: 'cn=Directory Manager',
        LDAP_BIND_PASSWORD: managerPassword,
        LDAP_BASE_DN: base,
        LDAP_USER_GROUP: `cn=usb,${base}`,
      }
    })

    it('finds groups by their members, and by memberOf after a fixup for all people', async () => {
      await configure({ ...items, LDAP_GROUP_ATTRIBUTE: 'member' })
      expect(await signIn('ben')).toBe(30)
      await admin.replace('cn=config', 'nsslapd-dynamic-plugins', ['on'])
      await admin.replace('cn=MemberOf Plugin,cn=plugins,cn=config', 'nsslapd-pluginEnabled', ['on'])
      await configure({ ...items, LDAP_GROUP_ATTRIBUTE: 'memberOf' })
      // The filter of `dsconf plugin memberof fixup` if none is given, and the one that the guide recommends.
      const filters = ['(|(objectClass=inetuser)(objectClass=inetadmin)(objectClass=nsmemberof))', '(uid=*)']
      for (const [at, filter] of filters.entries()) {
        expect(await lastStep({ LDAP_TEST_USER: 'ben' })).toMatchObject({ field: 'LDAP_GROUP_ATTRIBUTE' })
        const task = `cn=fixup ${at},cn=memberof task,cn=tasks,cn=config`
        await admin.add(task, { objectClass: 'extensibleObject', cn: `fixup ${at}`, basedn: base, filter, ttl: '600' })
        await until(
          'the fixup has ended',
          async () => (await admin.search(task, '(nsTaskExitCode=0)', 1, ['cn'])).length === 1,
        )
      }
      expect(await signIn('ben')).toBe(30)
    })

    it('names locked accounts', async () => {
      await configure({ ...items, LDAP_GROUP_ATTRIBUTE: 'member' })
      for (let tries = 0; tries < 4; tries++) await signIn('locked', wrong)
      expect(await lastStep({ LDAP_TEST_USER: 'locked', LDAP_TEST_PASSWORD: password })).toMatchObject({
        message: expect.stringMatching(/locked after too many/),
        field: 'LDAP_TEST_USER',
      })
      expect(await lastStep({ LDAP_TEST_USER: 'off' })).toMatchObject({ message: expect.stringMatching(/is locked/) })
      expect([await signIn('locked'), await signIn('off')]).toEqual(['401 credentials_wrong', '401 credentials_wrong'])
      expect(server.output()).toContain('"cause":"locked"')
    })
  })

  describe('OpenLDAP', () => {
    const base = 'dc=example,dc=org'

    it('signs people in over TLS by either group attribute, and asks for TLS without it', async () => {
      const directory = await startOpenLdap(certificateOf, authority.pem)
      stops.push(directory.stop)
      const url = `ldaps://${directory.host}:6361`
      const managerDn = `cn=manager,${base}`
      const admin = await manage(url, managerDn, managerPassword)
      await admin.add(base, { objectClass: ['dcObject', 'organization'], dc: 'example', o: 'Example' })
      const person = `uid=eve,${base}`
      await admin.add(person, {
        objectClass: 'inetOrgPerson',
        uid: 'eve',
        cn: 'Eve',
        sn: 'Eve',
        userPassword: password,
      })
      const inner = `cn=inner,${base}`
      await admin.add(inner, { objectClass: 'groupOfNames', cn: 'inner', member: person })
      await admin.add(`cn=usb,${base}`, { objectClass: 'groupOfNames', cn: 'usb', member: inner })
      const items = {
        LDAP_URL: url,
        LDAP_SECURITY: 'tls',
        LDAP_CA: authority.pem,
        LDAP_BIND_DN: managerDn,
        LDAP_BIND_PASSWORD: managerPassword,
        LDAP_BASE_DN: base,
        LDAP_USER_GROUP: `cn=usb,${base}`,
      }
      for (const attribute of ['memberOf', 'member']) {
        await configure({ ...items, LDAP_GROUP_ATTRIBUTE: attribute })
        expect(await signIn('eve'), attribute).toBe(30)
      }
      const plain = { ...items, LDAP_URL: `ldap://${directory.host}:3891`, LDAP_SECURITY: 'none', LDAP_CA: null }
      expect(await lastStep(plain)).toMatchObject({ step: 'Bind', field: 'LDAP_SECURITY' })
      expect(await lastStep({ ...plain, LDAP_SECURITY: 'starttls', LDAP_CA: authority.pem })).toMatchObject({
        ok: true,
      })
    })
  })
})
