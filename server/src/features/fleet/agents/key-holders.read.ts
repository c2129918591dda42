import type { Queryable } from '#platform/db/db.ts'
import { sql } from '#platform/db/sql.ts'

export interface KeyHolders {
  /** Number of a command key; -1: one that this server does not have. */
  command_key: number
  hosts: number
  /** Of those, the hosts whose agent never said that it follows rotations. */
  cannot_follow: number
}

/** How many hosts hold each command key. */
export const readKeyHolders = (db: Queryable): Promise<KeyHolders[]> =>
  db.query<KeyHolders>(sql`
    select h.command_key, count(*)::int as hosts, (count(*) filter (where not h.follows_keys))::int as cannot_follow
    from agent_heartbeats h where not h.agentless group by h.command_key order by h.command_key`)
