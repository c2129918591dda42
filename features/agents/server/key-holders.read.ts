import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

export interface KeyHolders {
  /** Number of a command key; -1: this server does not have the key. */
  command_key: number
  hosts: number
  /** Number of these hosts whose agent never reported support for rotations. */
  cannot_follow: number
}

/** Counts the hosts that hold each command key. */
export const readKeyHolders = (db: Queryable): Promise<KeyHolders[]> =>
  db.query<KeyHolders>(sql`
    select h.command_key, count(*)::int as hosts, (count(*) filter (where not h.follows_keys))::int as cannot_follow
    from agent_heartbeats h where not h.agentless group by h.command_key order by h.command_key`)
