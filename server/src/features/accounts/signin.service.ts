import { createHash, randomInt } from 'node:crypto'
import { AppError } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import type { Db, Queryable } from '#platform/db/db.ts'
import { type Actor, systemActor } from '#platform/http/actor.ts'
import type { Passwords } from '#platform/passwords.ts'
import { nameKey } from './accounts.rules.ts'
import type { AccountRow } from './accounts.store.ts'
import type { Audit } from './audit-port.ts'
import type { Opened, SessionsService } from './sessions.service.ts'
import { addressBucket } from './signin.address.ts'
import type { SigninStore } from './signin.store.ts'

const windowMs = 15 * 60_000
/** Guesses checked per window: at one account from strange addresses, from one address, at one account from its own address. */
const limits = { account: 10, ip: 100, known: 10 } as const
/** Subject of folds for names that no account has: what was typed there may be a password. */
const unknownSubject = ''

export interface SigninDeps {
  db: Db
  clock: Clock
  audit: Audit
  passwords: Passwords
  store: (db: Queryable) => SigninStore
  sessions: SessionsService
}

export interface SigninFrom {
  ip: string
  userAgent: string
  wantsRefresh: boolean
}

export type SigninService = ReturnType<typeof createSigninService>

export const createSigninService = ({ db, clock, audit, passwords, store, sessions }: SigninDeps) => {
  const cutoff = (): number => (clock.now() - windowMs) * 1000

  /** Books an attempt in every bucket or in none; gives how to take it back. */
  const book = async (buckets: readonly (readonly [string, number])[]): Promise<() => Promise<void>> => {
    const stamp = clock.now() * 1000 + randomInt(1000)
    const booked: string[] = []
    const release = async (): Promise<void> => {
      for (const bucket of booked) await store(db).release(bucket, stamp)
    }
    for (const [bucket, limit] of buckets) {
      if (await store(db).reserve(bucket, stamp, cutoff(), limit)) booked.push(bucket)
      else {
        await release()
        const oldest = (await store(db).oldest(bucket, cutoff())) ?? stamp
        const seconds = Math.max(1, Math.ceil((Math.floor(oldest / 1000) + windowMs - clock.now()) / 1000))
        throw new AppError('too_many_requests', { seconds }, { headers: { 'retry-after': String(seconds) } })
      }
    }
    return release
  }

  const anonymous = (ip: string): Actor => ({ ...systemActor('anonymous'), kind: 'session', profile: 30, ip })

  const recordOf = (subject: string, failures: number, again: boolean) => ({
    action: 'session.refused',
    entity: subject === unknownSubject ? 'an unknown account' : subject,
    details: again
      ? `${failures} failed sign-ins within 15 minutes.`
      : 'Failed sign-in; more within 15 minutes are counted.',
    severity: 4,
    outcome: 'failure' as const,
  })

  /** One record when failures of an account and address begin, one with their count when 15 minutes are over. */
  const recordFailure = (account: AccountRow | undefined, ip: string): Promise<void> =>
    db.transaction(async (tx) => {
      const subject = account?.user_name ?? unknownSubject
      const now = new Date(clock.now())
      const since = new Date(clock.now() - windowMs)
      let failures = await store(tx).fold(subject, ip, now, since)
      if (failures === null) {
        const before = await store(tx).closeFold(subject, ip)
        failures = await store(tx).fold(subject, ip, now, since)
        if (before > 1) await audit.write(tx, anonymous(ip), recordOf(subject, before, true))
      }
      if (failures === 1) await audit.write(tx, anonymous(ip), recordOf(subject, 1, false))
    })

  return {
    /**
     * Signs in by name and password. All refusals look and take the same; only failed attempts are counted. A source the
     * account has signed in from before has a bucket of its own, so that nobody can lock the owner out from elsewhere.
     */
    signIn: (given: { username: string; password: string }, from: SigninFrom): Promise<Opened> =>
      passwords.turn(async () => {
        const key = nameKey(given.username)
        const address = addressBucket(from.ip)
        const account = await store(db).find(key, address)
        const name = createHash('sha256').update(key).digest('base64url').slice(0, 32)
        const release = await book(
          account?.is_known_source === true
            ? [[`known:${name}|${address}`, limits.known]]
            : [
                [`ip:${address}`, limits.ip],
                [`account:${name}`, limits.account],
              ],
        ).catch(async (error: unknown) => {
          await recordFailure(account, from.ip)
          throw error
        })
        const matches = await passwords.verify(given.password, account?.password_hash ?? null)
        const opened =
          account === undefined || !matches || !account.is_enabled || account.auth_source !== 'Local'
            ? null
            : await db.transaction(async (tx) => {
                const current = await store(tx).lockUnchanged(account.account_id, account.token_version)
                if (current === undefined) return null
                const session = await sessions.open(tx, current, from)
                await store(tx).signedIn(current.account_id, address, new Date(clock.now()))
                await audit.write(
                  tx,
                  { ...anonymous(from.ip), userName: current.user_name, accountId: current.account_id },
                  { action: 'session.opened', entity: current.user_name, severity: 6 },
                )
                return session
              })
        if (opened === null) {
          await recordFailure(account, from.ip)
          throw new AppError('credentials_wrong')
        }
        await release()
        return opened
      }),

    /** Whether a password is the account's, for changes that must prove it; wrong ones are counted like sign-ins. */
    prove: async (account: AccountRow, password: string): Promise<boolean> => {
      const release = await book([[`proof:${account.account_id}`, limits.account]])
      const right = await passwords.verify(password, account.password_hash)
      if (right) await release()
      return right
    },

    /** Closes what is older than the window: buckets, and failures that become one audit record. */
    maintain: async (): Promise<void> => {
      await store(db).deleteEndedBuckets(cutoff())
      for (let closed = 100; closed === 100; )
        closed = await db.transaction(async (tx) => {
          const folds = await store(tx).closeFolds(new Date(clock.now() - windowMs))
          for (const fold of folds)
            if (fold.failures > 1)
              await audit.write(tx, anonymous(fold.ip), recordOf(fold.subject, fold.failures, true))
          return folds.length
        })
    },
  }
}
