import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import type { AlertVerdict } from '#features/contract.ts'
import { type DeviceFinding, halvesAt } from './findings.ts'

/** The finding about a device after an assessment of its host. */
export interface FindingWrite {
  agentId: string
  deviceId: string
  finding: DeviceFinding
}

export interface FindingRow {
  finding_id: number
  agent_id: string
  host: string
  address: string
  hashtags: string
  device_id: string
  device: string
  vid: string
  pid: string
  vendor: string
  product: string
  serial: string
  icon: number
  severity: number
  verdict: string | null
  detached_at: Date | null
  /** There is a later finding about the device. */
  is_old: boolean
}

export const createFindingsStore = () => ({
  /** Writes the findings that an assessment opened or changed, in one statement. The hosts are locked. */
  write: async (tx: Tx, now: Date, rows: readonly FindingWrite[]): Promise<void> => {
    if (rows.length === 0) return
    const all = rows.map(({ finding }) => finding)
    await tx.prepared(sql`
      with u as materialized (select * from ${unnestOf([
        [all.map((f) => f.id), 'bigint[]'],
        [rows.map((r) => r.agentId), 'uuid[]'],
        [rows.map((r) => r.deviceId), 'text[]'],
        [all.map((f) => f.fingerprint.id), 'int[]'],
        [all.map((f) => f.severity), 'smallint[]'],
        [all.map((f) => f.lastAttached), 'timestamptz[]'],
        [all.map((f) => f.detachedAt), 'timestamptz[]'],
        [all.map((f) => halvesAt(f.detachedAt, now.getTime())), 'timestamptz[]'],
        [all.map((f) => f.attachments), 'int[]'],
        [all.map((f) => f.verdict), 'text[]'],
        [all.map((f) => (f.verdict === 'accepted' ? (f.fingerprint.evidence[0] ?? '') : '')), 'text[]'],
      ])} u(finding_id, agent_id, device_id, fingerprint_id, severity, last_attached, detached_at, halves_at, attachments, verdict, comment)),
      changed as (
        update host_findings f set fingerprint_id = u.fingerprint_id, severity = u.severity, last_attached = u.last_attached,
          detached_at = u.detached_at, halves_at = u.halves_at, attachments = u.attachments, verdict = u.verdict,
          comment = case when f.verdict = u.verdict then f.comment else u.comment end,
          closed_at = case when f.verdict = u.verdict then f.closed_at when u.verdict is not null then ${now}::timestamptz end,
          closed_by = case when f.verdict = u.verdict then f.closed_by else '' end
        from u where f.finding_id = u.finding_id)
      insert into host_findings (agent_id, device_id, fingerprint_id, severity, opened_at, last_attached, detached_at, halves_at, attachments)
      select u.agent_id, u.device_id, u.fingerprint_id, u.severity, ${now}::timestamptz, u.last_attached, u.detached_at, u.halves_at, u.attachments
      from u where u.finding_id is null`)
  },

  countOpen: async (q: Queryable): Promise<number> =>
    (await q.query<{ n: number }>(sql`select count(*) as n from host_findings f where f.verdict is null`))[0]?.n ?? 0,

  /** Returns the hosts of findings, in id order. */
  hostsOf: async (q: Queryable, ids: readonly number[]): Promise<string[]> =>
    (
      await q.query<{ agent_id: string }>(sql`
        select distinct f.agent_id from host_findings f where f.finding_id = any(${ids}::bigint[]) order by f.agent_id`)
    ).map((row) => row.agent_id),

  /** Locks and returns findings, with their hosts and devices for display. */
  take: (tx: Tx, ids: readonly number[]): Promise<FindingRow[]> =>
    tx.query<FindingRow>(sql`
      select f.finding_id, f.agent_id, r.host, a.address, r.tags as hashtags, m.vid, m.pid, d.icon,
        coalesce(nullif(d.manufacturer, ''), m.vendor) as vendor, coalesce(nullif(d.product, ''), m.product) as product,
        coalesce((select p.serial from peripherals p where p.agent_id = f.agent_id and p.device_id = f.device_id), '') as serial,
        f.device_id, f.severity, f.verdict, f.detached_at,
        btrim(m.vid || ':' || m.pid || ' ' || coalesce(nullif(m.product, ''), nullif(d.product, ''), m.vendor)) as device,
        exists (select 1 from host_findings o
          where o.agent_id = f.agent_id and o.device_id = f.device_id and o.finding_id > f.finding_id) as is_old
      from host_findings f join agent_rows r on r.agent_id = f.agent_id join agents a on a.agent_id = f.agent_id
        join designs d on d.design_id = f.fingerprint_id join models m on m.model_id = d.model_id
      where f.finding_id = any(${ids}::bigint[]) order by f.finding_id for update of f`),

  close: (
    tx: Tx,
    ids: readonly number[],
    given: { verdict: AlertVerdict; comment: string; at: Date; by: string },
  ): Promise<number> =>
    tx.execute(sql`
      update host_findings f set verdict = ${given.verdict}, comment = ${given.comment}, closed_at = ${given.at}, closed_by = ${given.by}
      where f.finding_id = any(${ids}::bigint[])`),

  reopen: (tx: Tx, ids: readonly number[]): Promise<number> =>
    tx.execute(sql`
      update host_findings f set verdict = null, comment = '', closed_at = null, closed_by = ''
      where f.finding_id = any(${ids}::bigint[])`),

  /** Returns hosts with removed devices whose points halve by now, in id order. */
  halvingHosts: async (q: Queryable, now: Date, limit: number): Promise<string[]> =>
    (
      await q.query<{ agent_id: string }>(sql`
        select distinct u.agent_id from (
          select f.agent_id from host_findings f where f.halves_at <= ${now} and f.verdict is null
          order by f.halves_at limit ${limit}::int) u order by u.agent_id`)
    ).map((row) => row.agent_id),

  /** Returns findings of locked hosts whose points halved. */
  halving: (tx: Tx, agentIds: readonly string[], now: Date): Promise<{ finding_id: number; detached_at: Date }[]> =>
    tx.query(sql`
      select f.finding_id, f.detached_at from host_findings f
      where f.agent_id = any(${agentIds}::uuid[]) and f.halves_at <= ${now} and f.verdict is null order by f.finding_id`),

  /** Stores when their points halve next. */
  halved: async (tx: Tx, rows: readonly { finding_id: number; detached_at: Date }[], now: Date): Promise<void> => {
    await tx.execute(sql`
      update host_findings f set halves_at = u.halves_at from ${unnestOf([
        [rows.map((r) => r.finding_id), 'bigint[]'],
        [rows.map((r) => halvesAt(r.detached_at, now.getTime())), 'timestamptz[]'],
      ])} u(finding_id, halves_at) where f.finding_id = u.finding_id`)
  },
})

export type FindingsStore = ReturnType<typeof createFindingsStore>
