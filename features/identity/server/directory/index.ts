import { invalid } from '@portcullis/platform/server/app-error.ts'
import { assertDestination } from '@portcullis/platform/server/assert-destination.ts'
import { answered } from '@portcullis/platform/server/http/answer.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createTurns } from '@portcullis/platform/server/limiters/turns.ts'
import { finishOidc, startOidc, startOidcReauthentication, testLdap, testOidc } from '#features/contract.ts'
import type { AccountsApi, DirectoryPort } from '../accounts/index.ts'
import type { IdentityContext } from '../context.ts'
import { ldapConfigOf } from './ldap.config.ts'
import { testLdapConnection } from './ldap.connection-test.ts'
import { faultOf } from './ldap.fault.ts'
import { personFilter } from './ldap.filters.ts'
import { createLdapHealth } from './ldap.health.ts'
import { createLdap } from './ldap.service.ts'
import { oidcConfigOf } from './oidc.config.ts'
import { testOidcConnection } from './oidc.connection-test.ts'
import { createOidc } from './oidc.service.ts'

/** Sign-in with a directory or an identity provider. */
export const directoryFeature = (app: HttpApp, context: IdentityContext & { accounts: AccountsApi }) => {
  const { db, clock, audit, settings, accounts, resolve } = context
  const read = async () => ldapConfigOf(await settings.values(db, 'ldap'), resolve)
  const ldap = createLdap(context, read)
  const health = createLdapHealth(context, read)
  const oidc = createOidc(context, accounts)
  settings.onChange((names) => {
    const concerns = (prefix: string): boolean => names === null || names.some((name) => name.startsWith(prefix))
    if (concerns('OIDC_')) oidc.forget()
    if (!concerns('LDAP_')) return
    ldap.resume()
    health.forget()
  })
  settings.addValidator('ldap', async (_actor, next) => {
    try {
      personFilter(next.get('LDAP_USER_FILTER') ?? '', 'uid', 'somebody')
    } catch (error) {
      throw invalid('body.LDAP_USER_FILTER', faultOf(error).message)
    }
    const urls = (next.get('LDAP_URL') ?? '').split(/\s+/).filter((url) => url !== '')
    await Promise.all(urls.map((url) => assertDestination(new URL(url).hostname, resolve)))
  })
  settings.addValidator('oidc', async (_actor, next) => {
    const issuer = next.get('OIDC_ISSUER') ?? ''
    if (issuer !== '') await assertDestination(new URL(issuer).hostname, resolve)
  })
  // A hanging test takes seconds. Two at a time are enough for people.
  const tests = createTurns({ atOnce: 2, waiting: 4, waitMs: 5_000, retryAfter: 5, spread: 5 })

  app.register(testLdap, async ({ actor, body }) => {
    const { LDAP_TEST_USER: userName, LDAP_TEST_PASSWORD: password, ...given } = body ?? {}
    const candidate = ldapConfigOf(await settings.values(db, 'ldap', given), resolve)
    if (candidate.urls.length === 0) throw invalid('body.LDAP_URL', 'is required for the test')
    if (candidate.baseDn === '') throw invalid('body.LDAP_BASE_DN', 'is required for the test')
    await db.transaction((tx) =>
      audit.write(tx, actor, {
        action: 'config.tested',
        entity: 'ldap',
        variant: 'ldap',
        details: candidate.urls.join(' '),
      }),
    )
    const person = { userName: userName ?? '', password: password ?? '' }
    return tests.run(() => testLdapConnection(candidate, person, clock.now()))
  })

  app.register(testOidc, async ({ actor, body }) => {
    const candidate = oidcConfigOf(await settings.values(db, 'oidc', body ?? {}), resolve)
    if (candidate.issuer === '') throw invalid('body.OIDC_ISSUER', 'is required for the test')
    if (candidate.clientId === '') throw invalid('body.OIDC_CLIENT_ID', 'is required for the test')
    await db.transaction((tx) =>
      audit.write(tx, actor, { action: 'config.tested', entity: 'oidc', variant: 'oidc', details: candidate.issuer }),
    )
    return tests.run(async () => testOidcConnection(candidate, `${await accounts.baseUrl()}${finishOidc.path}`))
  })

  app.register(startOidc, async ({ request, reply }) => {
    await oidc.start(request, reply)
    return answered
  })
  app.register(startOidcReauthentication, ({ actor, request, reply }) => oidc.startConfirmation(actor, request, reply))
  app.register(finishOidc, async ({ query, request, reply }) => {
    await oidc.finish(request, reply, query.state ?? '')
    return answered
  })

  return {
    /** The directories and providers, as sign-in uses them. */
    port: {
      ...ldap.port,
      providers: async () => ({ ldap: await ldap.port.isOn(), oidc: await oidc.buttons(startOidc.path) }),
    } satisfies DirectoryPort,
    maintain: oidc.maintain,
    health: health.health,
  }
}
