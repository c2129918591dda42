import type { Tx } from './db.ts'
import { type SqlFragment, sql } from './sql.ts'

/** Arguments of PostgreSQL's advisory lock functions: one bigint, or two integers. */
export interface AdvisoryLock {
  readonly key: SqlFragment
}

const numbered = (number: number): AdvisoryLock => ({ key: sql`${number}::bigint` })
const named = (name: string): AdvisoryLock => ({ key: sql`hashtextextended(${name}, 0)` })

/** Lock for schema changes. `migrate.ts` and `open-database.ts` use the number before a pool exists. */
export const migrationLock = 7_205_759

/** Migration 0025 uses 7_205_760 when it creates a partition of events. */
const channelNumbers = { email: 5, webhook: 7 } as const

/**
 * All advisory locks of the server. Replicas of two releases run side by side during an upgrade, so a key never
 * changes; a new lock takes the next number.
 */
export const locks = {
  /** Lets one replica watch for alerts. */
  alertWatch: numbered(7_205_761),
  /** Serialises changes of notification groups. */
  notificationGroups: numbered(7_205_762),
  /** Lets one replica notify a group by a channel. */
  notifyGroup: (groupId: number, channel: keyof typeof channelNumbers): AdvisoryLock => ({
    key: sql`7205763, ${groupId * 10 + channelNumbers[channel]}::int`,
  }),
  /** Serialises changes of the active knowledge. */
  knowledge: numbered(7_205_771),
  /** Lets one replica sign checkpoints of the audit trail. */
  signCheckpoints: numbered(7_205_774),
  /** Lets one replica write signed checkpoints to the second sink. */
  copyCheckpoints: numbered(7_205_775),
  /** Serialises counting the jobs of a person. */
  jobsOfPerson: (userName: string): AdvisoryLock => ({
    key: sql`hashtextextended('jobs ' || lower(${userName}), 0)`,
  }),
  /** Lets one job of this kind seal secrets with a new key. */
  sealing: (kind: string): AdvisoryLock => ({ key: sql`hashtext(${kind})` }),
  /** Serialises the start of asset stream replays. */
  assetReplay: named('assets.replay'),
  /** Serialises counting releases with the same effect. */
  releases: (effect: string): AdvisoryLock => named(`released_hosts ${effect}`),
  /** Serialises counting the armed Windows hosts of unverified builds. */
  windowsArming: named('windows arming'),
  /** Serialises counting pending change requests. */
  changeRequests: named('change_requests'),
  /** Serialises counting saved views. */
  savedViews: named('saved_views'),
} as const

/** Waits for the lock and holds it until the transaction ends. */
export const lock = async (tx: Tx, { key }: AdvisoryLock): Promise<void> => {
  await tx.execute(sql`select pg_advisory_xact_lock(${key})`)
}

/** Takes the lock until the transaction ends. Returns false if another transaction holds it. */
export const tryLock = async (tx: Tx, { key }: AdvisoryLock): Promise<boolean> =>
  (await tx.query<{ ok: boolean }>(sql`select pg_try_advisory_xact_lock(${key}) as ok`))[0]?.ok === true
