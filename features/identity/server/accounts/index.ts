import { mustExist } from '@portcullis/domain'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createOpaqueTokens } from '@portcullis/platform/server/opaque-tokens.ts'
import { createPasswords, type PasswordCost } from '@portcullis/platform/server/passwords.ts'
import type { SealedColumn } from '@portcullis/platform/server/sealed-column.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { linkBase } from '#features/settings/server/index.ts'
import type { IdentityContext } from '../context.ts'
import { createAccessTokens } from './access-tokens.ts'
import { createAccountsRead } from './accounts.read.ts'
import { registerAccountsRoutes } from './accounts.routes.ts'
import { createAccountsService } from './accounts.service.ts'
import { type AccountRow, createAccountsStore } from './accounts.store.ts'
import { createApiTokensService } from './api-tokens.service.ts'
import { createApiTokensStore } from './api-tokens.store.ts'
import { fromOf, registerAuthRoutes, setRefreshCookie } from './auth.routes.ts'
import { createCredentialsService } from './credentials.service.ts'
import type { DirectoryPort } from './directory-port.ts'
import { createExternalService, type NotAdmitted } from './external.service.ts'
import { createExternalStore } from './external.store.ts'
import type { ExternalVerdict } from './external.ts'
import { createFirstAdministrator } from './first-administrator.ts'
import { createLockOutExit, type RecoveredAccount } from './lock-out.ts'
import { createMfa, totpContext } from './mfa.service.ts'
import { createMfaStore } from './mfa.store.ts'
import { createOwnAccountService } from './own-account.service.ts'
import { createPasswordLinks } from './password-links.service.ts'
import { createReauthenticationService, type ReauthenticationService } from './reauthentication.service.ts'
import { createSecondFactor, type SecondFactor } from './second-factor.service.ts'
import { createSessionsService } from './sessions.service.ts'
import { createSessionsStore } from './sessions.store.ts'
import { createSigninService } from './signin.service.ts'
import { createSigninStore } from './signin.store.ts'
import { createSuspensionService } from './suspension.service.ts'
import { createTokenExpiry } from './token-expiry.service.ts'

/** Sealed secrets in the tables of this feature. */
export const accountsSealed: readonly SealedColumn[] = [
  { table: 'account_totp', key: 't.account_id::text', column: 'sealed', context: totpContext },
]

export type { DirectoryPort } from './directory-port.ts'
export type { NotAdmitted } from './external.service.ts'
export type { ExternalPerson, ExternalVerdict } from './external.ts'

/** Accounts per connection, which may take 12 s: up to 30 exchanges each, of 20 ms on a slow path. */
const sweepBatch = 20

export interface AccountsFeatureDeps extends IdentityContext {
  directory: DirectoryPort
  /** Called on every replica with the accounts whose rights may have changed; null: all. */
  onChange: (accountIds: readonly string[] | null) => void
  /** Cost of a password hash. Only tests lower it. */
  passwordCost?: PasswordCost
}

export interface AccountsApi {
  /** Returns the actor of a bearer token. Returns null for unknown, expired or revoked tokens. */
  authenticate(token: string, ip: string): Promise<Actor | null>
  /** Returns the actor of a one-use download ticket. */
  redeemTicket(ticket: string, ip: string): Promise<Actor | null>
  /** Creates the account `admin` at the first start. Returns the credentials to print if it generated a password. */
  ensureFirstAdministrator(password: Secret | null): Promise<{ userName: string; password: string } | null>
  /** Returns whether the first start has committed, as seen by this connection. */
  hasAccounts(db: Queryable): Promise<boolean>
  /** Creates a link for a new password, on the command line. Returns null if the local account does not exist. */
  resetPassword(userName: string, revokeApiTokens: boolean): Promise<RecoveredAccount | null>
  /** Lifts a suspension, on the command line of the server. */
  liftSuspension(userName: string): Promise<{ userName: string }>
  /** Removes the second factors of a local account, on the command line of the server. */
  resetSecondFactor: SecondFactor['resetOnServer']
  /** Lets a local account sign in without a required second factor for some hours, on the server's command line. */
  exemptSecondFactor: SecondFactor['exemptOnServer']
  /** Returns the address of this server for people: the domain name, else its own address. Without a trailing slash. */
  baseUrl(): Promise<string>
  /**
   * Opens a console session for a person confirmed by a provider, and sets the refresh cookie. Returns null, or why the
   * person was refused. `identify` asks the provider; its errors are passed on.
   */
  signInAs(
    identify: () => Promise<ExternalVerdict>,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<NotAdmitted | 'lost' | null>
  /** Returns the session of a caller whose identity a provider can confirm. Refuses API tokens and other accounts. */
  confirmable: ReauthenticationService['confirmable']
  /** Makes that session fresh after the provider confirmed the person. */
  confirmIdentity: ReauthenticationService['confirmIdentity']
  /** Withdraws the account of a subject that lost access at the provider. */
  withdrawSubject(issuer: string, id: string, why: string): Promise<void>
  /** Asks the directory about accounts that are in use and were not confirmed for 15 minutes. */
  checkDirectoryAccounts(): Promise<void>
  /** Deletes expired rows and adds failed sign-ins to the audit trail. Runs every few minutes, on any replica. */
  maintain(): Promise<void>
}

export const accountsFeature = async (app: HttpApp, context: AccountsFeatureDeps): Promise<AccountsApi> => {
  const { db, clock, keys, reach } = context
  const passwords = createPasswords(context.passwordCost)
  const accessTokens = await createAccessTokens({ key: keys.derive('access-token'), clock })
  const opaqueTokens = createOpaqueTokens(keys.derive('opaque-token').reveal())
  const store = createAccountsStore
  const sessionsStore = createSessionsStore
  const read = createAccountsRead

  const credentials = createCredentialsService({
    ...context,
    store: sessionsStore(db),
    accessTokens,
    opaqueTokens,
    onChange: context.onChange,
  })
  const external = createExternalService({
    ...context,
    store,
    externalStore: createExternalStore,
    sessionsStore,
    credentials,
  })
  const { directory } = context
  async function recheck(account: AccountRow): Promise<void> {
    if (!external.isDue(account)) return
    // While the directory is down, sessions continue until they expire. The next refresh asks it again.
    const [verdict] = await directory
      .standings([{ userName: account.user_name, id: account.external_id }])
      .catch((): ExternalVerdict[] => [])
    if (verdict !== undefined) await external.settle(account, verdict)
  }
  const sessions = createSessionsService({
    ...context,
    recheck,
    store: sessionsStore,
    credentials,
    accessTokens,
    opaqueTokens,
  })
  const signin = createSigninService({ ...context, passwords, store: createSigninStore, sessions, external, directory })
  const links = createPasswordLinks({ ...context, passwords, opaqueTokens, store, sessionsStore, read, credentials })
  const accounts = createAccountsService({ ...context, passwords, links, store, sessionsStore, credentials })
  const ownAccount = createOwnAccountService({ ...context, passwords, signin, store, sessionsStore, credentials })
  const apiTokens = createApiTokensService({ ...context, opaqueTokens, store: createApiTokensStore, credentials })

  const suspension = createSuspensionService({ ...context, store, sessionsStore, credentials })
  const tokenExpiry = createTokenExpiry({ ...context, credentials, store: createApiTokensStore })

  async function baseUrl(): Promise<string> {
    const items = await read(db).configItems(['SERVER_DOMAIN_NAME'])
    return linkBase(items.get('SERVER_DOMAIN_NAME') ?? '', reach().url)
  }
  const mfa = createMfa({
    ...context,
    opaqueTokens,
    store: createMfaStore(),
    accounts: store,
    sessionsStore,
    credentials,
    prove: signin.prove,
    bookFactor: signin.bookFactor,
    bookProof: signin.bookProof,
    origin: baseUrl,
  })
  const secondFactor = createSecondFactor({
    ...context,
    store,
    sessionsStore,
    credentials,
    removeFactors: mfa.removeAll,
  })
  const reauthentication = createReauthenticationService({
    ...context,
    signin,
    directory,
    mfa,
    store,
    signinStore: createSigninStore,
    sessionsStore,
    credentials,
  })
  registerAuthRoutes(app, {
    ...context,
    reauthentication,
    mfa,
    signin,
    sessions,
    links,
    store,
    read,
    providers: directory.providers,
  })
  registerAccountsRoutes(app, { ...context, accounts, ownAccount, apiTokens, sessions, suspension })
  context.settings.guard('security', secondFactor.guard)
  // Passkeys are bound to the domain name.
  context.settings.noteSignIn(async ({ changes }) => {
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
    hasAccounts: async (q) => !(await store(q).isEmpty()),
    ensureFirstAdministrator: createFirstAdministrator({ ...context, passwords, store }),
    resetPassword: createLockOutExit({ ...context, links, store, removeFactors: mfa.removeAll }),
    liftSuspension: suspension.liftOnServer,
    resetSecondFactor: secondFactor.resetOnServer,
    exemptSecondFactor: secondFactor.exemptOnServer,
    baseUrl,
    signInAs: async (identify, request, reply) => {
      const answer = await signin.signInAs(identify, fromOf(request, true))
      if ('refused' in answer) return answer.refused
      setRefreshCookie(request, reply, answer.opened, clock.now())
      return null
    },
    withdrawSubject: external.withdrawSubject,
    confirmable: reauthentication.confirmable,
    confirmIdentity: reauthentication.confirmIdentity,
    checkDirectoryAccounts: async () => {
      for (let checked = sweepBatch; checked === sweepBatch; ) {
        const due = await external.due(sweepBatch)
        const verdicts = await directory.standings(
          due.map(({ user_name, external_id }) => ({ userName: user_name, id: external_id })),
        )
        for (const [i, verdict] of verdicts.entries()) await external.settle(mustExist(due[i], 'the account'), verdict)
        checked = verdicts.length
      }
    },
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
