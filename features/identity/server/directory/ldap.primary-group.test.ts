import { unless } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { liftGate } from '@portcullis/server/test/approvals.ts'
import { createAuthority } from '@portcullis/server/test/certificates.ts'
import { readerDn, readerPassword, type Slapd, startSlapd, suffix, whyNoSlapd } from '@portcullis/server/test/slapd.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

const password = 'a directory password'
const authority = await createAuthority()

/** Returns a SID in the form of Active Directory: S-1-5- and the numbers. */
const sid = (...numbers: number[]): Buffer => {
  const bytes = Buffer.alloc(8 + 4 * numbers.length)
  bytes.writeUInt8(1, 0)
  bytes.writeUInt8(numbers.length, 1)
  bytes.writeUInt8(5, 7)
  for (const [at, number] of numbers.entries()) bytes.writeUInt32LE(number, 8 + 4 * at)
  return bytes
}
const domain = [21, 305_419_896, 4_042_322_160, 77] as const
const otherDomain = [21, 305_419_896, 4_042_322_160, 78] as const

describe('the primary group of Active Directory', unless(whyNoSlapd()), () => {
  let slapd: Slapd
  let t: TestApp
  const groups = { staff: '', managers: '', foreign: '' }

  const configure = async (more: Record<string, string | null>) => {
    const answer = await (await t.admin()).post('/prime/webui/generalconfig/AddOrUpdateLDAPServer', {
      LDAP_ENABLED: 'true',
      LDAP_URL: slapd.tlsUrl,
      LDAP_SECURITY: 'tls',
      LDAP_CA: authority.pem,
      LDAP_BIND_DN: readerDn,
      LDAP_BIND_PASSWORD: readerPassword,
      LDAP_BASE_DN: suffix,
      ...more,
    })
    expect(answer.statusCode, answer.body).toBe(200)
  }
  const profileOf = async (username: string): Promise<number | string> => {
    const answer = await t.as(undefined).post('/prime/webui/Auth/LocalLogin', { username, password })
    return answer.statusCode === 200 ? answer.json().user.userProfile : answer.json().code
  }

  beforeAll(async () => {
    slapd = await startSlapd({ tls: { ...(await authority.issue(['127.0.0.1'])), ca: authority.pem } })
    const person = (name: string, more: Record<string, string | Buffer | Buffer[]>) =>
      slapd.person(name, password, more)
    const inSecond = await person('both', { objectSid: sid(...domain, 1_104), primaryGroupID: '513' })
    await person('plain', { objectSid: sid(...domain, 1_105), primaryGroupID: '513' })
    await person('stranger', { objectSid: sid(...otherDomain, 1_106), primaryGroupID: '513' })
    await person('other', { objectSid: sid(...domain, 1_107), primaryGroupID: '514' })
    await person('nested', {
      objectSid: sid(...domain, 1_108),
      primaryGroupID: '513',
      tokenGroups: [sid(...domain, 513), sid(...domain, 2_000)],
    })
    await person('broken', { objectSid: Buffer.from('not a SID'), primaryGroupID: '513' })
    // The reader is in each group, because a group of this directory needs a member.
    groups.staff = await slapd.group('Domain Users', [], 'groupOfNames', { objectSid: sid(...domain, 513) })
    groups.managers = await slapd.group('usb-managers', [inSecond], 'groupOfNames', {
      objectSid: sid(...domain, 2_000),
    })
    groups.foreign = await slapd.group('of another domain', [], 'groupOfNames', { objectSid: sid(...otherDomain, 999) })
    t = await startTestApp()
    await liftGate(t)
  })
  beforeEach(() => t.clock.advance(16 * 60_000))
  afterAll(async () => {
    await t?.close()
    await slapd?.stop()
  })

  it.each(['memberOf', 'member'])('gives a profile if groups are read by %s', async (attribute) => {
    await configure({
      LDAP_GROUP_ATTRIBUTE: attribute,
      LDAP_MANAGER_GROUP: groups.managers,
      LDAP_USER_GROUP: groups.staff,
    })
    expect({
      plain: await profileOf('plain'),
      // The higher profile counts, wherever it comes from.
      both: await profileOf('both'),
      nested: await profileOf('nested'),
      stranger: await profileOf('stranger'),
      other: await profileOf('other'),
      broken: await profileOf('broken'),
    }).toEqual({
      plain: 30,
      both: 20,
      nested: 20,
      stranger: 'credentials_wrong',
      other: 'credentials_wrong',
      broken: 'credentials_wrong',
    })
  })

  it('gives none if it is not configured', async () => {
    await configure({ LDAP_GROUP_ATTRIBUTE: null, LDAP_MANAGER_GROUP: null, LDAP_USER_GROUP: groups.foreign })
    expect(await profileOf('plain')).toBe('credentials_wrong')
  })

  it('is found by the connection test', async () => {
    const answer = await (await t.admin()).post('/prime/webui/generalconfig/TestLDAP', {
      LDAP_MANAGER_GROUP: null,
      LDAP_USER_GROUP: groups.staff,
      LDAP_TEST_USER: 'plain',
    })
    expect(answer.json().steps.at(-1)).toEqual({
      step: 'Groups',
      ok: true,
      message: expect.stringMatching(/Domain Users.* gives the person the profile User/),
    })
  })
})
