import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { unless } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { createAuthority } from '@portcullis/server/test/certificates.ts'
import { person } from '@portcullis/server/test/people.ts'
import { readerDn, readerPassword, type Slapd, startSlapd, suffix, whyNoSlapd } from '@portcullis/server/test/slapd.ts'
import { exportJWK, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { permissionsOf } from '#features/contract.ts'

const base = '/prime/webui'
const origin = 'https://portcullis.example.org'
const minute = 60_000

const authority = await createAuthority()
const certificate = await authority.issue(['127.0.0.1'])
let t: TestApp
let target: string
beforeAll(async () => {
  t = await startTestApp()
  target = (await person(t)).userName
})
afterAll(() => t.close())

const post = (path: string, payload: unknown, token?: string) => t.as(token).post(`${base}/${path}`, payload)
const save = async (path: string, items: object) => {
  const answer = await (await t.admin()).post(`${base}/generalconfig/${path}`, items)
  expect(answer.statusCode, answer.body).toBe(200)
}
/** Calls an operation that needs fresh authentication and changes nothing: the account has no factors. */
const tryFresh = async (token: string): Promise<string> => {
  const answer = await post('admin/resetmfa', { userName: target }, token)
  return answer.statusCode === 200 ? 'done' : answer.json().code
}

const noDirectory = whyNoSlapd()

describe('fresh authentication of a directory account', unless(noDirectory), () => {
  const password = 'a directory password'
  let slapd: Slapd
  const signIn = async (username: string): Promise<string> =>
    (await post('Auth/LocalLogin', { username, password })).json().token
  const prove = async (token: string, given: object): Promise<string> => {
    const answer = await post('auth/reauthenticate', given, token)
    return answer.statusCode === 200 ? 'fresh' : answer.json().code
  }

  beforeAll(async () => {
    slapd = await startSlapd({ tls: { ...(await authority.issue(['127.0.0.1', 'localhost'])), ca: authority.pem } })
    const people = [await slapd.person('ada', password), await slapd.person('bob', 'the password of bob')]
    await save('AddOrUpdateLDAPServer', {
      LDAP_ENABLED: 'true',
      LDAP_URL: slapd.tlsUrl,
      LDAP_SECURITY: 'tls',
      LDAP_CA: authority.pem,
      LDAP_BIND_DN: readerDn,
      LDAP_BIND_PASSWORD: readerPassword,
      LDAP_BASE_DN: suffix,
      LDAP_ADMINISTRATOR_GROUP: await slapd.group('administrators', people),
    })
  })
  afterAll(() => slapd?.stop())

  it('is a bind with the correct password', async () => {
    const token = await signIn('ada')
    expect(await tryFresh(token)).toBe('done')
    t.clock.advance(6 * minute)
    expect(await tryFresh(token)).toBe('reauthentication_required')
    for (const wrong of ['not this one', 'the password of bob', readerPassword])
      expect(await prove(token, { password: wrong })).toBe('reauthentication_failed')
    expect(await prove(token, { code: '123456' })).toBe('unprocessable')
    expect(await prove(token, { password: '' })).toBe('validation_failed')
    expect(await tryFresh(token)).toBe('reauthentication_required')
    expect(await prove(token, { password })).toBe('fresh')
    expect(await tryFresh(token)).toBe('done')
  })

  it('counts wrong passwords, but not attempts while the directory is down', async () => {
    t.clock.advance(16 * minute)
    const token = await signIn('ada')
    t.clock.advance(6 * minute)
    for (let i = 0; i < 9; i++) expect(await prove(token, { password: 'wrong' })).toBe('reauthentication_failed')
    await slapd.halt()
    for (let i = 0; i < 3; i++) expect(await prove(token, { password })).toBe('directory_unavailable')
    expect(await tryFresh(token)).toBe('reauthentication_required')
    await slapd.start()
    t.clock.advance(minute)
    expect(await prove(token, { password: 'wrong' })).toBe('reauthentication_failed')
    expect(await prove(token, { password })).toBe('too_many_requests')
  })
})

describe('fresh authentication of an account of an identity provider', () => {
  const own = generateKeyPairSync('rsa', { modulusLength: 2048 })
  let issuer = ''
  let claims: JWTPayload = {}
  const now = () => Math.floor(Date.now() / 1000)
  /** Seconds of the server's clock, which differs from the clock of the provider's tokens in this test. */
  const serverSeconds = () => Math.floor(t.clock.now() / 1000)

  const idToken = () =>
    new SignJWT({
      iss: issuer,
      aud: 'portcullis',
      sub: 'subject-grace',
      iat: now(),
      exp: now() + 300,
      preferred_username: 'grace',
      groups: ['usb-admins'],
      ...claims,
    })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .sign(own.privateKey)
  const server = createServer(certificate, async (request, response) => {
    const answers: Readonly<Record<string, () => Promise<unknown>>> = {
      '/.well-known/openid-configuration': async () => ({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ['code'],
        id_token_signing_alg_values_supported: ['RS256'],
      }),
      '/keys': async () => ({
        keys: [{ ...(await exportJWK(own.publicKey)), kid: 'one', use: 'sig', alg: 'RS256' }],
      }),
      '/token': async () => ({ access_token: 'a token', token_type: 'bearer', id_token: await idToken() }),
    }
    const answer = answers[request.url ?? '']
    if (answer === undefined) response.writeHead(404).end()
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(await answer()))
  })

  beforeAll(async () => {
    // A separate server: Administrators of a directory need a second approver for sign-in settings.
    await t.close()
    t = await startTestApp()
    target = (await person(t)).userName
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    await save('SetServerDomainName', { SERVER_DOMAIN_NAME: origin })
    await save('AddOrUpdateOIDCProvider', {
      OIDC_ENABLED: 'true',
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: 'portcullis',
      OIDC_CA: authority.pem,
      OIDC_ADMINISTRATOR_GROUP: 'usb-admins',
    })
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const cookieOf = (answer: { headers: Record<string, unknown> }, name: string): string =>
    (
      [answer.headers['set-cookie']].flat().find((one) => String(one).startsWith(`${name}=`)) as string | undefined
    )?.split(';')[0] ?? ''
  /** Returns to the server from an address of the provider. */
  const back = async (url: string, cookie: string, given: JWTPayload) => {
    const asked = new URL(url).searchParams
    claims = { nonce: asked.get('nonce'), ...given }
    const answer = await t.request({
      method: 'GET',
      url: `${base}/Auth/Oidc/callback?code=c&state=${asked.get('state')}`,
      headers: { cookie },
    })
    return { location: answer.headers.location as string, cookie: cookieOf(answer, 'portcullis_refresh') }
  }
  const signIn = async (given: JWTPayload = {}): Promise<string> => {
    const begun = await t.request({ method: 'GET', url: `${base}/Auth/Oidc/start` })
    const { location, cookie } = await back(begun.headers.location as string, cookieOf(begun, 'portcullis_oidc'), given)
    expect(location).toBe('/#signed-in')
    const refreshed = await t.as(undefined).post(`${base}/Auth/RefreshToken`, undefined, {
      cookie,
      'x-portcullis-console': '1',
    })
    return refreshed.json().token
  }
  const begin = async (token: string) => {
    const answer = await post('Auth/Oidc/reauthenticate', undefined, token)
    expect(answer.statusCode, answer.body).toBe(200)
    return { url: answer.json().url as string, cookie: cookieOf(answer, 'portcullis_oidc') }
  }
  const confirm = async (token: string, given: JWTPayload) => {
    const { url, cookie } = await begin(token)
    return back(url, cookie, given)
  }
  const refused = (code: string): string => `/identity-confirmed?problem=${code}`

  it('asks the provider for the password, and counts from the time that the provider reports', async () => {
    const token = await signIn()
    // A sign-in without the time of the password is not fresh.
    expect(await tryFresh(token)).toBe('reauthentication_required')
    const { url } = await begin(token)
    const asked = new URL(url).searchParams
    expect([asked.get('prompt'), asked.get('max_age')]).toEqual(['login', '300'])
    const done = await confirm(token, { auth_time: serverSeconds() - 100 })
    // It does not open a session.
    expect(done).toEqual({ location: '/identity-confirmed', cookie: '' })
    expect(await tryFresh(token)).toBe('done')
    t.clock.advance(199_000)
    expect(await tryFresh(token)).toBe('done')
    t.clock.advance(2_000)
    expect(await tryFresh(token)).toBe('reauthentication_required')
  })

  it.each<[string, () => JWTPayload, string]>([
    ['no auth_time', () => ({}), 'oidc_not_fresh'],
    ['an auth_time of more than five minutes ago', () => ({ auth_time: serverSeconds() - 302 }), 'oidc_not_fresh'],
    ['an auth_time in the future', () => ({ auth_time: serverSeconds() + 120 }), 'oidc_not_fresh'],
    ['an auth_time that is a text', () => ({ auth_time: String(serverSeconds()) }) as never, 'oidc_answer_invalid'],
    ['another person', () => ({ auth_time: serverSeconds(), sub: 'subject-mallory' }), 'oidc_other_person'],
    ['another nonce', () => ({ auth_time: serverSeconds(), nonce: 'of another' }), 'oidc_answer_invalid'],
    ['another audience', () => ({ auth_time: serverSeconds(), aud: 'another' }), 'oidc_answer_invalid'],
  ])('is refused with %s', async (_what, given, code) => {
    t.clock.advance(16 * minute)
    const token = await signIn()
    expect(await confirm(token, given())).toEqual({ location: refused(code), cookie: '' })
    expect(await tryFresh(token)).toBe('reauthentication_required')
  })

  it('is bound to the session and browser that started it, and works once', async () => {
    t.clock.advance(16 * minute)
    const [token, other] = [await signIn(), await signIn()]
    const { url, cookie } = await begin(token)
    const given = { auth_time: serverSeconds() }
    expect((await back(url, '', given)).location).toBe('/sign-in?problem=oidc_answer_refused')
    const elsewhere = await begin(other)
    expect((await back(url, elsewhere.cookie, given)).location).toBe(refused('oidc_answer_refused'))
    const [random, ends, accountId] = cookie.split('=')[1]?.split('.') ?? []
    const [, , , sessionId, signature] = elsewhere.cookie.split('.')
    const mixed = `portcullis_oidc=${[random, ends, accountId, sessionId, signature].join('.')}`
    expect((await back(url, mixed, given)).location).toBe(refused('oidc_answer_refused'))
    expect((await back(url, cookie, given)).location).toBe('/identity-confirmed')
    expect((await back(url, cookie, given)).location).toBe(refused('oidc_answer_refused'))
    expect(await tryFresh(token)).toBe('done')
    expect(await tryFresh(other)).toBe('reauthentication_required')
  })

  it('is refused for tokens and local accounts, and cannot be replaced by a password', async () => {
    t.clock.advance(16 * minute)
    const token = await signIn({ auth_time: serverSeconds() })
    expect(await tryFresh(token)).toBe('done')
    const made = await post('admin/apiTokens', { name: 'of grace', scopes: permissionsOf(10) }, token)
    expect((await post('Auth/Oidc/reauthenticate', undefined, made.json().token)).json().code).toBe('session_required')
    expect((await post('Auth/Oidc/reauthenticate', undefined, await t.signIn())).json().code).toBe('unprocessable')
    expect((await post('auth/reauthenticate', { password: 'anything' }, token)).json().code).toBe('unprocessable')
  })
})
