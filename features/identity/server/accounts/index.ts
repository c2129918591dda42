import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createOpaqueTokens } from '@portcullis/platform/server/opaque-tokens.ts'
import { createPasswords, type PasswordCost } from '@portcullis/platform/server/passwords.ts'
import type { SealedColumn } from '@portcullis/platform/server/sealed-column.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { linkBase } from '#features/settings/server/index.ts'
import type { IdentityContext } from '../context.ts'
import { createAccessTokens } from './access-tokens.ts'
import { createAccountsRead } from './accounts.read.ts'
import { registerAccountsRoutes } from './accounts.routes.ts'
import { createAccountsService } from './accounts.service.ts'
import { createAccountsStore } from './accounts.store.ts'
import { createApiTokensService } from './api-tokens.service.ts'
import { fromOf, registerAuthRoutes, setRefreshCookie } from './auth.routes.ts'
import type { AccountsContext } from './context.ts'
import { createCredentialsService } from './credentials.service.ts'
import type { DirectoryPort } from './directory-port.ts'
import { createExternalService, type NotAdmitted } from './external.service.ts'
import type { ExternalVerdict } from './external.ts'
import { createFirstAdministrator } from './first-administrator.ts'
import { createLockOutExit } from './lock-out.ts'
import { createMfa, totpContext } from './mfa.service.ts'
import { createMfaStore } from './mfa.store.ts'
import { createOwnAccountService } from './own-account.service.ts'
import { createPasswordLinks } from './password-links.service.ts'
import { createReauthenticationService } from './reauthentication.service.ts'
import { createSecondFactor } from './second-factor.service.ts'
import { createSessionsService } from './sessions.service.ts'
import { createSigninService } from './signin.service.ts'
import { createSuspensionService } from './suspension.service.ts'
import { createTokenExpiry } from './token-expiry.service.ts'

export const accountsSealed: readonly SealedColumn[] = [
  { table: 'account_totp', key: 't.account_id::text', column: 'sealed', context: totpContext },
]

export { nameKey } from './accounts.rules.ts'
export type { DirectoryPort } from './directory-port.ts'
export type { NotAdmitted } from './external.service.ts'
export type { ExternalPerson, ExternalVerdict } from './external.ts'

export type AccountsApi = Awaited<ReturnType<typeof accountsFeature>>

export const accountsFeature = async (
  app: HttpApp,
  given: IdentityContext & {
    directory: DirectoryPort
    /** Called on every replica with the accounts whose rights may have changed; null: all. */
    onChange: (accountIds: readonly string[] | null) => void
    /** Cost of a password hash. Only tests lower it. */
    passwordCost?: PasswordCost
  },
) => {
  const { db, clock, directory, keys, reach, settings } = given
  const passwords = createPasswords(given.passwordCost)
  const accessTokens = await createAccessTokens({ key: keys.derive('access-token'), clock })
  const opaqueTokens = createOpaqueTokens(keys.derive('opaque-token').reveal())
  const credentials = createCredentialsService(given, accessTokens, opaqueTokens, given.onChange)
  async function baseUrl(): Promise<string> {
    const items = await createAccountsRead(db).configItems(['SERVER_DOMAIN_NAME'])
    return linkBase(items.get('SERVER_DOMAIN_NAME') ?? '', reach().url)
  }
  const context: AccountsContext = {
    ...given,
    ...{ directory, passwords, accessTokens, opaqueTokens, credentials, baseUrl },
  }

  const external = createExternalService(context)
  const sessions = createSessionsService(context, external)
  const signin = createSigninService(context, sessions, external)
  const links = createPasswordLinks(context)
  const suspension = createSuspensionService(context)
  const tokenExpiry = createTokenExpiry(context)
  const mfa = createMfa(context, signin)
  const secondFactor = createSecondFactor(context, mfa)
  const reauthentication = createReauthenticationService(context, signin, mfa)
  registerAuthRoutes(app, context, { reauthentication, mfa, signin, sessions, links })
  registerAccountsRoutes(app, context, {
    accounts: createAccountsService(context, links),
    ownAccount: createOwnAccountService(context, signin),
    apiTokens: createApiTokensService(context),
    sessions,
    suspension,
  })
  settings.addValidator('security', secondFactor.validate)
  // Passkeys are bound to the domain name.
  settings.noteSignIn(async ({ changes }) => {
    const isMoved = changes.some(({ name }) => name === 'SERVER_DOMAIN_NAME')
    const holders = isMoved ? await createMfaStore().passkeyHolders(db) : 0
    if (holders === 0) return ''
    return `${holders === 1 ? '1 account has passkeys' : `${holders} accounts have passkeys`} that do not work with another domain name.`
  })
  await passwords.warm()
  await signin.warm()
  await tokenExpiry.limitLegacy()

  return {
    authenticate: credentials.authenticate,
    redeemTicket: credentials.redeemTicket,
    /** Returns whether the first start has committed, as seen by this connection. */
    hasAccounts: async (q: Queryable): Promise<boolean> => !(await createAccountsStore(q).isEmpty()),
    ensureFirstAdministrator: createFirstAdministrator(context),
    /** Creates a link to set a password, for the command line. */
    resetPassword: createLockOutExit(context, links, mfa),
    liftSuspension: suspension.liftOnServer,
    resetSecondFactor: secondFactor.resetOnServer,
    exemptSecondFactor: secondFactor.exemptOnServer,
    baseUrl,
    /**
     * Opens a console session for a person confirmed by a provider, and sets the refresh cookie. Returns null, or why
     * the person was refused. `identify` asks the provider; its errors are passed on.
     */
    signInAs: async (
      identify: () => Promise<ExternalVerdict>,
      request: FastifyRequest,
      reply: FastifyReply,
    ): Promise<NotAdmitted | 'lost' | null> => {
      const answer = await signin.signInAs(identify, fromOf(request, true))
      if ('refused' in answer) return answer.refused
      setRefreshCookie(request, reply, answer.opened, clock.now())
      return null
    },
    withdrawSubject: external.withdrawSubject,
    confirmable: reauthentication.confirmable,
    confirmIdentity: reauthentication.confirmIdentity,
    checkDirectoryAccounts: external.checkDirectoryAccounts,
    /** Deletes expired rows and adds failed sign-ins to the audit trail. Runs every few minutes, on any replica. */
    maintain: async () => {
      await sessions.maintain()
      await links.maintain()
      await signin.maintain()
      await mfa.maintain()
      // A replica of the previous release may have created tokens without scopes in the meantime.
      await tokenExpiry.limitLegacy()
      await tokenExpiry.announce()
    },
  }
}
