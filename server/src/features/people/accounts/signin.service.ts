import { createHash } from 'node:crypto'
import { cleanText, isOddText } from '@portcullis/domain'
import type { Audit } from '#features/system/audit/index.ts'
import { addressBucket } from '#platform/address.ts'
import { AppError } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import { type Db, isPgError, type Queryable, type Tx } from '#platform/db/db.ts'
import { signedInSource } from '#platform/fair-queue.ts'
import { type Actor, systemActor } from '#platform/http/actor.ts'
import { createPacer } from '#platform/pacer.ts'
import type { Passwords, PasswordWork } from '#platform/passwords.ts'
import { nameKey } from './accounts.rules.ts'
import type { AccountRow } from './accounts.store.ts'
import type { ExternalService, NotAdmitted } from './external.service.ts'
import type { ExternalPerson, ExternalVerdict } from './external.ts'
import type { DirectoryPort } from './ports.ts'
import type { Opened, SessionsService } from './sessions.service.ts'
import { createSigninLimits, sourcesKept } from './signin.limits.ts'
import type { SigninStore } from './signin.store.ts'
import { assertNotSuspended } from './suspension.rules.ts'

const windowMs = 15 * 60_000
/** Guesses checked per window: at one account from strange addresses, from one address, at one account from its own address. */
const limits = { account: 10, ip: 100, known: 10 } as const
/** Limits of sign-ins that are refused without checking the password. */
const refusalPace = { perSecond: 100, mostMs: 5_000 } as const
/** Names that stay exempt from the limit of an address they signed in from. */
const exemptNames = 10_000
/** Subject of folds for names that no account has: what was typed there may be a password. */
const unknownSubject = ''

export interface SigninDeps {
  db: Db
  clock: Clock
  audit: Audit
  passwords: Passwords
  store: (db: Queryable) => SigninStore
  sessions: SessionsService
  external: Pick<ExternalService, 'admit' | 'settled' | 'withdraw'>
  directory: Pick<DirectoryPort, 'isOn' | 'signIn'>
}

export interface SigninFrom {
  ip: string
  userAgent: string
  wantsRefresh: boolean
}

export type SigninService = ReturnType<typeof createSigninService>

const notAdmittedWords: Readonly<Record<NotAdmitted, string>> = {
  nameTaken: 'An account of another source has the name: it is not taken over.',
  disabled: 'The account was disabled by an Administrator.',
  unusableName: 'The name cannot be that of an account.',
}

/** A name as people have it. What is invisible in it a directory may leave out. */
const isPlainName = (name: string): boolean => name.trim() === name && !isOddText(name)

export const createSigninService = (deps: SigninDeps) => {
  const { db, clock, audit, passwords, store, sessions, external, directory } = deps
  const cutoff = (): number => (clock.now() - windowMs) * 1000
  const memory = createSigninLimits(clock)
  const refusals = createPacer(refusalPace)
  const tooMany = (seconds: number): AppError =>
    new AppError('too_many_requests', { seconds }, { headers: { 'retry-after': String(seconds) } })

  /** Keeps a full bucket in memory if that suffices to refuse. The bucket of an account also depends on the address. */
  async function remember(bucket: string, until: number): Promise<void> {
    if (bucket.startsWith('known:')) memory.add(bucket, until)
    else if (bucket.startsWith('ip:'))
      memory.add(bucket, until, new Set(await store(db).namesFrom(bucket.slice('ip:'.length), exemptNames)))
  }

  /** Refuses in memory what the database would refuse. The result never depends on whether the name exists. */
  function assertNotLimited(key: string, address: string, ip: string): void {
    const seconds =
      memory.secondsOf(ipBucket(address)[0], key) ?? memory.secondsOf(accountBucket(key, address, true)[0], '')
    if (seconds === null) return
    memory.refused(address, ip)
    throw tooMany(seconds)
  }

  /** Books an attempt in every bucket or in none; gives how to take it back. */
  async function book(buckets: readonly (readonly [string, number])[]): Promise<() => Promise<void>> {
    const stamp = clock.now() * 1000
    const booked: string[] = []
    async function release(): Promise<void> {
      for (const bucket of booked) await store(db).release(bucket, stamp)
    }
    for (const [bucket, limit] of buckets) {
      if (await store(db).reserve(bucket, stamp, cutoff(), limit)) booked.push(bucket)
      else {
        await release()
        const oldest = (await store(db).oldest(bucket, cutoff())) ?? stamp
        const until = Math.floor(oldest / 1000) + windowMs
        await remember(bucket, until)
        throw tooMany(Math.max(1, Math.ceil((until - clock.now()) / 1000)))
      }
    }
    return release
  }

  const bookProof = (accountId: string): Promise<() => Promise<void>> => book([[`proof:${accountId}`, limits.account]])

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
  const recordFailure = (account: AccountRow | undefined, ip: string, count = 1): Promise<void> =>
    db.transaction(async (tx) => {
      const subject = account?.user_name ?? unknownSubject
      const now = new Date(clock.now())
      const since = new Date(clock.now() - windowMs)
      let failures = await store(tx).fold(subject, ip, now, since, count)
      if (failures === null) {
        const before = await store(tx).closeFold(subject, ip)
        failures = await store(tx).fold(subject, ip, now, since, count)
        if (before > 1) await audit.write(tx, anonymous(ip), recordOf(subject, before, true))
      }
      if (failures === count) await audit.write(tx, anonymous(ip), recordOf(subject, count, false))
    })

  const nameHash = (key: string): string => createHash('sha256').update(key).digest('base64url').slice(0, 32)
  const ipBucket = (address: string): readonly [string, number] => [`ip:${address}`, limits.ip]
  const accountBucket = (key: string, address: string, isKnown: boolean): readonly [string, number] =>
    isKnown ? [`known:${nameHash(key)}|${address}`, limits.known] : [`account:${nameHash(key)}`, limits.account]

  /** Records a correct sign-in to a suspended account, and throws the error again. */
  async function recordSuspended(error: unknown, userName: string, ip: string): Promise<never> {
    if (error instanceof AppError && error.code === 'account_suspended')
      await recordNotAdmitted(userName, 'The account is suspended.', ip)
    throw error
  }

  async function open(tx: Tx, account: AccountRow, from: SigninFrom, authenticatedAt: number | null): Promise<Opened> {
    // The row is locked: a suspension that commits first is seen here, one that follows ends this session.
    assertNotSuspended(account, clock.now())
    const session = await sessions.open(tx, account, from, authenticatedAt)
    await store(tx).signedIn(account.account_id, addressBucket(from.ip), new Date(clock.now()))
    await audit.write(
      tx,
      { ...anonymous(from.ip), userName: account.user_name, accountId: account.account_id },
      { action: 'session.opened', entity: account.user_name, severity: 6 },
    )
    const address = addressBucket(from.ip)
    memory.signedIn(ipBucket(address)[0], address, account.name_key)
    return session
  }

  const openLocal = (account: AccountRow, from: SigninFrom): Promise<Opened | null> =>
    db
      .transaction(async (tx) => {
        const current = await store(tx).lockUnchanged(account.account_id, account.token_version)
        return current === undefined ? null : open(tx, current, from, clock.now())
      })
      .catch((error: unknown) => recordSuspended(error, account.user_name, from.ip))

  /** When the person authenticated at the directory or provider. A time in the future counts as now. */
  function authenticatedBy({ source, authenticatedAt = null }: ExternalPerson): number | null {
    if (source === 'LDAP') return clock.now()
    return authenticatedAt === null ? null : Math.min(authenticatedAt, clock.now())
  }

  async function openExternal(
    person: ExternalPerson,
    from: SigninFrom,
  ): Promise<{ opened: Opened } | { refused: NotAdmitted; userName: string }> {
    const run = () =>
      db.transaction(async (tx) => {
        const account = await external.admit(tx, person)
        return typeof account === 'string'
          ? { refused: account, userName: person.userName }
          : { opened: await open(tx, account, from, authenticatedBy(person)) }
      })
    // Two first sign-ins at once: the second finds what the first has made.
    const done = await run().catch((error: unknown) => {
      if (isPgError(error, '23505')) return run()
      return recordSuspended(error, person.userName, from.ip)
    })
    // What the account had before may have ended with it: here at once, elsewhere by the message.
    if ('opened' in done) external.settled(done.opened.accountId)
    return done
  }

  /** Somebody who proved who he is and may not in: worth a record each, because strangers cannot cause it. */
  const recordNotAdmitted = (userName: string, why: NotAdmitted | string, ip: string): Promise<void> =>
    db.transaction((tx) =>
      audit.write(tx, anonymous(ip), {
        action: 'session.refused',
        entity: cleanText(userName, 254),
        details: notAdmittedWords[why as NotAdmitted] ?? why,
        severity: 4,
        outcome: 'failure',
      }),
    )

  /**
   * Proves a name and password at the directory. A local account is never looked for there, but the same work is done for
   * nobody: a refusal would tell by its time which names are local.
   */
  async function openByDirectory(
    given: { username: string; password: string },
    key: string,
    account: AccountRow | undefined,
    from: SigninFrom,
    releases: (() => Promise<void>)[],
  ): Promise<Opened | null> {
    const address = addressBucket(from.ip)
    const isOurs = account !== undefined && account.auth_source !== 'LDAP'
    // A directory takes many spellings for one name: guesses count for the name it has.
    async function beforeBind(userName: string): Promise<void> {
      const theirs = nameKey(userName)
      if (theirs === key) return
      const known = await store(db).find(theirs, address)
      releases.push(await book([accountBucket(theirs, address, known?.is_known_source === true)]))
    }
    const verdict = await directory
      .signIn(
        { userName: given.username, password: given.password, isDecoy: isOurs || !isPlainName(given.username) },
        beforeBind,
      )
      .catch(async (error: unknown) => {
        // Nothing of a directory account was tried, so nothing is counted; of a local one the password was.
        if (isOurs || !(error instanceof AppError) || error.code !== 'directory_unavailable')
          await recordFailure(account, from.ip)
        else for (const release of releases) await release()
        throw error
      })
    if (verdict.person === null) {
      const { lost } = verdict
      // By its own spelling only: what a directory does not find under another one may be there all the same, and anybody
      // can type one.
      const isItsName = account !== undefined && given.username === account.user_name
      if (
        lost !== null &&
        account?.is_enabled === true &&
        (lost.isProven || isItsName) &&
        nameKey(lost.userName) === key
      )
        await external.withdraw(account.account_id, lost.why)
      if (lost?.isProven === true) await recordNotAdmitted(lost.userName, lost.why, from.ip)
      return null
    }
    const answer = await openExternal(verdict.person, from)
    if ('opened' in answer) return answer.opened
    await recordNotAdmitted(answer.userName, answer.refused, from.ip)
    return null
  }

  return {
    /**
     * Signs in by name and password. All refusals look and take the same; only failed attempts are counted. A source the
     * account has signed in from before has a bucket of its own, so that nobody can lock the owner out from elsewhere.
     * `asksDirectory`: names that are not local, and accounts of the directory, are proven there.
     */
    signIn: async (
      given: { username: string; password: string },
      from: SigninFrom,
      asksDirectory: boolean,
    ): Promise<Opened | { secondFactorOf: AccountRow }> => {
      const key = nameKey(given.username)
      const address = addressBucket(from.ip)
      const lane = memory.isKnownSource(address) ? 'known' : 'stranger'
      async function prove({ verify }: PasswordWork) {
        // Again: the address may have reached its limit while this attempt waited.
        assertNotLimited(key, address, from.ip)
        const account = await store(db).find(key, address)
        const release = await book([
          ...(account?.is_known_source === true ? [] : [ipBucket(address)]),
          accountBucket(key, address, account?.is_known_source === true),
        ]).catch(async (error: unknown) => {
          await recordFailure(account, from.ip)
          throw error
        })
        const isRight = await verify(given.password, account?.password_hash ?? null)
        const isLocal = account?.is_enabled === true && account.auth_source === 'Local'
        return { account, release, local: isRight && isLocal ? account : undefined }
      }
      const attempt = await (async () => {
        assertNotLimited(key, address, from.ip)
        return passwords.turn({ lane, key: address }, prove)
      })().catch(async (error: unknown) => {
        // Callers that retry at once on hundreds of connections wait for the answer, without a turn in the queue.
        if (error instanceof AppError) await refusals.wait()
        throw error
      })
      const { account, local } = attempt
      const releases = [attempt.release]
      if (local?.mfa_enabled === true) {
        await attempt.release()
        return { secondFactorOf: local }
      }
      const opened =
        local !== undefined
          ? await openLocal(local, from).catch(async (error: unknown) => {
              await attempt.release()
              throw error
            })
          : asksDirectory && (await directory.isOn())
            ? await openByDirectory(given, key, account, from, releases)
            : null
      if (opened === null) {
        await recordFailure(account, from.ip)
        throw new AppError('credentials_wrong')
      }
      for (const release of releases) await release()
      return opened
    },

    /**
     * Opens a session for somebody whom a provider vouches for; `identify` asks it. Failures count against the address
     * alone: nobody has typed a name yet.
     */
    signInAs: async (
      identify: () => Promise<ExternalVerdict>,
      from: SigninFrom,
    ): Promise<{ opened: Opened } | { refused: NotAdmitted | 'lost' }> => {
      // What brings no state of this browser is refused before it counts: any page could have a whole address shut out.
      const verdict = await identify()
      const release = await book([ipBucket(addressBucket(from.ip))])
      if (verdict.person === null) {
        if (verdict.lost !== null) await recordNotAdmitted(verdict.lost.userName, verdict.lost.why, from.ip)
        return { refused: 'lost' }
      }
      const answer = await openExternal(verdict.person, from)
      if ('refused' in answer) await recordNotAdmitted(answer.userName, answer.refused, from.ip)
      else await release()
      return answer
    },

    /** Opens a session for an account that proved its password and its second factor. */
    open: async (account: AccountRow, from: SigninFrom): Promise<Opened> => {
      const opened = await openLocal(account, from)
      if (opened === null) throw new AppError('session_ended')
      return opened
    },

    /** Books an attempt at the second factor of an account; gives how to take it back when it was right. */
    bookFactor: (accountId: string): Promise<() => Promise<void>> => book([[`factor:${accountId}`, limits.account]]),

    /**
     * Books an attempt to prove oneself within a session that is open; gives how to take it back. Sign-ins have buckets of
     * their own: who stole a session cannot keep its owner from signing in.
     */
    bookProof,

    /** Whether a password is the account's, for changes that must prove it; wrong ones are counted like sign-ins. */
    prove: async (account: AccountRow, password: string): Promise<boolean> => {
      const release = await bookProof(account.account_id)
      const right = await passwords.turn(signedInSource(account.account_id), ({ verify }) =>
        verify(password, account.password_hash),
      )
      if (right) await release()
      return right
    },

    /** Loads the addresses from which accounts signed in. `maintain` loads them again. */
    warm: async (): Promise<void> => memory.setSources(await store(db).sources(sourcesKept)),

    /** Closes what is older than the window: buckets, and failures that become one audit record. */
    maintain: async (): Promise<void> => {
      for (const { ip, count } of memory.takeRefused()) await recordFailure(undefined, ip, count)
      memory.setSources(await store(db).sources(sourcesKept))
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
