import { generateKeyPairSync } from 'node:crypto'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { liftGate } from '@portcullis/server/test/approvals.ts'
import { createAuthority } from '@portcullis/server/test/certificates.ts'
import { type Script, type ScriptedProvider, startScriptedProvider } from '@portcullis/server/test/scripted-provider.ts'
import { type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { errorTable } from '#features/contract.ts'

const minute = 60_000
const authority = await createAuthority()
const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 })
const lines: Record<string, unknown>[] = []
let t: TestApp
let provider: ScriptedProvider

const items = (): Record<string, string> => ({
  OIDC_ENABLED: 'true',
  OIDC_NAME: 'Example sign-on',
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: 'portcullis',
  OIDC_CLIENT_SECRET: 'the secret of the client',
  OIDC_CA: authority.pem,
  OIDC_ADMINISTRATOR_GROUP: 'usb-admins',
  OIDC_USER_GROUP: 'usb-users',
})
const configure = async (more: Record<string, string> = {}) => {
  const url = '/prime/webui/generalconfig/AddOrUpdateOIDCProvider'
  const answer = await (await t.admin()).post(url, { ...items(), ...more })
  expect(answer.statusCode, answer.body).toBe(200)
}
const cookieOf = (answer: { headers: Record<string, unknown> }, name: string): string =>
  String([answer.headers['set-cookie']].flat().find((one) => String(one).startsWith(`${name}=`))).split(';')[0] ?? ''
const get = (url: string, headers: Record<string, string> = {}) => t.request({ method: 'GET', url, headers })

/** Returns the last failure as the settings page shows it. */
const lastFailure = async (): Promise<string> =>
  (await (await t.admin()).get('/prime/webui/generalconfig/integrations'))
    .json()
    .data.find(({ name }: { name: string }) => name === 'oidc')?.failure ?? ''
/** Returns the logged reason of a cause. The log aggregates later lines with the same cause. */
const reasonOf = (cause: string): string =>
  String(lines.find((line) => line.msg === 'a sign-in failed' && line.cause === cause)?.reason)

/** Signs in while the provider follows a script. Returns where the browser ends, and its session. */
const attempt = async (script: Script) => {
  // Also reads the provider's document again.
  await configure()
  provider.says(script)
  const begun = await get('/prime/webui/Auth/Oidc/start')
  const asked = new URL(begun.headers.location as string).searchParams
  provider.says(script, asked.get('nonce') ?? '')
  const answer = await get(`/prime/webui/Auth/Oidc/callback?code=any&state=${asked.get('state')}`, {
    cookie: cookieOf(begun, 'portcullis_oidc'),
  })
  const location = String(answer.headers.location)
  return {
    code: /problem=(\w+)$/.exec(location)?.[1] ?? location,
    refresh: cookieOf(answer, 'portcullis_refresh'),
  }
}
const auditOf = async (entity: string): Promise<{ action: string; details: string }[]> =>
  (await (await t.admin()).get('/prime/webui/events/GetAuditsIntegration?PageSize=10000'))
    .json()
    .data.filter((one: { entity: string }) => one.entity === entity)

beforeAll(async () => {
  provider = await startScriptedProvider(await authority.issue(['127.0.0.1']), 'portcullis')
  t = await startTestApp({ logTo: { write: (line) => lines.push(JSON.parse(line)) } })
  await liftGate(t)
})
beforeEach(() => t.clock.advance(16 * minute))
afterAll(async () => {
  await t?.close()
  provider?.stop()
})

const unsigned = (claims: JWTPayload): string =>
  [{ alg: 'none' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
    .concat('.')
const hashed = (alg: string, key: Uint8Array) => (claims: JWTPayload) =>
  new SignJWT(claims).setProtectedHeader({ alg, kid: 'one' }).sign(key)
const announcing =
  (...algorithms: string[]) =>
  (document: Record<string, unknown>) => ({ ...document, id_token_signing_alg_values_supported: algorithms })
const toUserinfo = { preferred_username: undefined }

describe('a wrong response of the provider', () => {
  it('differs from a correct one, which opens a session and logs no failure', async () => {
    expect((await attempt({})).code).toBe('/#signed-in')
    expect([await lastFailure(), lines.filter(({ msg }) => msg === 'a sign-in failed')]).toEqual(['', []])
  })

  it.each<[string, () => Script, string, RegExp]>([
    ['no signature', () => ({ idToken: unsigned }), 'algorithm-none', /\(none\) that this server does not accept/],
    [
      'a secret as key, announced',
      () => ({ document: announcing('RS256', 'HS512'), idToken: hashed('HS512', Buffer.alloc(64, 1)) }),
      'algorithm-HS512',
      /\(HS512\) that this server does not accept\. Choose RS256 or ES256/,
    ],
    [
      'the public key as a secret',
      () => ({
        idToken: hashed('HS256', Buffer.from(provider.publicKey.export({ type: 'spki', format: 'pem' }))),
      }),
      'algorithm-HS256',
      /\(HS256\)/,
    ],
    [
      'an algorithm that it does not announce',
      () => ({ document: announcing('ES256') }),
      'algorithm-RS256',
      /\(RS256\) that its discovery document does not announce/,
    ],
    [
      'the signature of another key',
      () => ({ idToken: (claims) => provider.signed(claims, foreign.privateKey) }),
      'signature',
      /signature of the token is wrong/,
    ],
    ['another nonce', () => ({ claims: { nonce: 'another' } }), 'nonce', /nonce/],
    ['no nonce', () => ({ claims: { nonce: undefined } }), 'claim', /\(nonce\)/],
    ['no subject', () => ({ claims: { sub: undefined } }), 'claim', /\(sub\)/],
    ['another audience', () => ({ claims: { aud: 'another' } }), 'audience', /audience \(aud\)/],
    ['two audiences and no azp', () => ({ claims: { aud: ['portcullis', 'api'] } }), 'audience', /azp/],
    ['another issuer', () => ({ claims: { iss: `${provider.issuer}/` } }), 'issuer', /trailing slash/],
    [
      'an expiry in the past',
      () => ({ claims: { iat: provider.seconds() - 7_200, exp: provider.seconds() - 3_600 } }),
      'clock-late',
      /expired/,
    ],
    ['a fast clock', () => ({ claims: { nbf: provider.seconds() + 180 } }), 'clock-early', /clocks .* differ/],
    ['no token at all', () => ({ idToken: () => 'nothing' }), 'token', /ID token/],
    [
      'a page instead of a token',
      () => ({ token: () => ({ status: 500, type: 'text/html', body: 'sorry' }) }),
      'token',
      /status 500/,
    ],
    [
      'userinfo of another subject',
      () => ({ claims: toUserinfo, userinfo: () => ({ sub: 'somebody-else', preferred_username: 'lied' }) }),
      'userinfo-subject',
      /another subject \(sub\)/,
    ],
    [
      'userinfo as a token that it does not announce',
      () => ({
        claims: toUserinfo,
        userinfo: async () => ({
          status: 200,
          type: 'application/jwt',
          body: await provider.signed({ sub: 'subject-lied', preferred_username: 'lied' }),
        }),
      }),
      'userinfo-token',
      /does not announce/,
    ],
    [
      'no userinfo',
      () => ({ claims: toUserinfo, userinfo: () => ({ status: 403, type: 'text/plain', body: '' }) }),
      'userinfo',
      /status 403/,
    ],
  ])('with %s is refused, and the log names the cause', async (_what, script, cause, reason) => {
    expect((await attempt(script())).code).toBe('oidc_answer_invalid')
    expect(await lastFailure()).toMatch(reason)
    expect(reasonOf(cause)).not.toMatch(/undefined|subject-lied/)
  })

  it('is not blamed on the browser of the person', () => {
    const { title, detail, cause, cure } = errorTable.oidc_answer_invalid
    expect([title, detail, cause, cure].join(' ')).not.toMatch(/browser|ten minutes/)
  })

  it('from a refused client is not blamed on the person either', async () => {
    const refusal = { status: 401, type: 'application/json', body: '{"error":"invalid_client"}' }
    expect((await attempt({ token: () => refusal })).code).toBe('oidc_unavailable')
    expect(reasonOf('client')).toMatch(/client secret/)
  })
})

describe('the groups of a person', () => {
  const as = (name: string, claims: Record<string, unknown>): Script => ({
    claims: { sub: `subject-${name}`, preferred_username: name, ...claims },
  })
  const joined = 'floor-2; usb-users; choir'

  it.each<[string, Record<string, unknown>, string, RegExp]>([
    ['missing', { groups: undefined }, 'groups-missing', /claim groups is missing/],
    ['null', { groups: null }, 'groups-missing', /claim groups is missing/],
    [
      'left out, with their address elsewhere',
      { groups: undefined, _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://x' } } },
      'groups-overage',
      /too many groups/,
    ],
    ['left out, with a flag', { groups: undefined, hasgroups: true }, 'groups-overage', /app roles/],
    ['joined into one string', { groups: joined }, 'groups-joined', /one string, .* send a list/],
    ['objects', { groups: [{ name: 'usb-users' }] }, 'groups-unreadable', /not a list of strings/],
    ['a number', { groups: 7 }, 'groups-unreadable', /not a list of strings/],
  ])('are unknown if they are %s: the account and its sessions stay', async (what, claims, cause, reason) => {
    const name = `keeper-${what.replace(/\W+/g, '-')}`
    const opened = await attempt(as(name, { groups: ['usb-users'] }))
    expect(opened.code).toBe('/#signed-in')
    expect((await attempt(as(name, claims))).code).toBe('oidc_groups_unknown')
    expect(await lastFailure()).toMatch(reason)
    expect(reasonOf(cause)).not.toBe('undefined')
    const refreshed = await t.as(undefined).post('/prime/webui/Auth/RefreshToken', undefined, {
      cookie: opened.refresh,
      'x-portcullis-console': '1',
    })
    expect(refreshed.statusCode, refreshed.body).toBe(200)
    const audit = await auditOf(name)
    expect(audit.map(({ action }) => action)).toEqual(['session.refused', 'session.opened', 'account.created'])
    expect(audit[0]?.details).toMatch(reason)
    expect(audit[0]?.details).toMatch(/account was not changed/)
  })

  it.each<[string, unknown, RegExp]>([
    ['an empty list', [], /contains 0 values, and none/],
    ['other groups', ['choir', 'floor-2'], /contains 2 values, and none/],
    ['one other group as a string', 'choir', /one string, which equals no/],
  ])('are lost if they are %s: the account is withdrawn', async (what, groups, reason) => {
    const name = `leaver-${what.replace(/\W+/g, '-')}`
    const opened = await attempt(as(name, { groups: 'usb-users' }))
    expect(opened.code).toBe('/#signed-in')
    expect((await attempt(as(name, { groups }))).code).toBe('oidc_not_entitled')
    const audit = await auditOf(name)
    expect(audit.map(({ action }) => action)).toEqual([
      'session.refused',
      'account.withdrawn',
      'session.opened',
      'account.created',
    ])
    expect(audit[1]?.details).toMatch(reason)
    expect((await attempt(as(name, { groups: ['usb-users'] }))).code).toBe('/#signed-in')
  })

  it('create no account while they are unknown', async () => {
    expect((await attempt(as('nobody', { groups: joined }))).code).toBe('oidc_groups_unknown')
    const users = (await (await t.admin()).get('/prime/webui/admin/users?PageSize=1000')).body
    expect(users).not.toContain('"nobody"')
  })
})

describe('the test of a provider', () => {
  const lastStep = async (script: Script) => {
    provider.says(script)
    const answer = await (await t.admin()).post('/prime/webui/generalconfig/TestOIDC', items())
    expect(answer.statusCode, answer.body).toBe(200)
    return answer.json().steps.at(-1)
  }
  const refusedCode = (error: string) => ({ status: 400, type: 'application/json', body: JSON.stringify({ error }) })
  const refusesCode = { token: () => refusedCode('invalid_grant') }

  it.each<[string, Script, string, RegExp]>([
    [
      'only shared secrets',
      { document: announcing('HS256', 'HS512') },
      'Keys',
      /no algorithm .* accepts\. Choose RS256/,
    ],
    ['no key for its algorithm', { document: announcing('ES256') }, 'Keys', /no signing key for ES256/],
    ['a clock that is ahead', { clockMs: 180_000 }, 'Clock', /18\d s ahead of|179 s ahead of/],
    ['a clock that is behind', { clockMs: -300_000 }, 'Clock', /behind/],
    ['an unregistered redirect address', { authorize: () => ({ status: 403 }) }, 'Redirect address', /status 403/],
    [
      'an unknown scope',
      { authorize: (asked) => ({ status: 302, location: `${asked.get('redirect_uri')}?error=invalid_scope` }) },
      'Redirect address',
      /invalid_scope\). Check the scopes/,
    ],
    [
      'another refused request',
      { authorize: (asked) => ({ status: 302, location: `${asked.get('redirect_uri')}?error=unauthorized_client` }) },
      'Redirect address',
      /unauthorized_client/,
    ],
    ['a refused client', { token: () => refusedCode('invalid_client') }, 'Client', /client secret/],
    [
      'another issuer',
      { document: (document) => ({ ...document, issuer: 'https://other.example.org' }) },
      'Discovery',
      /names another issuer/,
    ],
  ])('finds %s before anybody signs in', async (_what, script, step, message) => {
    expect(await lastStep({ ...refusesCode, ...script })).toMatchObject({
      step,
      ok: false,
      message: expect.stringMatching(message),
    })
  })

  it('warns of algorithms and claims that only some clients get', async () => {
    provider.says({
      ...refusesCode,
      document: (document) => ({ ...announcing('RS256', 'HS512')(document), claims_supported: ['sub'] }),
    })
    const { ok, steps } = (await (await t.admin()).post('/prime/webui/generalconfig/TestOIDC', items())).json()
    expect(ok).toBe(true)
    const messageOf = (step: string) => steps.find((one: { step: string }) => one.step === step).message
    expect(messageOf('Keys')).toMatch(/also offers HS512, which sign-in refuses. Choose RS256/)
    expect(messageOf('Claims')).toMatch(/does not announce the claim groups/)
  })

  it('says what it cannot test without a browser', async () => {
    provider.says({ token: () => refusedCode('invalid_request'), authorize: () => ({ status: 200 }) })
    const { ok, steps } = (await (await t.admin()).post('/prime/webui/generalconfig/TestOIDC', items())).json()
    expect(ok).toBe(true)
    expect(steps.slice(-2).map((one: { message: string }) => one.message.slice(0, 10))).toEqual([
      'Not tested',
      'Not tested',
    ])
  })
})
