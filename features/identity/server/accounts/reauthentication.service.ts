import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { type Actor, systemActor } from '@portcullis/platform/server/http/actor.ts'
import { assertSession, isFresh } from '@portcullis/platform/server/http/fresh.ts'
import { freshSeconds } from '#features/contract.ts'
import { nameKey } from './accounts.rules.ts'
import { type AccountRow, createAccountsStore } from './accounts.store.ts'
import type { AccountsContext } from './context.ts'
import type { GivenFactor, Mfa } from './mfa.service.ts'
import { createSessionsStore } from './sessions.store.ts'
import type { SigninService } from './signin.service.ts'
import { createSigninStore } from './signin.store.ts'

/** Proof of a person's identity: exactly one of these members. */
export interface GivenProof extends GivenFactor {
  password?: string | null
}

export type ReauthenticationService = ReturnType<typeof createReauthenticationService>

const proofNames: Readonly<Record<keyof GivenProof, string>> = {
  password: 'password',
  code: 'code of the authenticator app',
  recoveryCode: 'recovery code',
  response: 'passkey',
}

/** Fresh authentication (RFC 9470): verifies the identity of the user of an open session again. */
export const createReauthenticationService = (context: AccountsContext, signin: SigninService, mfa: Mfa) => {
  const { db, clock, audit, directory, credentials } = context

  /** Returns the account of the caller's session. Refuses API tokens. */
  async function accountOf(actor: Actor): Promise<AccountRow> {
    assertSession(actor)
    const account = actor.accountId === null ? undefined : await createAccountsStore(db).byId(actor.accountId)
    if (account === undefined) throw new AppError('session_ended')
    return account
  }

  /** Binds to the directory with the given password. The bind must find the entry that belongs to the account. */
  async function isProvenByDirectory(account: AccountRow, password: string): Promise<boolean> {
    const release = await signin.bookProof(account.account_id)
    const given = { userName: account.user_name, password, isDecoy: false }
    const { person } = await directory
      .signIn(given, async () => {})
      .catch(async (error: unknown) => {
        // The directory did not check the password, so the attempt does not count.
        await release()
        throw error
      })
    const isSame =
      person !== null &&
      nameKey(person.userName) === account.name_key &&
      (account.external_id === null || person.id === account.external_id)
    if (isSame) await release()
    return isSame
  }

  /** Verifies a proof. Counts wrong answers; too many lead to 429. */
  async function isProven(account: AccountRow, sessionId: string, given: GivenProof): Promise<boolean> {
    if (account.auth_source === 'OIDC')
      throw new AppError('unprocessable', {
        detail: 'This account has no password on this server. Confirm your identity at your identity provider.',
      })
    if (account.auth_source === 'LDAP') {
      if (given.password == null)
        throw new AppError('unprocessable', { detail: 'Confirm your identity with your directory password.' })
      return isProvenByDirectory(account, given.password)
    }
    return given.password == null
      ? mfa.proveFactor(account, sessionId, given)
      : signin.prove(account, given.password as string)
  }

  const recordRefusal = (actor: Actor, proof: string): Promise<void> =>
    db.transaction((tx) =>
      audit.write(tx, actor, {
        action: 'session.reauthenticationRefused',
        entity: actor.userName,
        details: `with a ${proof}`,
        severity: 4,
        outcome: 'failure',
      }),
    )

  /**
   * Makes one session fresh from `at` on, inside `tx`. Returns false if the session ended, or if the account's
   * credentials changed after `account` was read. The proof then belongs to the earlier credentials.
   */
  async function markFresh(tx: Tx, actor: Actor, account: AccountRow, at: number, proof: string): Promise<boolean> {
    if ((await createSigninStore(tx).lockUnchanged(account.account_id, account.token_version)) === undefined)
      return false
    const marked = await createSessionsStore(tx).authenticated(
      account.account_id,
      actor.credentialId as string,
      new Date(at),
    )
    if (marked === 0) return false
    await credentials.announce(tx, [account.account_id])
    await audit.write(tx, actor, {
      action: 'session.reauthenticated',
      entity: actor.userName,
      details: `with a ${proof}`,
      severity: 6,
    })
    return true
  }

  return {
    /** Verifies the identity of the caller again. Returns the time until which the session is fresh. */
    reauthenticate: async (actor: Actor, given: GivenProof): Promise<{ freshUntil: string }> => {
      const account = await accountOf(actor)
      const name = (Object.keys(proofNames) as (keyof GivenProof)[]).find((key) => given[key] != null) ?? 'password'
      const proof = proofNames[name]
      if (!(await isProven(account, actor.credentialId as string, given))) {
        await recordRefusal(actor, proof)
        throw new AppError('reauthentication_failed')
      }
      const at = clock.now()
      if (!(await db.transaction((tx) => markFresh(tx, actor, account, at, proof)))) throw new AppError('session_ended')
      return { freshUntil: new Date(at + freshSeconds * 1000).toISOString() }
    },

    /** Returns the session of a caller whose identity a provider can confirm. */
    confirmable: async (actor: Actor): Promise<{ accountId: string; sessionId: string }> => {
      const account = await accountOf(actor)
      if (account.auth_source !== 'OIDC')
        throw new AppError('unprocessable', { detail: 'This account does not belong to an identity provider.' })
      return { accountId: account.account_id, sessionId: actor.credentialId as string }
    },

    /**
     * Makes a session fresh after a provider confirmed the person. The provider must report the same subject and the
     * time of the sign-in. The session is fresh from that time on.
     */
    confirmIdentity: async (
      { accountId, sessionId }: { accountId: string; sessionId: string },
      ip: string,
      identify: () => Promise<{ issuer: string; subject: string; authenticatedAt: number | null }>,
    ): Promise<void> => {
      const account = await createAccountsStore(db).byId(accountId)
      if (account === undefined) throw new AppError('session_ended')
      const release = await signin.bookProof(accountId)
      const { issuer, subject, authenticatedAt } = await identify()
      const actor: Actor = {
        ...systemActor(account.user_name),
        kind: 'session',
        accountId,
        profile: account.user_profile,
        credentialId: sessionId,
        authenticatedAt,
        ip,
      }
      const isSame = issuer === account.external_issuer && subject === account.external_id
      if (!isSame || authenticatedAt === null || !isFresh(actor, clock.now())) {
        await recordRefusal(
          actor,
          isSame ? 'the sign-in at the provider is too old' : 'another person signed in at the provider',
        )
        throw new AppError(isSame ? 'oidc_not_fresh' : 'oidc_other_person')
      }
      const at = Math.min(authenticatedAt, clock.now())
      const isMarked = await db.transaction((tx) => markFresh(tx, actor, account, at, 'sign-in at the provider'))
      if (!isMarked) throw new AppError('session_ended')
      await release()
    },

    /** Starts a passkey proof bound to the caller's session. */
    startPasskey: async (actor: Actor): Promise<{ options: Record<string, unknown> }> =>
      mfa.startReauthentication(await accountOf(actor), actor.credentialId as string),
  }
}
