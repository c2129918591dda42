import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '#test/app.ts'
import { createAuthority } from '#test/certificates.ts'
import {
  groupsDn,
  peopleDn,
  readerDn,
  readerPassword,
  type Slapd,
  startSlapd,
  suffix,
  whyNoSlapd,
} from '#test/slapd.ts'

const reason = whyNoSlapd()
if (reason !== null) console.warn(`ldap.signin.test.ts ${reason}`)

const password = 'a password of ada'

describe.skipIf(reason !== null)('sign-in by a directory', () => {
  const authority = createAuthority()
  let slapd: Slapd
  let t: TestApp
  const groups: Record<string, string> = {}

  const items = () => ({
    LDAP_ENABLED: 'true',
    LDAP_URL: slapd.tlsUrl,
    LDAP_SECURITY: 'tls',
    LDAP_CA: authority.pem,
    LDAP_BIND_DN: readerDn,
    LDAP_BIND_PASSWORD: readerPassword,
    LDAP_BASE_DN: suffix,
    LDAP_ADMINISTRATOR_GROUP: groups.administrators as string,
    LDAP_MANAGER_GROUP: groups.managers as string,
    LDAP_USER_GROUP: groups.users as string,
  })
  const configure = async (more: Record<string, string | null> = {}) => {
    const answer = await (await t.admin()).post('/prime/webui/generalconfig/AddOrUpdateLDAPServer', {
      ...items(),
      LDAP_USER_FILTER: null,
      LDAP_GROUP_ATTRIBUTE: null,
      LDAP_USERNAME_ATTRIBUTE: null,
      ...more,
    })
    expect(answer.statusCode, answer.body).toBe(200)
  }
  const login = (username: string, given = password) =>
    t.as(undefined).post('/prime/webui/Auth/LocalLogin', { username, password: given })

  beforeAll(async () => {
    const tls = { ...authority.issue(['127.0.0.1', 'localhost']), ca: authority.pem }
    slapd = await startSlapd({ tls })
    const ada = await slapd.person('ada', password)
    groups.users = await slapd.group('users', [ada])
    groups.managers = await slapd.group('managers')
    groups.administrators = await slapd.group('administrators')
    t = await startTestApp()
    await configure()
  })
  afterAll(async () => {
    await t?.close()
    await slapd?.stop()
  })

  it('makes the account at the first one, with names, mail and the profile of the group', async () => {
    const answer = await login('ada')
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
    expect((await login('ada', 'a wrong password')).json().code).toBe('credentials_wrong')
    expect([groupsDn, peopleDn].every((dn) => dn.endsWith(suffix))).toBe(true)
  })
})
