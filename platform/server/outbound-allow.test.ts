// Invariant: The server connects to loopback only if PORTCULLIS_OUTBOUND_ALLOW contains the address.

import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'

// The C library resolves this name to 127.0.0.1, although it is not a known spelling of this machine.
const name = '0x7f.1'
let closed: TestApp
let open: TestApp
beforeAll(async () => {
  ;[closed, open] = await Promise.all([
    startTestApp({ outboundAllow: [] }),
    startTestApp({ outboundAllow: ['127.0.0.0/8'] }),
  ])
})
afterAll(() => Promise.all([closed?.close(), open?.close()]))

const post = async (t: TestApp, path: string, body: Record<string, string>) =>
  (await t.admin()).post(`/prime/webui/generalconfig/${path}`, body)

it('accepts a name that resolves to loopback as a directory only if the operator allowed it', async () => {
  const items = { LDAP_URL: `ldaps://${name}:1`, LDAP_SECURITY: 'tls', LDAP_BASE_DN: 'dc=example' }
  const refused = await post(closed, 'AddOrUpdateLDAPServer', items)
  expect([refused.statusCode, refused.json().code]).toEqual([422, 'destination_refused'])
  expect((await post(open, 'AddOrUpdateLDAPServer', items)).statusCode).toBe(200)
  const said = async (t: TestApp) => (await post(t, 'TestLDAP', items)).json().steps[0].message as string
  expect(await said(closed)).toMatch(/never connects to/)
  expect(await said(open)).not.toMatch(/never connects to/)
})

it('accepts a name that resolves to loopback as a mail server only if the operator allowed it', async () => {
  const items = { SMTP_HOST: name, SMTP_PORT: '1', SMTP_SECURITY: 'none', SMTP_FROM: 'portcullis@example.org' }
  const said = async (t: TestApp) => JSON.stringify((await post(t, 'TestSMTP', items)).json())
  expect(await said(closed)).toMatch(/does not connect to/)
  expect(await said(open)).toMatch(/Connection refused by/)
})

it.each(['localhost', '127.0.0.1'])('rejects %s as a destination until the operator allows it', async (host) => {
  const items = { LDAP_URL: `ldaps://${host}:1`, LDAP_SECURITY: 'tls', LDAP_BASE_DN: 'dc=example' }
  const refused = await post(closed, 'AddOrUpdateLDAPServer', items)
  expect([refused.statusCode, refused.json().code]).toEqual([422, 'destination_refused'])
  expect((await post(open, 'AddOrUpdateLDAPServer', items)).statusCode).toBe(200)
})

it.each(['localhost', '127.0.0.1', '::1', name])(
  'stores %s as a mail server only if the operator allowed it',
  async (host) => {
    const items = { SMTP_HOST: host, SMTP_PORT: '1', SMTP_SECURITY: 'none', SMTP_FROM: 'portcullis@example.org' }
    const refused = await post(closed, 'AddOrUpdateSMPTConfig', items)
    expect([refused.statusCode, refused.json().code]).toEqual([422, 'destination_refused'])
    const stored = await (await closed.admin()).get('/prime/webui/generalconfig/GetConfigItemsByName/SMTP_HOST')
    expect(stored.json()).toEqual({ SMTP_HOST: '' })
    expect((await post(open, 'AddOrUpdateSMPTConfig', items)).statusCode).toBe(host === '::1' ? 422 : 200)
  },
)

it.each([
  ['AddOrUpdateSMPTConfig', { SMTP_HOST: '169.254.169.254', SMTP_FROM: 'portcullis@example.org' }],
  ['AddOrUpdateISEServer', { ISE_URL: 'https://localhost', ISE_USER: 'u', ISE_PASSWORD: 'p' }],
  ['AddOrUpdateCACTServer', { CACT_URL: 'https://127.0.0.1' }],
  ['AddOrUpdateOIDCProvider', { OIDC_ISSUER: 'https://localhost' }],
])('refuses to store a forbidden address by %s', async (path, items) => {
  expect((await post(closed, path, items)).statusCode).toBe(422)
})

it('never allows metadata services', async () => {
  const items = { LDAP_URL: 'ldaps://169.254.169.254', LDAP_SECURITY: 'tls', LDAP_BASE_DN: 'dc=example' }
  expect((await post(open, 'AddOrUpdateLDAPServer', items)).statusCode).toBe(422)
})
