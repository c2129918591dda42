import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

export interface LatestEvents {
  agentId: string
  texts: readonly string[]
}

/** Number of event texts stored per host. */
const latestEventsKept = 3

/** Adds the newest event texts of each host and keeps three; locks rows in id order. */
export const addLatestEvents = async (tx: Tx, latest: readonly LatestEvents[]): Promise<void> => {
  if (latest.length === 0) return
  const column = (i: number) => latest.map(({ texts }) => texts[i] ?? null)
  await tx.prepared(sql`
      with r as (
        select * from ${unnestOf([
          [latest.map(({ agentId }) => agentId), 'uuid[]'],
          [column(0), 'text[]'],
          [column(1), 'text[]'],
          [column(2), 'text[]'],
        ])} r(agent_id, first, second, third)),
      locked as materialized (
        select a.agent_id from agents a where a.agent_id in (select r.agent_id from r)
        order by a.agent_id for no key update)
      update agents a
      set latest_events = (array_remove(array[r.first, r.second, r.third], null) || a.latest_events)[1:${latestEventsKept}::int]
      from r join locked l on l.agent_id = r.agent_id
      where a.agent_id = r.agent_id`)
}
