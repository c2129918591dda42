import { createHash, randomBytes } from 'node:crypto'
import { cleanText } from '@portcullis/domain'
import { AppError, notFound } from '@portcullis/platform/server/app-error.ts'
import { type Queryable, type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import { type Actor, systemActor } from '@portcullis/platform/server/http/actor.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import { Secret as OtpSecret, TOTP } from 'otpauth'
import type { MfaMethod, MfaState } from '#features/contract.ts'
import { nameKey } from './accounts.rules.ts'
import { type AccountRow, createAccountsStore } from './accounts.store.ts'
import { type FactorReset, mayChangeAlone } from './approval.ts'
import type { AccountsContext } from './context.ts'
import { createPasskeys } from './mfa.passkeys.ts'
import { createMfaStore } from './mfa.store.ts'
import { createSessionsStore } from './sessions.store.ts'
import type { SigninService } from './signin.service.ts'

/** A given proof: exactly one of these members. */
export interface GivenFactor {
  code?: string | null
  recoveryCode?: string | null
  response?: Record<string, unknown> | null
}

const challengeMs = 5 * 60_000
/** Wrong second factors allowed after one correct password. */
const maxAttempts = 5
const periodSeconds = 30
const codes = 10

/** Returns the context that binds the sealed secret to its account. */
export const totpContext = (accountId: string): string => `totp ${accountId}`

const totpOf = (userName: string, secret: OtpSecret): TOTP =>
  new TOTP({ issuer: 'Portcullis', label: userName, algorithm: 'SHA1', digits: 6, period: periodSeconds, secret })

/** Returns new recovery codes. With 80 random bits each, their hashes need no salt. */
const newCodes = (): string[] =>
  Array.from({ length: codes }, () => {
    const text = new OtpSecret({ buffer: new Uint8Array(randomBytes(10)).buffer }).base32.toLowerCase()
    return `${text.slice(0, 4)}-${text.slice(4, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}`
  })
const hashOf = (accountId: string, code: string): Buffer =>
  createHash('sha256')
    .update(`${accountId} ${code.toLowerCase().replaceAll(/[\s-]/g, '')}`)
    .digest()

/** Second factors of local accounts: an authenticator app, passkeys, recovery codes. */
export const createMfa = (context: AccountsContext, { prove, bookFactor, bookProof }: SigninService) => {
  const { db, clock, audit, envelope, opaqueTokens, credentials, changeRequests } = context
  const store = createMfaStore()
  const passkeys = createPasskeys(context)
  const now = (): Date => new Date(clock.now())
  const wrong = (): AppError => new AppError('mfa_code_wrong')

  /** Refuses API tokens: only a signed-in person has factors. */
  function assertSession(actor: Actor): void {
    if (actor.kind !== 'session')
      throw new AppError('forbidden_object', { detail: 'API tokens cannot do this. Sign in with the account.' })
  }

  /** Returns the caller's account after it checked the password. */
  async function requirePassword(actor: Actor, password: string): Promise<AccountRow> {
    const account = await createAccountsStore(db).byId(actor.accountId as string)
    assertSession(actor)
    if (account === undefined) throw new AppError('unauthorized')
    if (account.auth_source !== 'Local')
      throw new AppError('unprocessable', {
        detail: 'Set up the second factor of a directory account in the directory.',
      })
    if (!(await prove(account, password))) throw new AppError('old_password_wrong')
    return account
  }

  async function state(q: Queryable, accountId: string): Promise<MfaState> {
    const totp = await store.totp(q, accountId)
    const keys = await store.passkeys(q, accountId)
    return {
      totp: totp?.confirmed_at != null,
      passkeys: keys.map((key) => ({
        id: key.credential_id,
        name: key.name,
        createdAt: key.created_at.toISOString(),
        lastUsedAt: key.last_used_at?.toISOString() ?? null,
      })),
      recoveryCodesLeft: await store.recoveryLeft(q, accountId),
      canUsePasskeys: await passkeys.canBeUsed(),
    }
  }

  async function methodsOf(q: Queryable, accountId: string): Promise<MfaMethod[]> {
    const { totp, passkeys: keys, recoveryCodesLeft } = await state(q, accountId)
    if (!totp && keys.length === 0) return []
    return [
      ...(totp ? (['totp'] as const) : []),
      ...(keys.length > 0 ? (['passkey'] as const) : []),
      ...(recoveryCodesLeft > 0 ? (['recovery'] as const) : []),
    ]
  }

  /** Uses a code of the authenticator app. Each code works once. */
  async function takeCode(tx: Tx, account: AccountRow, code: string, mayBeNew: boolean): Promise<boolean> {
    const row = await store.lockTotp(tx, account.account_id)
    if (row === undefined || (row.confirmed_at === null && !mayBeNew)) return false
    const secret = OtpSecret.fromBase32(envelope.open(row.sealed, totpContext(account.account_id)).reveal())
    const delta = totpOf(account.user_name, secret).validate({
      token: code.replaceAll(/\s/g, ''),
      timestamp: clock.now(),
      window: 1,
    })
    if (delta === null) return false
    const step = Math.floor(clock.now() / 1_000 / periodSeconds) + delta
    if (step <= Number(row.last_step)) return false
    await store.useTotp(tx, account.account_id, now(), step)
    return true
  }

  function take(tx: Tx, account: AccountRow, challenge: string | null, given: GivenFactor): Promise<boolean> {
    if (given.code != null) return takeCode(tx, account, given.code, false)
    if (given.recoveryCode != null)
      return store.useRecovery(tx, account.account_id, hashOf(account.account_id, given.recoveryCode))
    return given.response != null ? passkeys.take(tx, account, challenge, given.response) : Promise.resolve(false)
  }

  /** Creates recovery codes if the account has none. */
  async function firstCodes(tx: Tx, accountId: string): Promise<string[]> {
    if ((await store.recoveryLeft(tx, accountId)) > 0) return []
    const fresh = newCodes()
    await store.replaceRecovery(
      tx,
      accountId,
      fresh.map((code) => hashOf(accountId, code)),
    )
    return fresh
  }

  /** Records whether the account has a factor, and drops its cached credentials on every replica. */
  async function updateMark(tx: Tx, accountId: string): Promise<void> {
    await store.mark(tx, accountId)
    await credentials.announce(tx, [accountId])
  }

  type Change = 'codesRenewed' | 'passkeyAdded' | 'passkeyRemoved' | 'reset' | 'totpAdded' | 'totpRemoved'

  const note = (tx: Tx, actor: Actor, action: Change, account: Pick<AccountRow, 'user_name'>, details = '') =>
    audit.write(tx, actor, { action: `mfa.${action}`, entity: account.user_name, details, severity: 4 })

  /** Removes all factors of another account. If that needs a second approver, reports it and changes nothing. */
  async function reset(
    tx: Tx,
    actor: Actor,
    userName: string,
    approved: { accountId: string; requestedByAccount: string } | null,
  ): Promise<{ id: string; reset: boolean; waits: AccountRow | null }> {
    const rows = await createAccountsStore(tx).lockForChange([nameKey(userName)], actor.accountId)
    const account = rows.find((row) => row.name_key === nameKey(userName))
    if (account === undefined || (approved !== null && account.account_id !== approved.accountId))
      throw notFound(`The account ${userName} does not exist.`)
    const by = approved === null ? actor.accountId : approved.requestedByAccount
    const id = account.account_id
    if (id === by)
      throw new AppError('forbidden_object', {
        detail: 'You cannot reset your own second factors. Ask another Administrator.',
      })
    if (approved === null && !(await mayChangeAlone(changeRequests, tx, actor, account, ['factor'])))
      return { id, reset: false, waits: account }
    // Even without factors: someone who knows the password, and that no factor exists, could act as this account.
    if (by !== null)
      await changeRequests.noteInfluence(tx, {
        accountId: id,
        by,
        how: 'factor',
        isApproved: approved !== null,
        wasLatched: await changeRequests.isLatched(tx),
        isAdministrator: account.user_profile === 10,
      })
    const removed = await store.removeAll(tx, id)
    if (removed === 0) return { id, reset: false, waits: null }
    await store.mark(tx, id)
    await createAccountsStore(tx).update({ ...account, token_version: account.token_version + 1 })
    await createSessionsStore(tx).deleteAll(id, null)
    await credentials.announce(tx, [id])
    await note(tx, actor, 'reset', account)
    return { id, reset: true, waits: null }
  }

  changeRequests.handle<FactorReset>('factorReset', {
    action: 'account',
    title: ({ userName }) => `Reset the second factors of Administrator ${userName}`,
    details: (_tx, { userName, accountId }) => [`Account ${userName} (${accountId})`],
    carryOut: async (tx, actor, { userName, accountId }, { requestedByAccount }) => {
      await reset(tx, actor, userName, { accountId, requestedByAccount })
      return undefined
    },
  })

  return {
    state: (actor: Actor): Promise<MfaState> => state(db, actor.accountId as string),
    methodsOf,

    startTotp: async (actor: Actor, password: string) => {
      const account = await requirePassword(actor, password)
      const secret = new OtpSecret({ size: 20 })
      await db.transaction(async (tx) => {
        if ((await store.lockTotp(tx, account.account_id))?.confirmed_at != null)
          throw new AppError('unprocessable', { detail: 'An authenticator app is already set up. Remove it first.' })
        await store.writeTotp(
          tx,
          account.account_id,
          envelope.seal(new Secret(secret.base32), totpContext(account.account_id)),
        )
      })
      return { secret: secret.base32, uri: totpOf(account.user_name, secret).toString() }
    },

    confirmTotp: async (actor: Actor, code: string): Promise<{ recoveryCodes: string[] }> => {
      assertSession(actor)
      // Does not use the sign-in limit: otherwise a stolen session could keep its owner from signing in.
      const release = await bookProof(actor.accountId as string)
      const done = await db.transaction(async (tx) => {
        const account = await createAccountsStore(tx).byId(actor.accountId as string)
        if (account === undefined) throw new AppError('unauthorized')
        if ((await store.lockTotp(tx, account.account_id))?.confirmed_at != null)
          throw new AppError('unprocessable', { detail: 'The authenticator app is already set up.' })
        if (!(await takeCode(tx, account, code, true))) throw wrong()
        const recoveryCodes = await firstCodes(tx, account.account_id)
        await updateMark(tx, account.account_id)
        await note(tx, actor, 'totpAdded', account)
        return { recoveryCodes }
      })
      await release()
      return done
    },

    removeTotp: async (actor: Actor, password: string): Promise<MfaState> => {
      const account = await requirePassword(actor, password)
      await db.transaction(async (tx) => {
        if ((await store.removeTotp(tx, account.account_id)) === 0) return
        await updateMark(tx, account.account_id)
        await note(tx, actor, 'totpRemoved', account)
      })
      return state(db, account.account_id)
    },

    renewCodes: async (actor: Actor, password: string): Promise<{ recoveryCodes: string[] }> => {
      const account = await requirePassword(actor, password)
      const fresh = newCodes()
      await db.transaction(async (tx) => {
        if ((await methodsOf(tx, account.account_id)).length === 0)
          throw new AppError('unprocessable', { detail: 'Set up a second factor first. Recovery codes replace it.' })
        await store.replaceRecovery(
          tx,
          account.account_id,
          fresh.map((code) => hashOf(account.account_id, code)),
        )
        await note(tx, actor, 'codesRenewed', account)
      })
      return { recoveryCodes: fresh }
    },

    startPasskey: async (actor: Actor, password: string): Promise<{ options: Record<string, unknown> }> => {
      const account = await requirePassword(actor, password)
      const options = await passkeys.registrationOptions(account, await store.passkeys(db, account.account_id))
      await db.transaction(async (tx) => {
        await store.forgetRegistrations(tx, account.account_id)
        await store.insertChallenge(tx, {
          hash: randomBytes(32),
          accountId: account.account_id,
          version: account.token_version,
          kind: 'register',
          challenge: options.challenge,
          expiresAt: new Date(clock.now() + challengeMs),
        })
      })
      return { options: { ...options } }
    },

    finishPasskey: async (actor: Actor, name: string, response: Record<string, unknown>) => {
      assertSession(actor)
      const added = await db.transaction(async (tx) => {
        const account = await createAccountsStore(tx).byId(actor.accountId as string)
        if (account === undefined) throw new AppError('unauthorized')
        const challenge = await store.takeRegistration(tx, account.account_id, now())
        if (challenge === undefined) throw wrong()
        const credential = await passkeys.verified(challenge, response)
        if (credential === null) throw wrong()
        const inserted = await store.insertPasskey(tx, {
          credential_id: credential.id,
          account_id: account.account_id,
          public_key: Buffer.from(credential.publicKey),
          counter: credential.counter,
          transports: (credential.transports ?? []).slice(0, 8),
          name: cleanText(name, 64) || 'passkey',
          created_at: now(),
        })
        if (inserted === 0) throw new AppError('conflict', { detail: 'This passkey is already registered.' })
        const recoveryCodes = await firstCodes(tx, account.account_id)
        await updateMark(tx, account.account_id)
        await note(tx, actor, 'passkeyAdded', account, cleanText(name, 64))
        return { recoveryCodes }
      })
      return added
    },

    removePasskey: async (actor: Actor, password: string, id: string): Promise<MfaState> => {
      const account = await requirePassword(actor, password)
      await db.transaction(async (tx) => {
        if ((await store.removePasskey(tx, account.account_id, id)) === 0) throw notFound('The passkey does not exist.')
        await updateMark(tx, account.account_id)
        await note(tx, actor, 'passkeyRemoved', account)
      })
      return state(db, account.account_id)
    },

    /** Creates a token for the second step of a sign-in, after a correct password. */
    begin: async (account: AccountRow): Promise<string> => {
      const token = opaqueTokens.make('pmf')
      await store.insertChallenge(db, {
        hash: token.hash,
        accountId: account.account_id,
        version: account.token_version,
        kind: 'signin',
        challenge: null,
        expiresAt: new Date(clock.now() + challengeMs),
      })
      return token.text
    },

    startPasskeySignIn: (mfaToken: string): Promise<{ options: Record<string, unknown> }> =>
      db.transaction(async (tx) => {
        const hash = opaqueTokens.hashOf('pmf', mfaToken)
        const row = hash === null ? undefined : await store.lockSignIn(tx, hash, now())
        if (hash === null || row === undefined) throw new AppError('session_ended')
        const options = await passkeys.proofOptions(await store.passkeys(tx, row.account_id))
        await store.setChallenge(tx, hash, options.challenge)
        return { options: { ...options } }
      }),

    /** Returns the account after a correct second factor. Counts wrong ones; after too many, sign-in starts over. */
    finish: async (mfaToken: string, given: GivenFactor, ip: string): Promise<AccountRow> => {
      const hash = opaqueTokens.hashOf('pmf', mfaToken)
      if (hash === null) throw new AppError('session_ended')
      const known = await store.signInOf(db, hash, now())
      if (known === undefined) throw new AppError('session_ended')
      // Counted per account: five attempts per correct password are no limit if the password can be repeated.
      const release = await bookFactor(known)
      const outcome = await transactionAgain(db, async (tx) => {
        const row = await store.lockSignIn(tx, hash, now())
        if (row === undefined || row.attempts >= maxAttempts) return null
        const account = await createAccountsStore(tx).byId(row.account_id)
        if (account === undefined || !account.is_enabled || account.token_version !== row.token_version) return null
        await store.countAttempt(tx, hash)
        if (!(await take(tx, account, row.challenge, given))) {
          await audit.write(
            tx,
            { ...systemActor('anonymous'), kind: 'session', profile: 30, ip },
            { action: 'mfa.refused', entity: account.user_name, severity: 4, outcome: 'failure' },
          )
          return 'wrong' as const
        }
        await store.endChallenge(tx, hash)
        return account
      })
      if (outcome === null) throw new AppError('session_ended')
      if (outcome === 'wrong') throw wrong()
      await release()
      return outcome
    },

    /** Starts a passkey proof for an open session. The new challenge replaces an earlier one. */
    startReauthentication: async (
      account: AccountRow,
      sessionId: string,
    ): Promise<{ options: Record<string, unknown> }> => {
      const keys = await store.passkeys(db, account.account_id)
      const options = await passkeys.proofOptions(keys)
      if (keys.length === 0) throw new AppError('unprocessable', { detail: 'This account has no passkey.' })
      await db.transaction(async (tx) => {
        await store.takeReauthentication(tx, sessionId, now())
        await store.insertChallenge(tx, {
          hash: randomBytes(32),
          accountId: account.account_id,
          version: account.token_version,
          kind: 'reauthenticate',
          challenge: options.challenge,
          expiresAt: new Date(clock.now() + challengeMs),
          sessionId,
        })
      })
      return { options: { ...options } }
    },

    /** Returns whether a factor is correct for the account of a session. Wrong ones count like wrong passwords. */
    proveFactor: async (account: AccountRow, sessionId: string, given: GivenFactor): Promise<boolean> => {
      const release = await bookProof(account.account_id)
      const isRight = await transactionAgain(db, async (tx) => {
        const challenge = given.response == null ? undefined : await store.takeReauthentication(tx, sessionId, now())
        return take(tx, account, challenge ?? null, given)
      })
      if (isRight) await release()
      return isRight
    },

    reset: async (actor: Actor, userName: string): Promise<{ reset: boolean }> => {
      assertSession(actor)
      const done = await db.transaction((tx) => reset(tx, actor, userName, null))
      if (done.waits !== null)
        return changeRequests.require(actor, {
          kind: 'factorReset',
          change: { accountId: done.id, userName: done.waits.user_name },
        })
      return { reset: done.reset }
    },

    /** Removes all factors of an account in the caller's transaction. Returns true if there were any. */
    removeAll: async (tx: Tx, accountId: string): Promise<boolean> => {
      const removed = await store.removeAll(tx, accountId)
      await store.mark(tx, accountId)
      return removed > 0
    },

    maintain: (): Promise<number> => store.forget(db, now()),
  }
}

export type Mfa = ReturnType<typeof createMfa>
