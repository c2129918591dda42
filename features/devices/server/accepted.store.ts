import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import type { AcceptedFinding } from '#features/contract.ts'

export interface AcceptedRow {
  acceptance_id: string
  fingerprint: string
  finding: string
  vid: string
  pid: string
  reason: string
  accepted_at: Date
  accepted_by: string
  seal: Buffer
}

const columns = sql`a.acceptance_id, a.fingerprint, a.finding, a.vid, a.pid, a.reason, a.accepted_at, a.accepted_by, a.seal`

export const createAcceptedStore = () => ({
  all: (q: Queryable): Promise<AcceptedRow[]> => q.query<AcceptedRow>(sql`select ${columns} from accepted_findings a`),

  add: async (tx: Tx, row: AcceptedRow): Promise<void> => {
    await tx.execute(sql`
      insert into accepted_findings (acceptance_id, fingerprint, finding, vid, pid, reason, accepted_at, accepted_by, seal)
      values (${row.acceptance_id}::uuid, ${row.fingerprint}, ${row.finding}, ${row.vid}, ${row.pid}, ${row.reason}, ${row.accepted_at},
        ${row.accepted_by}, ${row.seal})
      -- The finding changed since the last acceptance.
      on conflict (fingerprint) do update set acceptance_id = excluded.acceptance_id, finding = excluded.finding, vid = excluded.vid,
        pid = excluded.pid, reason = excluded.reason, accepted_at = excluded.accepted_at, accepted_by = excluded.accepted_by,
        seal = excluded.seal`)
  },

  remove: async (tx: Tx, id: string): Promise<AcceptedRow | undefined> =>
    (
      await tx.query<AcceptedRow>(
        sql`delete from accepted_findings a where a.acceptance_id = ${id}::uuid returning ${columns}`,
      )
    )[0],

  list: (q: Queryable): Promise<AcceptedFinding[]> =>
    q.query<AcceptedFinding>(sql`
      select a.acceptance_id as id, a.reason, a.accepted_by as "acceptedBy",
        to_char(a.accepted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "acceptedAt", a.fingerprint, a.finding, a.vid, a.pid,
        (select count(distinct p.agent_id) from designs d join peripherals p on p.design_id = d.design_id
          where d.policy_rule_fingerprint = a.fingerprint)::int as hosts
      from accepted_findings a order by a.accepted_at desc, a.acceptance_id`),

  /** Returns which of these fingerprints also have a finding that nobody accepted. */
  contested: async (q: Queryable, fingerprints: readonly string[]): Promise<ReadonlySet<string>> =>
    new Set(
      (
        await q.query<{ fingerprint: string }>(sql`
          select distinct d.policy_rule_fingerprint as fingerprint from designs d
          where d.policy_rule_fingerprint = any(${fingerprints}::text[]) and d.attack_tool > 0`)
      ).map((row) => row.fingerprint),
    ),

  /** Returns the model fingerprints that share a rule fingerprint. */
  fingerprintIds: async (q: Queryable, fingerprint: string): Promise<number[]> =>
    (
      await q.query<{ design_id: number }>(
        sql`select d.design_id from designs d where d.policy_rule_fingerprint = ${fingerprint}`,
      )
    ).map((row) => row.design_id),

  /** Returns whether other devices of a model still count as attack tools. */
  isFoundElsewhere: async (q: Queryable, vid: string, pid: string): Promise<boolean> =>
    (
      await q.query(sql`
        select 1 from designs d join models m on m.model_id = d.model_id
        where m.vid = ${vid} and m.pid = ${pid} and d.attack_tool > 0 limit 1`)
    ).length > 0,
})
