import type { Vulnerability } from '@portcullis/domain'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import {
  type FindingVerdict,
  type getModelPassport,
  type ModelFingerprint,
  modelPassportLimits,
  type ResponseOf,
} from '#features/contract.ts'
import { placeholderSerialSql } from './peripherals.read.ts'

interface DeviceCounts {
  days: { day: string; hosts: number }[]
  earlier_hosts: number
  decisions: { source: number; rule_id: string | null; reason: string | null; hosts: number; devices: number }[]
  serials: ResponseOf<typeof getModelPassport>['serials']
  devices: number
}

const serialKinds = ['none', 'placeholder', 'unique', 'shared'] as const

/** Selects the row of a model in the list of models. */
export const modelWithId = (id: number): SqlFragment => sql`m.model_id = ${id}::int`

export const createModelPassportRead = (db: Queryable) => ({
  /** Counts the devices of a model in one pass over its rows. */
  counts: async (modelId: number, from: Date, limit: number): Promise<DeviceCounts> =>
    (
      await db.prepared<DeviceCounts>(sql`
        with chosen as materialized (
          select p.agent_id, p.serial_folded, p.present, p.source, p.rule_id, p.first_seen
          from peripherals p where p.design_id in (select d.design_id from designs d where d.model_id = ${modelId}::int)
          limit ${limit}::int),
        firsts as (select s.agent_id, min(s.first_seen) as first_seen from chosen s group by s.agent_id),
        days as (
          select (f.first_seen at time zone 'UTC')::date as day, count(*) as hosts from firsts f
          where f.first_seen >= ${from}::timestamptz group by 1),
        decisions as (
          select s.source, s.rule_id, count(distinct s.agent_id) as hosts, count(*) as devices from chosen s
          where s.present group by s.source, s.rule_id order by 4 desc limit ${modelPassportLimits.decisions + 1}::int),
        numbers as (
          select case when p.serial_folded = '' then 'none' when ${raw(placeholderSerialSql)} then 'placeholder' when p.devices = 1 then 'unique'
            else 'shared' end as kind, p.devices
          from (select s.serial_folded, count(*) as devices from chosen s group by 1) p)
        select (select coalesce(json_agg(json_build_object('day', d.day, 'hosts', d.hosts) order by d.day), '[]') from days d) as days,
          (select count(*) from firsts f where f.first_seen < ${from}::timestamptz)::int as earlier_hosts,
          (select coalesce(json_agg(json_build_object('source', d.source, 'rule_id', d.rule_id, 'reason', r.reason, 'hosts', d.hosts,
            'devices', d.devices) order by d.devices desc, d.source, d.rule_id), '[]')
            from decisions d left join policy_rules r on r.rule_id = d.rule_id) as decisions,
          (select json_build_object(${raw(serialKinds.map((kind) => `'${kind}', coalesce(sum(n.devices) filter (where n.kind = '${kind}'), 0)`).join(', '))})
            from numbers n) as serials,
          (select count(*) from chosen)::int as devices`)
    )[0]!,

  fingerprints: (modelId: number, limit: number) =>
    db.prepared<ModelFingerprint & { vulnerabilities: Vulnerability[] }>(sql`
      select coalesce(nullif(d.policy_without_revision, ''), d.without_revision) as fingerprint, d.bcd_device as revision, d.product, d.interfaces,
        d.severity, coalesce(c.hosts, 0) as hosts, coalesce(c.devices, 0) as devices, ${raw(utcSql('d.first_seen'))} as "firstSeen",
        d.vulnerabilities
      from designs d left join design_counts c on c.design_id = d.design_id where d.model_id = ${modelId}::int
      order by coalesce(c.devices, 0) desc, d.first_seen desc, d.design_id limit ${limit}::int`),

  findings: (modelId: number) =>
    db.prepared<{ verdict: FindingVerdict | null; count: number }>(sql`
      select f.verdict, count(*)::int as count from host_findings f
      where f.fingerprint_id in (select d.design_id from designs d where d.model_id = ${modelId}::int)
      group by f.verdict order by f.verdict nulls first`),

  idOf: async (vid: string, pid: string): Promise<number | undefined> =>
    (
      await db.prepared<{ model_id: number }>(
        sql`select m.model_id from models m where m.vid = ${vid}::text and m.pid = ${pid}::text`,
      )
    )[0]?.model_id,
})
