import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { liftGate } from '@portcullis/server/test/approvals.ts'
import { createAuthority } from '@portcullis/server/test/certificates.ts'
import { type IdentityProvider, startIdentityProvider } from '@portcullis/server/test/identity-provider.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ConfigTested } from '#features/contract.ts'

const base = 'https://portcullis.example.org'
const callback = `${base}/prime/webui/Auth/Oidc/callback`
const client = { clientId: 'portcullis', clientSecret: 'the secret of the client' }
const minute = 60_000

const authority = await createAuthority()
const certificate = await authority.issue(['127.0.0.1'])
let t: TestApp
let provider: IdentityProvider

const items = () => ({
  OIDC_ENABLED: 'true',
  OIDC_NAME: 'Example sign-on',
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: client.clientId,
  OIDC_CLIENT_SECRET: client.clientSecret,
  OIDC_CA: authority.pem,
  OIDC_ADMINISTRATOR_GROUP: 'usb-admins',
  OIDC_MANAGER_GROUP: 'usb-managers',
  OIDC_USER_GROUP: 'usb-users',
})
const configure = async (more: Record<string, string | null> = {}) => {
  const answer = await (await t.admin()).post('/prime/webui/generalconfig/AddOrUpdateOIDCProvider', {
    ...items(),
    ...more,
  })
  expect(answer.statusCode, answer.body).toBe(200)
}
const get = (url: string, headers: Record<string, string> = {}) => t.request({ method: 'GET', url, headers })
const cookieOf = (answer: { headers: Record<string, unknown> }, name: string): string | undefined =>
  [answer.headers['set-cookie']].flat().find((one): one is string => String(one).startsWith(`${name}=`))
const pairOf = (cookie: string | undefined): string => cookie?.split(';')[0] ?? ''

/** Starts a sign-in in a browser. Returns the address it is sent to, and its cookie. */
const begin = async (headers: Record<string, string> = {}) => {
  const answer = await get('/prime/webui/Auth/Oidc/start', headers)
  expect(answer.statusCode, answer.body).toBe(302)
  return { location: answer.headers.location as string, cookie: pairOf(cookieOf(answer, 'portcullis_oidc')), answer }
}
/** Returns to the server with a response of the provider. */
const finish = async (at: URL, cookie: string) => {
  const answer = await get(`${at.pathname}${at.search}`, { cookie })
  expect(answer.statusCode, answer.body).toBe(302)
  return answer
}
const signIn = async () => {
  const { location, cookie } = await begin()
  return finish(await provider.visit(location), cookie)
}
/** Returns the account that a browser is signed in with. */
const userOf = async (answer: Awaited<ReturnType<typeof signIn>>) => {
  expect(answer.headers.location).toBe('/#signed-in')
  const refreshed = await t.as(undefined).post('/prime/webui/Auth/RefreshToken', undefined, {
    cookie: pairOf(cookieOf(answer, 'portcullis_refresh')),
    'x-portcullis-console': '1',
  })
  expect(refreshed.statusCode, refreshed.body).toBe(200)
  return refreshed.json()
}
const problem = (code: string): string => `/sign-in?problem=${code}`
const auditOf = async (entity: string): Promise<string[]> =>
  (await (await t.admin()).get('/prime/webui/events/GetAuditsIntegration?PageSize=10000'))
    .json()
    .data.filter((one: { entity: string }) => one.entity === entity)
    .map((one: { action: string }) => one.action)

beforeAll(async () => {
  provider = await startIdentityProvider({
    tls: { ...certificate, ca: authority.pem },
    ...client,
    redirectUri: callback,
  })
  t = await startTestApp()
  await liftGate(t)
  const named = await (await t.admin()).post('/prime/webui/generalconfig/SetServerDomainName', {
    SERVER_DOMAIN_NAME: base,
  })
  expect(named.statusCode, named.body).toBe(200)
  await configure()
})
beforeEach(() => t.clock.advance(16 * minute))
afterAll(async () => {
  await t?.close()
  await provider?.stop()
})

describe('sign-in with an identity provider', () => {
  it('creates the account, follows the provider and opens a console session', async () => {
    provider.signsInAs('subject-grace', {
      preferred_username: 'grace',
      given_name: 'Grace',
      family_name: 'Hopper',
      email: 'grace@example.org',
      groups: ['everybody', 'usb-users', 'usb-managers'],
    })
    const { user, token } = await userOf(await signIn())
    expect(user).toMatchObject({
      userName: 'grace',
      authSource: 'OIDC',
      userProfile: 20,
      firstName: 'Grace',
      lastName: 'Hopper',
      email: 'grace@example.org',
    })
    expect((await t.as(token).get('/prime/webui/agents')).statusCode).toBe(200)
    // The subject keeps its user name here when it is renamed at the provider.
    provider.signsInAs('subject-grace', { preferred_username: 'ghopper', given_name: 'Grace', groups: ['usb-users'] })
    expect((await userOf(await signIn())).user).toMatchObject({ userName: 'grace', userProfile: 30, lastName: '' })
    expect(await auditOf('grace')).toEqual(['session.opened', 'account.changed', 'session.opened', 'account.created'])
  })

  it('uses PKCE, state and nonce, and binds them to the browser', async () => {
    const { location, answer } = await begin({ host: 'evil.example.org' })
    const url = new URL(location)
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      client_id: 'portcullis',
      redirect_uri: callback,
      response_type: 'code',
      scope: 'openid profile email',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    })
    expect(cookieOf(answer, 'portcullis_oidc')).toMatch(
      /^portcullis_oidc=[\w.-]+; Path=\/prime\/webui\/Auth\/Oidc; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    )
    expect((await begin()).location).not.toBe(location)
  })

  it('is offered on the sign-in page, at the domain name of the server', async () => {
    expect((await get('/prime/webui/Auth/Providers')).json().oidc).toEqual([
      { name: 'Example sign-on', url: `${base}/prime/webui/Auth/Oidc/start` },
    ])
  })

  describe('refuses an answer', () => {
    const prepared = async () => {
      provider.signsInAs('subject-victim', { preferred_username: 'victim', groups: ['usb-users'] })
      const { location, cookie } = await begin()
      return { at: await provider.visit(location), cookie }
    }
    const refused = async (at: URL, cookie: string, code = 'oidc_answer_refused') => {
      const answer = await finish(at, cookie)
      expect(answer.headers.location).toBe(problem(code))
      expect(cookieOf(answer, 'portcullis_refresh')).toBeUndefined()
    }

    it('in another browser', async () => {
      const { at } = await prepared()
      await refused(at, '')
      await refused(at, (await begin()).cookie)
    })

    it('with a forged or changed cookie', async () => {
      const { at, cookie } = await prepared()
      await refused(at, `${cookie}x`)
      await refused(at, cookie.replace(/\.[^.]+\./, `.${(t.clock.now() + 60 * minute).toString(36)}.`))
      await refused(
        at,
        cookie.replace(/=(.)/, (_, first) => (first === 'A' ? '=B' : '=A')),
      )
      await refused(at, 'portcullis_oidc=a.b.c')
    })

    it('received a second time', async () => {
      const { at, cookie } = await prepared()
      expect((await finish(at, cookie)).headers.location).toBe('/#signed-in')
      await refused(at, cookie)
    })

    it('received too late', async () => {
      const { at, cookie } = await prepared()
      t.clock.advance(11 * minute)
      await refused(at, cookie)
    })

    it('with the code of another sign-in', async () => {
      const [mine, theirs] = [await prepared(), await prepared()]
      mine.at.searchParams.set('code', theirs.at.searchParams.get('code') as string)
      await refused(mine.at, mine.cookie)
    })

    it('of another issuer, or without an issuer although the provider sends one', async () => {
      for (const iss of ['https://other.example.org', '']) {
        const { at, cookie } = await prepared()
        at.searchParams.set('iss', iss)
        await refused(at, cookie, 'oidc_answer_invalid')
      }
    })

    it('without a state or code', async () => {
      const { at, cookie } = await prepared()
      at.searchParams.delete('state')
      await refused(at, cookie)
      const other = await prepared()
      other.at.searchParams.delete('code')
      await refused(other.at, other.cookie, 'oidc_answer_invalid')
    })

    it('for a sign-in of another client', async () => {
      const { at, cookie } = await prepared()
      await configure({ OIDC_CLIENT_ID: 'another' })
      await refused(at, cookie)
      await configure()
    })
  })

  it('never redirects elsewhere, whatever the answer contains', async () => {
    provider.signsInAs('subject-victim', { preferred_username: 'victim', groups: ['usb-users'] })
    const { location, cookie } = await begin()
    const at = await provider.visit(location)
    at.searchParams.set('next', '//evil.example.org')
    at.searchParams.set('RelayState', 'https://evil.example.org')
    expect((await finish(at, cookie)).headers.location).toBe('/#signed-in')
  })

  it('reports that the person declined', async () => {
    provider.signsInAs(null)
    expect((await signIn()).headers.location).toBe(problem('oidc_denied'))
  })

  it('withdraws the account when its group is removed, and restores it with the group', async () => {
    provider.signsInAs('subject-mover', { preferred_username: 'mover', groups: 'usb-users' as never })
    const { token } = await userOf(await signIn())
    provider.signsInAs('subject-mover', { preferred_username: 'mover', groups: ['usb-users-of-old'] })
    expect((await signIn()).headers.location).toBe(problem('oidc_not_entitled'))
    expect((await t.as(token).get('/prime/webui/agents')).statusCode).toBe(401)
    expect(await auditOf('mover')).toEqual(expect.arrayContaining(['account.withdrawn', 'session.refused']))
    provider.signsInAs('subject-mover', { preferred_username: 'mover', groups: ['usb-users'] })
    expect((await userOf(await signIn())).user.userName).toBe('mover')
  })

  it('never takes over an account', async () => {
    provider.signsInAs('subject-evil', { preferred_username: 'ADMIN', groups: ['usb-users'] })
    expect((await signIn()).headers.location).toBe(problem('oidc_name_taken'))
    provider.signsInAs('subject-owner', { preferred_username: 'owner', groups: ['usb-users'] })
    await userOf(await signIn())
    provider.signsInAs('subject-thief', { preferred_username: 'owner', groups: ['usb-admins'] })
    expect((await signIn()).headers.location).toBe(problem('oidc_name_taken'))
    const passwordLogin = await t
      .as(undefined)
      .post('/prime/webui/Auth/LocalLogin', { username: 'owner', password: '' })
    expect(passwordLogin.statusCode).toBe(401)
  })

  it.each(['system', 'gr\u200bace', ' blank', 7, ''])('creates no account with the name %j', async (name) => {
    provider.signsInAs('subject-odd', { preferred_username: name as string, groups: ['usb-users'] })
    expect((await signIn()).headers.location).toBe(problem('oidc_not_entitled'))
  })

  it('keeps an account disabled that an Administrator disabled', async () => {
    provider.signsInAs('subject-barred', { preferred_username: 'barred', groups: ['usb-users'] })
    await userOf(await signIn())
    await (await t.admin()).post('/prime/webui/admin/updateuser', { userName: 'barred', isEnabled: false })
    expect((await signIn()).headers.location).toBe(problem('oidc_not_entitled'))
  })

  it('reports a provider that is turned off or down', async () => {
    await configure({ OIDC_ISSUER: 'https://127.0.0.1:1' })
    expect((await begin()).location).toBe(problem('oidc_unavailable'))
    await configure({ OIDC_ENABLED: 'false' })
    expect((await begin()).location).toBe(problem('oidc_unavailable'))
    expect((await get('/prime/webui/Auth/Providers')).json().oidc).toEqual([])
    await configure()
  })
})

describe('the test of a provider', () => {
  const test = async (more: Record<string, string> = {}): Promise<ConfigTested> => {
    const answer = await (await t.admin()).post('/prime/webui/generalconfig/TestOIDC', { ...items(), ...more })
    expect(answer.statusCode, answer.body).toBe(200)
    return answer.json()
  }

  it('reports each step and the address to register', async () => {
    const { host } = new URL(provider.issuer)
    expect(await test()).toEqual({
      ok: true,
      steps: [
        {
          step: 'Discovery',
          ok: true,
          message: `The provider at ${host} answers, its certificate is valid, and the issuer matches.`,
        },
        {
          step: 'Endpoints',
          ok: true,
          message: `People sign in at ${host}. Codes are exchanged at ${host}. PKCE is supported.`,
        },
        { step: 'Keys', ok: true, message: 'One key to verify tokens that are signed with PS256, RS256.' },
        { step: 'Clock', ok: true, message: expect.stringMatching(/clock/) },
        {
          step: 'Claims',
          ok: true,
          message: 'Sign-in needs the claims preferred_username and groups.',
        },
        {
          step: 'Redirect address',
          ok: true,
          message: `The provider accepts the client ID, the scopes and ${callback}.`,
        },
        { step: 'Client', ok: true, message: 'The provider accepts the client ID and the client secret.' },
      ],
    })
  })

  it.each<[string, () => Record<string, string> | Promise<Record<string, string>>, RegExp]>([
    ['no provider', () => ({ OIDC_ISSUER: `${provider.issuer}/nothing` }), /has no discovery document/],
    [
      'the name of another host',
      () => ({ OIDC_ISSUER: provider.issuer.replace('127.0.0.1', 'localhost') }),
      /names another host/,
    ],
    [
      'an untrusted authority',
      async () => ({ OIDC_CA: (await createAuthority('Foreign')).pem }),
      /is not trusted \(issuer: "Test authority"\)/,
    ],
    ['an unused port', () => ({ OIDC_ISSUER: 'https://127.0.0.1:1' }), /Nothing listens at this address/],
    ['an unknown name', () => ({ OIDC_ISSUER: 'https://idp.invalid' }), /cannot be resolved/],
    ['a metadata service', () => ({ OIDC_ISSUER: 'https://169.254.169.254' }), /never connects to/],
  ])('explains how to fix %s', async (_what, more, message) => {
    const tested = await test(await more())
    expect([tested.ok, tested.steps.length, tested.steps[0]?.ok]).toEqual([false, 1, false])
    expect(tested.steps[0]?.message).toMatch(message)
  })

  it.each<[string, Record<string, string>, string, string, RegExp]>([
    ['a wrong secret', { OIDC_CLIENT_SECRET: 'a typo' }, 'Client', 'OIDC_CLIENT_SECRET', /refused this server as a/],
    ['an unknown client', { OIDC_CLIENT_ID: 'stranger' }, 'Redirect address', 'OIDC_CLIENT_ID', /status 400/],
  ])('finds %s', async (_what, more, step, field, message) => {
    const tested = await test(more)
    expect(tested.steps.at(-1)).toEqual({ step, ok: false, field, message: expect.stringMatching(message) })
  })

  it('refuses to store an address that the server never connects to', async () => {
    const answer = await (await t.admin()).post('/prime/webui/generalconfig/AddOrUpdateOIDCProvider', {
      ...items(),
      OIDC_ISSUER: 'https://169.254.169.254',
    })
    expect([answer.statusCode, answer.json().code]).toEqual([422, 'destination_refused'])
  })
})
