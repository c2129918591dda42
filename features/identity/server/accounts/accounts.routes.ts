import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import {
  addUser,
  createApiToken,
  deleteApiToken,
  deleteApiTokenByQuery,
  deleteUsers,
  getAllUsers,
  getProfile,
  getUserDetails,
  liftSuspension,
  listApiTokens,
  suspendAccount,
  updateUser,
  updateUserDetails,
} from '#features/contract.ts'
import type { AccountsService } from './accounts.service.ts'
import type { ApiTokensService } from './api-tokens.service.ts'
import type { AccountsContext } from './context.ts'
import type { OwnAccountService } from './own-account.service.ts'
import type { SessionsService } from './sessions.service.ts'
import type { SuspensionService } from './suspension.service.ts'
import { accountView, navigation } from './view.ts'

export const registerAccountsRoutes = (
  app: HttpApp,
  { licence, clock }: AccountsContext,
  services: {
    accounts: AccountsService
    ownAccount: OwnAccountService
    apiTokens: ApiTokensService
    sessions: SessionsService
    suspension: SuspensionService
  },
): void => {
  const { accounts, ownAccount, apiTokens, sessions, suspension } = services

  /** Returns whether the account must first change its password or set up its second factor. */
  const isLimited = ({ mustChangePassword, secondFactorDueAt }: Actor): boolean =>
    mustChangePassword || (secondFactorDueAt !== null && secondFactorDueAt <= clock.now())

  app.register(getAllUsers, () => accounts.all())
  app.register(getUserDetails, async ({ actor }) => accountView(await accounts.own(actor)))
  app.register(updateUserDetails, ({ actor, body }) => ownAccount.update(actor, body))
  app.register(getProfile, async ({ actor }) => ({
    account: accountView(await accounts.own(actor)),
    permissions: isLimited(actor) ? ['self:read', 'self:write'] : [...actor.permissions].sort(),
    navigation,
    license: await licence.summary(),
    sessions: await sessions.list(actor),
    secondFactorDueAt: actor.secondFactorDueAt === null ? null : new Date(actor.secondFactorDueAt).toISOString(),
  }))
  app.register(addUser, ({ actor, body }) => accounts.add(actor, body))
  app.register(updateUser, ({ actor, body }) => accounts.update(actor, body))
  app.register(deleteUsers, ({ actor, body }) => accounts.delete(actor, body ?? []))

  app.register(suspendAccount, ({ actor, body }) => suspension.suspend(actor, body.userName))
  app.register(liftSuspension, ({ actor, body }) => suspension.lift(actor, body.userName))

  app.register(listApiTokens, ({ actor }) => apiTokens.list(actor))
  app.register(createApiToken, ({ actor, body }) => apiTokens.create(actor, body))
  app.register(deleteApiToken, ({ actor, params }) => apiTokens.delete(actor, params.id))
  app.register(deleteApiTokenByQuery, ({ actor, query }) => apiTokens.delete(actor, query.id))
}
