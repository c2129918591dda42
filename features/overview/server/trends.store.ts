import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import type { FleetDay } from '#features/contract.ts'

export const createTrendsStore = () => ({
  /** Writes the numbers of a day in place of earlier ones. An earlier moment never replaces a later one. */
  note: async (q: Queryable, day: FleetDay): Promise<void> => {
    await q.execute(sql`
      insert into fleet_days as d (day, noted_at, hosts, connected, protected, possible, impossible, attack_tools, vulnerable, unapproved, open_findings)
      values (${day.day}::date, ${day.recordedAt}::timestamptz, ${day.hosts}, ${day.connected}, ${day.protected}, ${day.possible},
        ${day.impossible}, ${day.attackTools}, ${day.vulnerable}, ${day.unapproved}, ${day.openFindings})
      on conflict (day) do update set noted_at = excluded.noted_at, hosts = excluded.hosts, connected = excluded.connected, protected = excluded.protected,
        possible = excluded.possible, impossible = excluded.impossible, attack_tools = excluded.attack_tools,
        vulnerable = excluded.vulnerable, unapproved = excluded.unapproved, open_findings = excluded.open_findings
      where d.noted_at < excluded.noted_at`)
  },

  days: (q: Queryable, from: string): Promise<FleetDay[]> =>
    q.query<FleetDay>(sql`
      select to_char(d.day, 'YYYY-MM-DD') as day, to_char(d.noted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "recordedAt",
        d.hosts, d.connected, d.protected, d.possible, d.impossible, d.attack_tools as "attackTools", d.vulnerable, d.unapproved, d.open_findings as "openFindings"
      from fleet_days d where d.day >= ${from}::date order by d.day`),

  /** Counts the models by the day on which the fleet first saw them. */
  newModels: (q: Queryable, from: string): Promise<{ day: string; count: number }[]> =>
    q.query<{ day: string; count: number }>(sql`
      select to_char(m.first_seen at time zone 'UTC', 'YYYY-MM-DD') as day, count(*)::int as count
      from models m where m.first_seen >= (${from}::date)::timestamp at time zone 'UTC' group by 1 order by 1`),
})
