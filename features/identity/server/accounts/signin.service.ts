import { createHash } from 'node:crypto'
import { cleanText, isOddText } from '@portcullis/domain'
import { addressBucket } from '@portcullis/platform/server/address.ts'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import { isPgError, type Tx } from '@portcullis/platform/server/db/db.ts'
import { type Actor, systemActor } from '@portcullis/platform/server/http/actor.ts'
import { signedInSource } from '@portcullis/platform/server/limiters/fair-queue.ts'
import { createPacer } from '@portcullis/platform/server/limiters/pacer.ts'
import type { PasswordWork } from '@portcullis/platform/server/passwords.ts'
import { nameKey } from './accounts.rules.ts'
import type { AccountRow } from './accounts.store.ts'
import type { AccountsContext } from './context.ts'
import type { ExternalService, NotAdmitted } from './external.service.ts'
import type { ExternalPerson, ExternalVerdict } from './external.ts'
import type { Opened, SessionsService } from './sessions.service.ts'
import { createSigninLimits, sourcesKept } from './signin.limits.ts'
import { createSigninStore } from './signin.store.ts'
import { assertNotSuspended } from './suspension.rules.ts'

const windowMs = 15 * 60_000
/** Checked guesses per window: per account from unknown addresses, per address, and per account and known address. */
const limits = { account: 10, ip: 100, known: 10 } as const
/** Pace of answers to sign-ins that are refused without a password check. */
const refusalPace = { perSecond: 100, mostMs: 5_000 } as const
/** Names that stay exempt from the limit of an address they signed in from. */
const exemptNames = 10_000
/** Subject of failures for unknown names. The typed name may be a password, so it is not recorded. */
const unknownSubject = ''

export interface SigninFrom {
  ip: string
  userAgent: string
  wantsRefresh: boolean
}

export type SigninService = ReturnType<typeof createSigninService>

const notAdmittedReasons: Readonly<Record<NotAdmitted, string>> = {
  nameTaken: 'An account of another source has this name. It was not taken over.',
  disabled: 'The account was disabled by an Administrator.',
  unusableName: 'An account cannot have this name.',
}

/** Returns whether a name is free of surrounding spaces and invisible characters, which a directory may ignore. */
const isPlainName = (name: string): boolean => name.trim() === name && !isOddText(name)

export const createSigninService = (context: AccountsContext, sessions: SessionsService, external: ExternalService) => {
  const { db, clock, audit, passwords, directory } = context
  const cutoff = (): number => (clock.now() - windowMs) * 1000
  const memory = createSigninLimits(clock)
  const refusals = createPacer(refusalPace)
  const tooMany = (seconds: number): AppError =>
    new AppError('too_many_requests', { seconds }, { headers: { 'retry-after': String(seconds) } })

  /** Keeps a full bucket in memory if memory alone can refuse. The bucket of an account also depends on the address. */
  async function remember(bucket: string, until: number): Promise<void> {
    if (bucket.startsWith('known:')) memory.add(bucket, until)
    else if (bucket.startsWith('ip:'))
      memory.add(bucket, until, new Set(await createSigninStore(db).namesFrom(bucket.slice('ip:'.length), exemptNames)))
  }

  /** Refuses attempts over a known limit without the database. Does not depend on whether the name exists. */
  function assertNotLimited(key: string, address: string, ip: string): void {
    const seconds =
      memory.secondsOf(ipBucket(address)[0], key) ?? memory.secondsOf(accountBucket(key, address, true)[0], '')
    if (seconds === null) return
    memory.refused(address, ip)
    throw tooMany(seconds)
  }

  /** Counts an attempt in every bucket or in none. Returns the function that releases it. */
  async function book(buckets: readonly (readonly [string, number])[]): Promise<() => Promise<void>> {
    const stamp = clock.now() * 1000
    const booked: string[] = []
    async function release(): Promise<void> {
      for (const bucket of booked) await createSigninStore(db).release(bucket, stamp)
    }
    for (const [bucket, limit] of buckets) {
      if (await createSigninStore(db).reserve(bucket, stamp, cutoff(), limit)) booked.push(bucket)
      else {
        await release()
        const oldest = (await createSigninStore(db).oldest(bucket, cutoff())) ?? stamp
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
    action: 'session.refused' as const,
    entity: subject === unknownSubject ? 'an unknown account' : subject,
    ...(subject === unknownSubject ? { objects: [] } : {}),
    count: failures,
    details: again
      ? `${failures} failed sign-ins within 15 minutes.`
      : 'Failed sign-in. Further failures within 15 minutes are counted.',
    severity: 4,
    outcome: 'failure' as const,
  })

  /**
   * Writes one audit record at the first failure of an account and address, and one with the count after 15 minutes.
   */
  const recordFailure = (account: AccountRow | undefined, ip: string, count = 1): Promise<void> =>
    db.transaction(async (tx) => {
      const subject = account?.user_name ?? unknownSubject
      const now = new Date(clock.now())
      const since = new Date(clock.now() - windowMs)
      let failures = await createSigninStore(tx).addFailures(subject, ip, now, since, count)
      if (failures === null) {
        const before = await createSigninStore(tx).closeRecord(subject, ip)
        failures = await createSigninStore(tx).addFailures(subject, ip, now, since, count)
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
    // The row is locked: a suspension that commits first is seen here, and a later one ends this session.
    assertNotSuspended(account, clock.now())
    const session = await sessions.open(tx, account, from, authenticatedAt)
    await createSigninStore(tx).signedIn(account.account_id, addressBucket(from.ip), new Date(clock.now()))
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
        const current = await createSigninStore(tx).lockUnchanged(account.account_id, account.token_version)
        return current === undefined ? null : open(tx, current, from, clock.now())
      })
      .catch((error: unknown) => recordSuspended(error, account.user_name, from.ip))

  /** Returns when the person authenticated at the directory or provider. A time in the future counts as now. */
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
    // If two first sign-ins happen at the same time, the second finds the account that the first created.
    return run().catch((error: unknown) => {
      if (isPgError(error, '23505')) return run()
      return recordSuspended(error, person.userName, from.ip)
    })
  }

  /** Records a refused person whose identity was proven. Strangers cannot cause such records, so each is written. */
  const recordNotAdmitted = (userName: string, why: NotAdmitted | string, ip: string): Promise<void> =>
    db.transaction((tx) =>
      audit.write(tx, anonymous(ip), {
        action: 'session.refused',
        entity: cleanText(userName, 254),
        details: notAdmittedReasons[why as NotAdmitted] ?? why,
        severity: 4,
        outcome: 'failure',
      }),
    )

  /**
   * Checks a name and password at the directory. For a local account it does the same work on a decoy. Otherwise the
   * time of a refusal would show which names are local.
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
    // A directory accepts many spellings of a name. Guesses count for the entry's own name.
    async function beforeBind(userName: string): Promise<void> {
      const entryName = nameKey(userName)
      if (entryName === key) return
      const known = await createSigninStore(db).find(entryName, address)
      releases.push(await book([accountBucket(entryName, address, known?.is_known_source === true)]))
    }
    const verdict = await directory
      .signIn(
        { userName: given.username, password: given.password, isDecoy: isOurs || !isPlainName(given.username) },
        beforeBind,
      )
      .catch(async (error: unknown) => {
        // The directory did not check the password, so the attempt does not count. A local password was checked.
        if (isOurs || !(error instanceof AppError) || error.code !== 'directory_unavailable')
          await recordFailure(account, from.ip)
        else for (const release of releases) await release()
        throw error
      })
    if (verdict.person === null) {
      const { lost } = verdict
      // Requires the account's own spelling: anybody can type another one that the directory does not find.
      const isExactName = account !== undefined && given.username === account.user_name
      if (
        lost !== null &&
        account?.is_enabled === true &&
        (lost.isProven || isExactName) &&
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
     * Signs in by name and password. All refusals have the same response and duration, and only failures count. A known
     * address of the account has its own limit, so that nobody can lock the owner out from elsewhere. With
     * `asksDirectory`, names that are not local are checked at the directory.
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
        // Check again: the address may have reached its limit while this attempt waited.
        assertNotLimited(key, address, from.ip)
        const account = await createSigninStore(db).find(key, address)
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
        // Delays callers that retry at once on hundreds of connections, without using the queue.
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
     * Opens a session for a person confirmed by a provider; `identify` asks it. Failures count only for the address,
     * because no name was typed.
     */
    signInAs: async (
      identify: () => Promise<ExternalVerdict>,
      from: SigninFrom,
    ): Promise<{ opened: Opened } | { refused: NotAdmitted | 'lost' }> => {
      // A request without this browser's state fails here, uncounted. Otherwise any page could use up an address's
      // limit.
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

    /** Opens a session for an account after its password and second factor. */
    open: async (account: AccountRow, from: SigninFrom): Promise<Opened> => {
      const opened = await openLocal(account, from)
      if (opened === null) throw new AppError('session_ended')
      return opened
    },

    /** Counts an attempt at the second factor of an account. Returns the function that releases it. */
    bookFactor: (accountId: string): Promise<() => Promise<void>> => book([[`factor:${accountId}`, limits.account]]),

    /**
     * Counts an attempt to confirm an identity within an open session. Returns the function that releases it. Sign-ins
     * have separate limits: a stolen session cannot keep its owner from signing in.
     */
    bookProof,

    /** Returns whether the password is correct. Wrong ones count towards the limit of the open session. */
    prove: async (account: AccountRow, password: string): Promise<boolean> => {
      const release = await bookProof(account.account_id)
      const right = await passwords.turn(signedInSource(account.account_id), ({ verify }) =>
        verify(password, account.password_hash),
      )
      if (right) await release()
      return right
    },

    /** Loads the addresses from which accounts signed in. `maintain` loads them again. */
    warm: async (): Promise<void> => memory.setSources(await createSigninStore(db).sources(sourcesKept)),

    /** Closes buckets and failure records older than the window. */
    maintain: async (): Promise<void> => {
      for (const { ip, count } of memory.takeRefused()) await recordFailure(undefined, ip, count)
      memory.setSources(await createSigninStore(db).sources(sourcesKept))
      await createSigninStore(db).deleteEndedBuckets(cutoff())
      for (let closed = 100; closed === 100; )
        closed = await db.transaction(async (tx) => {
          const records = await createSigninStore(tx).closeRecords(new Date(clock.now() - windowMs))
          for (const record of records)
            if (record.failures > 1)
              await audit.write(tx, anonymous(record.ip), recordOf(record.subject, record.failures, true))
          return records.length
        })
    },
  }
}
