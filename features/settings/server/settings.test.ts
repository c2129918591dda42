// Invariant: No answer, record or table contains a configuration secret in clear text.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { pageOf } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnyOperation, ConfigSaved, ConfigVersion } from '#features/contract.ts'
import * as contract from '#features/contract.ts'

const base = '/prime/webui/generalconfig'
let t: TestApp
const dir = mkdtempSync(join(tmpdir(), 'portcullis-settings-'))
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(async () => {
  await t.close()
  rmSync(dir, { recursive: true, force: true })
})

const certificate = (name: string, days: number): string => {
  const files = ['-keyout', join(dir, 'k'), '-out', join(dir, 'c')]
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  execFileSync('openssl', ['req', '-x509', ...key, '-subj', `/CN=${name}`, '-days', String(days), ...files], {
    stdio: 'ignore',
  })
  return readFileSync(join(dir, 'c'), 'utf8')
}
const png = (width: number, height: number, size = 60): string => {
  const bytes = Buffer.alloc(size)
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(bytes)
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return `data:image/png;base64,${bytes.toString('base64')}`
}
const post = async (path: string, body?: unknown) => (await t.admin()).post(`${base}/${path}`, body)
const save = async (path: string, body: unknown): Promise<ConfigSaved> => {
  const answer = await post(path, body)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}
const refused = async (path: string, body: unknown): Promise<[number, string]> => {
  const answer = await post(path, body)
  return [answer.statusCode, answer.json().detail ?? '']
}
const read = async (path: string): Promise<Record<string, string>> => {
  const answer = await (await t.admin()).get(`${base}/${path}`)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}
const history = async (): Promise<ConfigVersion[]> => (await pageOf<ConfigVersion>(t, 'generalconfig/history')).data

const writes = (Object.values(contract) as unknown as AnyOperation[]).filter(
  (one) => one?.response === contract.ConfigSaved && one.method === 'POST' && one.body !== undefined,
)

describe('a write to the settings', () => {
  it.each(writes.map((one) => [one.path, one] as const))(
    'answers the version, the changes and the whole masked group: %s',
    async (path, { body }) => {
      const names = Object.keys((body as unknown as { properties: object }).properties).filter(
        (name) => name !== 'ifValues',
      )
      const answer = await (await t.admin()).post(path, {})
      expect(answer.statusCode, answer.body).toBe(200)
      const { version, changes, items, ...more } = answer.json()
      expect([typeof version, changes, more]).toEqual(['number', [], {}])
      expect(Object.keys(items).sort()).toEqual(names.sort())
      const [first = '', last = ''] = [names.at(0), names.at(-1)]
      expect(items).toMatchObject(await read(`GetConfigItemsByName/${first},${last}`))
      const document = (await (await t.admin()).get('/openapi.json')).json()
      expect(document.paths[path].post.description).toContain('the group in `items` with masked secrets')
    },
  )
})

describe('the general configuration', () => {
  it('is saved as a whole, masked when read, kept in versions and audited with its changes', async () => {
    const before = (await history())[0]?.version ?? 0
    const first = await save('AddOrUpdateSMPTConfig', {
      SMTP_HOST: 'mail.example.org',
      smtp_from: ' portcullis@example.org ',
      SMTP_USER: 'portcullis',
      SMTP_PASSWORD: 'correct horse',
    })
    expect(first).toMatchObject({
      version: before + 1,
      items: {
        SMTP_HOST: 'mail.example.org',
        SMTP_PORT: '587',
        SMTP_FROM: 'portcullis@example.org',
        SMTP_PASSWORD: '********',
      },
    })
    expect(await save('AddOrUpdateSMPTConfig', { SMTP_PASSWORD: '********', SMTP_USER: 'portcullis' })).toMatchObject({
      version: before + 1,
      changes: [],
    })
    expect(await read('GetConfigItemsByPrefix/smtp_h,SMTP_P')).toEqual({
      SMTP_HOST: 'mail.example.org',
      SMTP_PASSWORD: '********',
      SMTP_PORT: '587',
    })
    expect(await read('GetConfigItemsByName/SMTP_USER%2CNO_SUCH,smtp_ca')).toEqual({
      SMTP_USER: 'portcullis',
      SMTP_CA: '',
    })
    expect(await read('GetConfigItemsByPrefixVendorA/CHECKIN')).toEqual({ VENDORA_CHECKIN_SECONDS: '60' })
    expect((await history())[0]).toMatchObject({
      version: before + 1,
      changedBy: 'admin',
      changes: expect.arrayContaining([
        { name: 'SMTP_HOST', from: '', to: 'mail.example.org' },
        { name: 'SMTP_PASSWORD', from: '', to: 'secret' },
      ]),
    })
    const audits = (await (await t.admin()).get('/prime/webui/events/GetAuditsIntegration?PageSize=5')).body
    expect(audits).toContain('mail.example.org')
    expect(audits).not.toContain('correct horse')
    const [row] = await t.db.query<{ text: string }>(
      sql`select c::text as text from config_items c where c.name = 'SMTP_PASSWORD'`,
    )
    expect(row?.text).not.toContain(Buffer.from('correct horse').toString('hex'))
  })

  it('requires a secret again if its destination changes, and can remove a secret alone', async () => {
    const versions = (await history()).length
    expect(await refused('AddOrUpdateSMPTConfig', { SMTP_HOST: 'evil.example.org' })).toEqual([
      400,
      expect.stringMatching(/SMTP_PASSWORD: must be entered again, because SMTP_HOST changes/),
    ])
    expect((await history()).length).toBe(versions)
    expect(await read('GetConfigItemsByName/SMTP_HOST')).toEqual({ SMTP_HOST: 'mail.example.org' })
    await save('AddOrUpdateSMPTConfig', { SMTP_HOST: 'mail2.example.org', SMTP_PASSWORD: 'correct horse 2' })
    const answer = await post('RemoveSmtpPassword')
    expect([answer.statusCode, answer.json().changes]).toEqual([
      200,
      [{ name: 'SMTP_PASSWORD', from: 'secret', to: '' }],
    ])
    expect(await read('GetConfigItemsByPrefix/SMTP_PASSWORD')).toEqual({ SMTP_PASSWORD: '' })
  })

  it('restores a version after a preview, and secrets only with their destination', async () => {
    const version = ((await history())[0]?.version ?? 0) - 1
    const path = `rollback/${version}?prefix=SMTP_`
    const dry = await save(`${path}&dryRun=true`, undefined)
    expect(dry.changes).toEqual([{ name: 'SMTP_PASSWORD', from: '', to: 'secret' }])
    expect(await read('GetConfigItemsByName/SMTP_PASSWORD')).toEqual({ SMTP_PASSWORD: '' })
    const back = await save(path, undefined)
    expect(back).toMatchObject({ version: version + 2, changes: dry.changes })
    const values = await t.server.settings.values(t.db, 'smtp')
    expect([values.text('SMTP_HOST'), values.secret('SMTP_PASSWORD')?.reveal()]).toEqual([
      'mail2.example.org',
      'correct horse 2',
    ])
    await save(`rollback/${version - 1}?prefix=SMTP_`, undefined)
    expect((await t.server.settings.values(t.db, 'smtp')).secret('SMTP_PASSWORD')?.reveal()).toBe('correct horse')
    expect((await refused('rollback/9999', undefined))[0]).toBe(404)
    // An old secret is not restored alone while its destination is another one.
    const now = (await history())[0]?.version ?? 0
    await save('AddOrUpdateSMPTConfig', { SMTP_HOST: 'evil.example.org', SMTP_PASSWORD: 'other' })
    expect(await refused(`rollback/${now}?prefix=SMTP_PASSWORD`, undefined)).toEqual([
      400,
      expect.stringMatching(/SMTP_PASSWORD: belonged to another SMTP_HOST in that version/),
    ])
    await save(`rollback/${now}?prefix=SMTP`, undefined)
    expect((await t.server.settings.values(t.db, 'smtp')).secret('SMTP_PASSWORD')?.reveal()).toBe('correct horse')
  })

  it('refuses invalid values with a reason, and keeps the values in force', async () => {
    const before = await read('GetConfigItemsByPrefix/SMTP_,LDAP_,OIDC_,ISE_,CACT_,CUSTOM_,SERVER_,VENDORA_')
    // The test clock is years ahead.
    const expired = certificate('old.example.org', 30)
    for (const [path, body, message] of [
      [
        'AddOrUpdateSMPTConfig',
        { SMTP_HOSTS: 'x' },
        /SMTP_HOSTS is unknown; did you mean SMTP_HOST\?; known names: SMTP_HOST, SMTP_PORT/,
      ],
      ['AddOrUpdateSMPTConfig', { SMTP_PORT: 25 }, /SMTP_PORT/],
      ['AddOrUpdateSMPTConfig', { SMTP_PORT: '70000' }, /is not a whole number from 1 to 65,535/],
      ['AddOrUpdateSMPTConfig', { SMTP_HOST: 'a b' }, /neither a host name/],
      ['AddOrUpdateSMPTConfig', { SMTP_FROM: 'a\r\nBcc: x@example.org' }, /control characters/],
      ['AddOrUpdateSMPTConfig', { SMTP_SECURITY: 'ssl' }, /must be one of none, starttls, tls/],
      ['AddOrUpdateSMPTConfig', { SMTP_SECURITY: 'none', SMTP_PASSWORD: 'p' }, /sent in clear text/],
      ['AddOrUpdateSMPTConfig', { SMTP_CA: 'hello' }, /no PEM certificate/],
      ['AddOrUpdateSMPTConfig', { SMTP_CA: expired }, /CN=old.example.org\) that expired on /],
      [
        'AddOrUpdateSMPTConfig',
        { SMTP_HOST: null, SMTP_FROM: null, SMTP_PASSWORD: '', SMTP_USER: 'u', SMTP_PORT: 'x' },
        /SMTP_PORT/,
      ],
      ['AddOrUpdateLDAPServer', { LDAP_URL: 'http://x' }, /must start with ldaps:\/\/ or ldap:\/\//],
      ['AddOrUpdateLDAPServer', { LDAP_URL: 'ldap://x', LDAP_SECURITY: 'none' }, /clear text/],
      ['AddOrUpdateLDAPServer', { LDAP_URL: 'ldaps://x' }, /tls with ldaps/],
      ['AddOrUpdateLDAPServer', { LDAP_ENABLED: 'true', LDAP_URL: 'ldap://x' }, /LDAP_BASE_DN: is required/],
      ['AddOrUpdateLDAPServer', { LDAP_USER_FILTER: '(uid=*)' }, /\{username\}/],
      ['AddOrUpdateLDAPServer', { LDAP_BASE_DN: 'example' }, /not a distinguished name/],
      ['AddOrUpdateLDAPServer', { LDAP_BIND_DN: 'cn=reader,dc' }, /neither a distinguished name/],
      ['AddOrUpdateLDAPServer', { LDAP_BASE_DN: `a=b${',a=b'.repeat(200)}\\` }, /not a distinguished name/],
      ['AddOrUpdateISEServer', { ISE_URL: 'http://ise' }, /must start with https/],
      ['AddOrUpdateISEServer', { ISE_URL: 'https://u:p@ise' }, /user or password/],
      ['AddOrUpdateISEServer', { ISE_ENABLED: 'true' }, /ISE_URL: is required.*ISE_PASSWORD: is required/],
      ['AddOrUpdateCACTServer', { CACT_ENABLED: 'yes' }, /neither true nor false/],
      ['AddOrUpdateCustomLogin', { CUSTOM_LOGIN_LOGO: 'data:image/svg+xml;base64,AAAA' }, /not a PNG/],
      ['AddOrUpdateCustomLogin', { CUSTOM_LOGIN_LOGO: png(3_000, 10) }, /3000 by 10 pixels/],
      ['AddOrUpdateCustomLogin', { CUSTOM_LOGIN_LOGO: png(10, 10, 262_145) }, /262145 bytes/],
      ['AddOrUpdateCustomLogin', { CUSTOM_LOGIN_COLOR: 'red;}' }, /not a color/],
      ['SetServerDomainName', { SERVER_DOMAIN_NAME: 'javascript:alert(1)' }, /SERVER_DOMAIN_NAME/],
      ['SetServerDomainName', { SERVER_DOMAIN_NAME: 'https://a.example.org/path' }, /path/],
      ['AddOrUpdateVendorA', { VENDORA_CHECKIN_SECONDS: '1' }, /from 5 to 3,600/],
    ] as const) {
      const [status, detail] = await refused(path, body)
      expect([path, status, detail]).toEqual([path, 400, expect.stringMatching(message)])
    }
    expect(await read('GetConfigItemsByPrefix/SMTP_,LDAP_,OIDC_,ISE_,CACT_,CUSTOM_,SERVER_,VENDORA_')).toEqual(before)
    expect(
      (await (await t.admin()).get(`${base}/GetConfigItemsByName/${Array(51).fill('A').join(',')}`)).statusCode,
    ).toBe(400)
  })

  it('accepts valid certificates and pictures, an empty body, and null for unset', async () => {
    const ca = certificate('ca.example.org', 36_500)
    const saved = await save('AddOrUpdateLDAPServer', { LDAP_CA: ca, LDAP_URL: 'ldap://a ldap://b:1389' })
    expect(saved.items.LDAP_CA).toBe(ca.trim())
    const login = await save('AddOrUpdateCustomLogin', {
      CUSTOM_LOGIN_LOGO: png(10, 10),
      CUSTOM_LOGIN_BANNER: 'Line one\nLine two',
    })
    expect(login.items.CUSTOM_LOGIN_BANNER).toBe('Line one\nLine two')
    const all = await t.request({ method: 'GET', url: `${base}/GetCustomLoginConfigItems` })
    expect([all.statusCode, all.json().CUSTOM_LOGIN_BANNER]).toEqual([200, 'Line one\nLine two'])
    for (const body of [undefined, null, {}]) expect((await save('AddOrUpdateCustomLogin', body)).changes).toEqual([])
    expect(
      (await save('AddOrUpdateCustomLogin', { CUSTOM_LOGIN_LOGO: null, CUSTOM_LOGIN_BANNER: '' })).changes,
    ).toHaveLength(2)
  })

  it('never returns a secret', async () => {
    await save('AddOrUpdateCACTServer', { CACT_PASSWORD: 'canary-1-9c', CACT_DEX_PASSWORD: 'canary-2-9c' })
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ_%']
    const admin = await t.admin()
    for (const prefix of letters)
      expect((await admin.get(`${base}/GetConfigItemsByPrefix/${encodeURIComponent(prefix)}`)).body).not.toContain(
        'canary',
      )
    expect((await admin.get(`${base}/history`)).body).not.toContain('canary')
    for (const table of ['config_items', 'config_history', 'config_versions', 'audit_records']) {
      const [row] = await t.db.query<{ n: number }>(
        sql`select count(*)::int as n from ${raw(table)} x where x::text ~ 'canary-' or x::text ~ encode('canary-', 'hex')`,
      )
      expect([table, row?.n]).toEqual([table, 0])
    }
  })

  it('is read by Managers and changed by Administrators; a row swapped in the database cannot be opened', async () => {
    const [user, manager] = [await person(t, { profile: 30 }), await person(t, { profile: 20 })]
    expect((await user.api.get(`${base}/GetConfigItemsByPrefix/SMTP`)).statusCode).toBe(403)
    expect((await manager.api.get(`${base}/GetConfigItemsByPrefix/SMTP`)).statusCode).toBe(200)
    expect((await manager.api.post(`${base}/AddOrUpdateCustomLogin`, { CUSTOM_LOGIN_TITLE: 'x' })).statusCode).toBe(403)
    await t.db.execute(sql`
      update config_items set sealed = (select sealed from config_items where name = 'CACT_PASSWORD') where name = 'CACT_DEX_PASSWORD'`)
    const values = await t.server.settings.values(t.db, 'cact')
    expect(values.secret('CACT_PASSWORD')?.reveal()).toBe('canary-1-9c')
    expect(() => values.secret('CACT_DEX_PASSWORD')).toThrow()
  })

  it('uses the domain name for links and allowed origins, and its test reports what a browser finds', async () => {
    const call = async (origin: string) =>
      (
        await t.request({
          method: 'POST',
          url: '/prime/webui/Auth/LocalLogin',
          headers: { origin, host: 'inside:8080' },
          payload: { username: 'x', password: 'y' },
        })
      ).json().code
    expect(await call('https://portcullis.example.org')).toBe('origin_refused')
    await save('SetServerDomainName', { SERVER_DOMAIN_NAME: 'https://portcullis.example.org' })
    await t.server.settings.refresh()
    expect(await call('https://portcullis.example.org')).toBe('credentials_wrong')
    expect(await call('https://portcullis.example.org.evil.test')).toBe('origin_refused')
    const tried = await post('TestDomainName', { SERVER_DOMAIN_NAME: 'no-such-host.invalid' })
    expect(tried.json()).toMatchObject({ ok: false, steps: [{ step: 'Name', ok: false }] })
    const closed = await post('TestDomainName', { SERVER_DOMAIN_NAME: 'https://127.0.0.1:1' })
    expect(closed.json().steps.map((s: { step: string; ok: boolean }) => [s.step, s.ok])).toEqual([
      ['Name', true],
      ['Answer', false],
    ])
  })

  it('applies the check-in interval and the retention of events', async () => {
    await save('AddOrUpdateVendorA', { VENDORA_CHECKIN_SECONDS: '300', VENDORA_RETENTION_DAYS_EVENTS: '30' })
    await t.server.settings.refresh()
    expect([
      t.server.settings.now('VENDORA_CHECKIN_SECONDS'),
      t.server.settings.now('VENDORA_RETENTION_DAYS_EVENTS'),
    ]).toEqual(['300', '30'])
    const append = (n: number) =>
      t.db.transaction((tx) =>
        t.server.events.append(
          tx,
          Array.from({ length: n }, () => ({
            kind: 'removed' as const,
            agentId: null,
            entity: 'e',
            hashtags: '',
            details: '',
          })),
        ),
      )
    await append(3)
    t.clock.advance(31 * 86_400_000)
    await append(2)
    expect(await t.server.events.forget(0, null)).toBe(0)
    expect(await t.server.events.forget(30, null)).toBe(3)
    expect((await pageOf(t, 'events/getevents')).recordsTotal).toBe(2)
  })

  it('requires a second approver to weaken that requirement', async () => {
    await person(t, { profile: 10 })
    const answer = await post('AddOrUpdateVendorA', { VENDORA_TWO_PERSON_LIMIT: '0' })
    expect([answer.statusCode, answer.json().code]).toEqual([403, 'second_person_required'])
    expect(await read('GetConfigItemsByName/VENDORA_TWO_PERSON_LIMIT')).toEqual({ VENDORA_TWO_PERSON_LIMIT: '100' })
    await save('AddOrUpdateVendorA', { VENDORA_TWO_PERSON_LIMIT: '50' })
  })
})
