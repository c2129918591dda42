import type { Tx } from './db.ts'
import { type SqlFragment, sql } from './sql.ts'

/** The arguments of PostgreSQL's advisory lock functions: one bigint, or two integers. */
export interface AdvisoryLock {
  readonly key: SqlFragment
}

const numbered = (number: number): AdvisoryLock => ({ key: sql`${number}::bigint` })
const named = (name: string): AdvisoryLock => ({ key: sql`hashtextextended(${name}, 0)` })

/** Schema changes. `migrate.ts` and `open-database.ts` take it by this number, before there is a pool. */
export const migrationLock = 7_205_759

/** Migration 0025 takes 7_205_760 when it makes a partition of events. */
const channelNumbers = { email: 5, webhook: 7 } as const

/**
 * Every advisory lock of the server. Replicas of two releases run side by side during an upgrade, so a key never changes;
 * a new lock takes the next number.
 */
export const locks = {
  /** One replica folds events into notices. */
  noticeWatch: numbered(7_205_761),
  /** Changes of notification groups come one after the other. */
  notificationGroups: numbered(7_205_762),
  /** One replica notifies a group by a channel. */
  notifyGroup: (groupId: number, channel: keyof typeof channelNumbers): AdvisoryLock => ({
    key: sql`7205763, ${groupId * 10 + channelNumbers[channel]}::int`,
  }),
  /** Changes of the knowledge in force come one after the other. */
  knowledge: numbered(7_205_771),
  /** One replica signs checkpoints of the audit trail. */
  signCheckpoints: numbered(7_205_774),
  /** One replica writes signed checkpoints to the second sink. */
  copyCheckpoints: numbered(7_205_775),
  /** Whoever counts the jobs of a person waits for others who do. */
  jobsOfPerson: (userName: string): AdvisoryLock => ({
    key: sql`hashtextextended('jobs ' || lower(${userName}), 0)`,
  }),
  /** One job of this kind seals secrets with a new key. */
  sealing: (kind: string): AdvisoryLock => ({ key: sql`hashtext(${kind})` }),
  /** Replays of the asset stream are ordered one after the other. */
  assetReplay: named('assets.replay'),
  /** Releases with the same effect are counted one after the other. */
  releases: (effect: string): AdvisoryLock => named(`released_hosts ${effect}`),
  /** Change requests that wait are counted one after the other. */
  changeRequests: named('change_requests'),
} as const

/** Waits for the lock and holds it until the transaction ends. */
export const lock = async (tx: Tx, { key }: AdvisoryLock): Promise<void> => {
  await tx.execute(sql`select pg_advisory_xact_lock(${key})`)
}

/** Takes the lock until the transaction ends; false: another transaction holds it. */
export const tryLock = async (tx: Tx, { key }: AdvisoryLock): Promise<boolean> =>
  (await tx.query<{ ok: boolean }>(sql`select pg_try_advisory_xact_lock(${key}) as ok`))[0]?.ok === true
