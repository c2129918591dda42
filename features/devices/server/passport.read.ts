import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import { placeholderSerialSql } from './peripherals.read.ts'

/** A device on one host. */
export interface DevicePlace {
  agent_id: string
  host: string
  device_id: string
  port_path: string
  present: boolean
  first_seen: Date
  last_seen: Date
  fingerprint: string
  design_id: number
}

export interface DeviceEvent {
  agent_id: string
  device_id: string
  event_id: number
  code: number
  at: Date
}

export interface StoredDecision {
  agent_id: string
  host: string
  device_id: string
  decided_at: Date
  source: number
  rule_id: string | null
  rule_reason: string | null
  rule_exists: boolean
  policy_version: number
  knowledge_version: string
  fingerprint: string
}

/** Rows with one model and serial number that are compared. Vendors give some serial numbers to thousands of devices. */
const serialRows = 5_000

const fingerprintSql = raw(`coalesce(nullif(d.policy_without_revision, ''), d.without_revision)`)
const place = (from: SqlFragment): SqlFragment => sql`
  select p.agent_id, a.host, p.device_id, p.port_path, p.present, p.first_seen, p.last_seen, ${fingerprintSql} as fingerprint,
    p.design_id
  from ${from} join designs d on d.design_id = p.design_id join agents a on a.agent_id = p.agent_id`

type Device = Pick<DevicePlace, 'agent_id' | 'device_id'>
const devicesSql = (devices: readonly Device[]): SqlFragment =>
  unnestOf([
    [devices.map((one) => one.agent_id), 'uuid[]'],
    [devices.map((one) => one.device_id), 'text[]'],
  ])

export const createPassportRead = (db: Queryable) => ({
  /** Returns the identity of a device; undefined if its host does not have it. */
  identity: async (agentId: string, deviceId: string) =>
    (
      await db.prepared<{ serial: string; model_id: number; is_placeholder: boolean }>(sql`
        select p.serial, d.model_id, ${raw(placeholderSerialSql)} as is_placeholder
        from peripherals p join designs d on d.design_id = p.design_id
        where p.agent_id = ${agentId}::uuid and p.device_id = ${deviceId}::text`)
    )[0],

  /** Returns the device of one host. */
  one: (agentId: string, deviceId: string): Promise<DevicePlace[]> =>
    db.prepared<DevicePlace>(sql`
      ${place(sql`peripherals p`)} where p.agent_id = ${agentId}::uuid and p.device_id = ${deviceId}::text`),

  /** Returns the hosts with a model and serial number, the given one first and then the newest. */
  everywhere: (agentId: string, serial: string, modelId: number, limit: number): Promise<DevicePlace[]> => {
    const same = sql`select q.* from peripherals q where q.serial_folded = lower(${serial}::text) and q.serial <> ''
      and q.design_id in (select s.design_id from designs s where s.model_id = ${modelId}::int)`
    return db.prepared<DevicePlace>(sql`
      ${place(sql`((${same} and q.agent_id = ${agentId}::uuid limit ${limit}::int) union all
        (${same} and q.agent_id <> ${agentId}::uuid order by q.agent_id limit ${serialRows}::int)) p`)}
      order by p.agent_id = ${agentId}::uuid desc, p.last_seen desc limit ${limit}::int`)
  },

  /** Returns the newest events of devices, each host's in the order of its index. */
  events: (devices: readonly Device[], codes: readonly number[], each: number): Promise<DeviceEvent[]> =>
    db.prepared<DeviceEvent>(sql`
      select e.* from ${devicesSql(devices)} u(agent_id, device_id) cross join lateral (
        select x.agent_id, x.device_id, x.event_id, x.code, coalesce(x.occurred_at, x.created_at) as at
        from events x where x.agent_id = u.agent_id and x.device_id = u.device_id and x.code = any(${codes}::int[])
        order by x.event_id desc limit ${each}::int) e`),

  /** Returns the descriptors of designs. */
  descriptors: (designs: readonly number[]): Promise<{ design_id: number; bytes: Buffer }[]> =>
    db.prepared(sql`
      select d.design_id, d.descriptors as bytes from designs d
      where d.design_id = any(${designs}::int[]) and length(d.descriptors) > 0`),

  /** Returns the newest decisions about devices, newest first. */
  decisions: (devices: readonly Device[], limit: number): Promise<StoredDecision[]> =>
    db.prepared<StoredDecision>(sql`
      select c.agent_id, a.host, c.device_id, c.decided_at, c.source, c.rule_id, r.reason as rule_reason,
        r.rule_id is not null as rule_exists, c.policy_version, c.knowledge_version, ${fingerprintSql} as fingerprint
      from ${devicesSql(devices)} u(agent_id, device_id)
        join device_decisions c on c.agent_id = u.agent_id and c.device_id = u.device_id
        join agents a on a.agent_id = c.agent_id join designs d on d.design_id = c.design_id
        left join policy_rules r on r.rule_id = c.rule_id
      order by c.decided_at desc limit ${limit}::int`),
})
