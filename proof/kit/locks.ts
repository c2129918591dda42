/** Measures how long tables were exclusively locked. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Connection, withClient } from './stored.ts'

/** Samples the locks on all existing tables every 10 ms until stopped. */
export const watchLocks = async (connection: Connection) => {
  let isOver = false
  let longestMs = 0
  let table = ''
  const watching = withClient(connection, async (client) => {
    const { rows: tables } = await client.query<{ oid: number; name: string }>(
      "SELECT oid::int AS oid, relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')",
    )
    const names = new Map(tables.map(({ oid, name }) => [oid, name]))
    const since = new Map<string, number>()
    while (!isOver) {
      const { rows } = await client.query<{ pid: number; relation: number }>(
        "SELECT pid, relation::int AS relation FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted AND relation IS NOT NULL AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
      )
      const now = performance.now()
      const held = new Set(rows.filter(({ relation }) => names.has(relation)).map((r) => `${r.pid} ${r.relation}`))
      for (const key of since.keys()) if (!held.has(key)) since.delete(key)
      for (const key of held) {
        const start = since.get(key) ?? now
        since.set(key, start)
        if (now - start <= longestMs) continue
        longestMs = now - start
        table = names.get(Number(key.split(' ')[1])) ?? ''
      }
      await pause(10)
    }
  })
  return {
    stop: async (): Promise<{ longestMs: number; table: string }> => {
      isOver = true
      await watching
      return { longestMs: Math.round(longestMs), table }
    },
  }
}
