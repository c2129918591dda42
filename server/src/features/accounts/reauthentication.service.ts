import { freshSeconds } from '@portcullis/contract'
import { AppError } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import type { Db, Queryable, Tx } from '#platform/db/db.ts'
import type { Actor } from '#platform/http/actor.ts'
import { assertSession } from '#platform/http/fresh.ts'
import type { AccountRow, AccountsStore } from './accounts.store.ts'
import type { Audit } from './audit-port.ts'
import type { CredentialsService } from './credentials.service.ts'
import type { GivenFactor, Mfa } from './mfa.service.ts'
import type { SessionsStore } from './sessions.store.ts'
import type { SigninService } from './signin.service.ts'
import type { SigninStore } from './signin.store.ts'

/** What a person gave to prove their identity again: exactly one of these. */
export interface GivenProof extends GivenFactor {
  password?: string | null
}

export interface ReauthenticationDeps {
  db: Db
  clock: Clock
  audit: Audit
  signin: Pick<SigninService, 'prove'>
  mfa: Pick<Mfa, 'proveFactor' | 'startReauthentication'>
  store: (db: Queryable) => Pick<AccountsStore, 'byId'>
  signinStore: (db: Queryable) => Pick<SigninStore, 'lockUnchanged'>
  sessionsStore: (db: Queryable) => Pick<SessionsStore, 'authenticated'>
  credentials: CredentialsService
}

export type ReauthenticationService = ReturnType<typeof createReauthenticationService>

const proofNames: Readonly<Record<keyof GivenProof, string>> = {
  password: 'password',
  code: 'code of the authenticator app',
  recoveryCode: 'recovery code',
  response: 'passkey',
}

/** Fresh authentication (RFC 9470): proves again who sits behind a session that is open already. */
export const createReauthenticationService = (deps: ReauthenticationDeps) => {
  const { db, clock, audit, signin, mfa, store, signinStore, sessionsStore, credentials } = deps

  /** The account of the caller's session; refuses API tokens. */
  const accountOf = async (actor: Actor): Promise<AccountRow> => {
    assertSession(actor)
    const account = actor.accountId === null ? undefined : await store(db).byId(actor.accountId)
    if (account === undefined) throw new AppError('session_ended')
    return account
  }

  /** Judges what was given; wrong answers are counted, and 429 follows too many of them. */
  const isProven = (account: AccountRow, sessionId: string, given: GivenProof): Promise<boolean> => {
    if (account.auth_source !== 'Local')
      throw new AppError('unprocessable', { detail: 'This account has no password here: confirm at its provider.' })
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
   * Makes one session fresh from `at` on, inside `tx`. False when the session ended, or the account's credentials changed
   * after `account` was read: then nothing was proven about the account as it is now.
   */
  const markFresh = async (tx: Tx, actor: Actor, account: AccountRow, at: number, proof: string): Promise<boolean> => {
    if ((await signinStore(tx).lockUnchanged(account.account_id, account.token_version)) === undefined) return false
    const marked = await sessionsStore(tx).authenticated(account.account_id, actor.credentialId as string, new Date(at))
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
    /** Proves the person behind the caller's session again; tells until when the session is fresh. */
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
      credentials.forget([account.account_id])
      return { freshUntil: new Date(at + freshSeconds * 1000).toISOString() }
    },

    /** Begins a proof by passkey, bound to the caller's session. */
    startPasskey: async (actor: Actor): Promise<{ options: Record<string, unknown> }> =>
      mfa.startReauthentication(await accountOf(actor), actor.credentialId as string),
  }
}
