import { severityOf, type VerdictInputs, type Vulnerability } from '@portcullis/domain'
import type { Db, Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

/** The properties of a device that a verdict reads. */
export interface Sample {
  serial: string
  speed: number
  port_path: string
}

/** A fingerprint with its verdict and some of its devices. */
export interface EvaluatedRow {
  design_id: number
  model_id: number
  fingerprint: string
  vid: string
  pid: string
  vendor: string
  model_product: string
  manufacturer: string
  product: string
  configuration: string
  folded: string
  icon: number
  kinds: string[]
  class_code: string
  subclass_code: string
  protocol_code: string
  descriptors: Buffer
  attack_tool: number
  vulnerable: boolean
  severity: number
  evidence: string[]
  vulnerabilities: Vulnerability[]
  findings: string
  policy_rule_fingerprint: string | null
  hosts: number
  devices: number
  saw_reports: boolean
  judged_by: VerdictInputs | null
  /** Set only for a fingerprint without stored inputs. */
  samples: Sample[]
}

/** The new verdict on a fingerprint. `news` is the sum of 1 for an attack tool and 2 for vulnerable. */
export interface NewVerdict {
  fingerprintId: number
  attackTool: number
  vulnerable: boolean
  severity: number
  accepted: boolean
  evidence: readonly string[]
  missingEvidence: readonly string[]
  vulnerabilities: readonly Vulnerability[]
  findings: string
  folded: string
  icon: number
  kinds: readonly string[]
  classCode: string
  subclassCode: string
  protocolCode: string
  hasChanged: boolean
  news: number
}

/** An attached device whose fingerprint has a new finding. */
export interface NewsRow {
  agent_id: string
  device_id: string
  design_id: number
  serial: string
  news: number
}

export interface SerialRow {
  agent_id: string
  device_id: string
  design_id: number
  serial: string
  present: boolean
}

/**
 * Number of devices checked per fingerprint without stored inputs. A sample is enough to find suspicious serial numbers
 * or speeds.
 */
const samplesPerFingerprint = 20

const evaluatedColumns = sql`d.design_id, d.model_id, coalesce(nullif(d.exact_fingerprint, ''), d.fingerprint) as fingerprint, m.vid, m.pid, m.vendor, m.product as model_product, d.manufacturer, d.product,
  d.configuration, d.folded, d.icon, d.kinds, d.class_code, d.subclass_code, d.protocol_code, d.descriptors, d.attack_tool, d.vulnerable, d.severity, d.evidence, d.vulnerabilities, d.findings,
  d.saw_reports, d.judged_by, d.policy_rule_fingerprint,
  coalesce(c.hosts, 0) as hosts, coalesce(c.devices, 0) as devices,
  coalesce((select jsonb_agg(jsonb_build_object('serial', p.serial, 'speed', p.speed, 'port_path', p.port_path)) from (
    select p.serial, p.speed, p.port_path from peripherals p where p.design_id = d.design_id and d.judged_by is null limit ${samplesPerFingerprint}::int) p), '[]') as samples`

export const createReevaluationStore = (db: Db) => ({
  /**
   * Locks and returns fingerprints above an id with verdicts of other knowledge. Their devices can still attach and
   * detach.
   */
  takeOutdated: (tx: Tx, version: string, after: number, limit: number): Promise<EvaluatedRow[]> =>
    tx.query<EvaluatedRow>(sql`
      select ${evaluatedColumns} from designs d join models m on m.model_id = d.model_id left join design_counts c on c.design_id = d.design_id
      where d.design_id > ${after}::int and d.knowledge_version <> ${version}
      order by d.design_id limit ${limit}::int for no key update of d`),

  /** Locks and returns the fingerprints that share a rule fingerprint. */
  takeByPolicy: (tx: Tx, fingerprint: string): Promise<EvaluatedRow[]> =>
    tx.query<EvaluatedRow>(sql`
      select ${evaluatedColumns} from designs d join models m on m.model_id = d.model_id left join design_counts c on c.design_id = d.design_id
      where d.policy_rule_fingerprint = ${fingerprint} order by d.design_id for no key update of d`),

  /** Returns fingerprints above an id with attached devices, to test other knowledge on them. */
  present: (after: number, limit: number): Promise<EvaluatedRow[]> =>
    db.query<EvaluatedRow>(sql`
      select ${evaluatedColumns} from designs d join models m on m.model_id = d.model_id join design_counts c on c.design_id = d.design_id
      where d.design_id > ${after}::int and c.devices > 0 order by d.design_id limit ${limit}::int`),

  hostsOf: async (fingerprintIds: readonly number[]): Promise<number> =>
    (
      await db.query<{ n: number }>(sql`
        select count(distinct p.agent_id)::int as n from peripherals p where p.design_id = any(${fingerprintIds}::int[]) and p.present`)
    )[0]?.n ?? 0,

  /** Renames models, in id order. */
  renameModels: async (
    tx: Tx,
    rows: readonly { modelId: number; vendor: string; product: string; folded: string }[],
  ): Promise<void> => {
    const sorted = [...new Map(rows.map((r) => [r.modelId, r])).values()].sort((a, b) => a.modelId - b.modelId)
    if (sorted.length === 0) return
    await tx.execute(sql`
      with u as materialized (
        select l.model_id, u.vendor, u.product, u.folded from ${unnestOf([
          [sorted.map((r) => r.modelId), 'int[]'],
          [sorted.map((r) => r.vendor), 'text[]'],
          [sorted.map((r) => r.product), 'text[]'],
          [sorted.map((r) => r.folded), 'text[]'],
        ])} u(model_id, vendor, product, folded) join models l on l.model_id = u.model_id order by l.model_id for no key update of l)
      update models m set vendor = u.vendor, product = u.product, folded = u.folded from u where m.model_id = u.model_id`)
  },

  /** Stores verdicts, and queues the hosts whose verdicts changed. */
  writeVerdicts: async (tx: Tx, version: string, rows: readonly NewVerdict[]): Promise<void> => {
    if (rows.length === 0) return
    await tx.execute(sql`
      update designs d set attack_tool = u.attack_tool, vulnerable = u.vulnerable, severity = u.severity, evidence = u.evidence, accepted = u.accepted,
        vulnerabilities = u.vulnerabilities, findings = u.findings, folded = u.folded, icon = u.icon, kinds = string_to_array(u.kinds, '|'),
        class_code = u.class_code, subclass_code = u.subclass_code, protocol_code = u.protocol_code,
        missing_evidence = string_to_array(u.missing_evidence, '|'), knowledge_version = ${version}
      from ${unnestOf([
        [rows.map((r) => r.fingerprintId), 'int[]'],
        [rows.map((r) => r.attackTool), 'smallint[]'],
        [rows.map((r) => r.vulnerable), 'boolean[]'],
        [rows.map((r) => r.severity), 'smallint[]'],
        [rows.map((r) => JSON.stringify(r.evidence)), 'jsonb[]'],
        [rows.map((r) => JSON.stringify(r.vulnerabilities)), 'jsonb[]'],
        [rows.map((r) => r.findings), 'text[]'],
        [rows.map((r) => r.folded), 'text[]'],
        [rows.map((r) => r.icon), 'smallint[]'],
        [rows.map((r) => r.kinds.join('|')), 'text[]'],
        [rows.map((r) => r.classCode), 'text[]'],
        [rows.map((r) => r.subclassCode), 'text[]'],
        [rows.map((r) => r.protocolCode), 'text[]'],
        [rows.map((r) => r.missingEvidence.join('|')), 'text[]'],
        [rows.map((r) => r.accepted), 'boolean[]'],
      ])} u(design_id, attack_tool, vulnerable, severity, evidence, vulnerabilities, findings, folded, icon, kinds, class_code, subclass_code, protocol_code,
        missing_evidence, accepted)
      where d.design_id = u.design_id`)
    const changed = rows.filter((r) => r.hasChanged)
    if (changed.length === 0) return
    await tx.execute(sql`
      insert into rejudged_hosts as h (agent_id, design_id, news)
      select p.agent_id, u.design_id, u.news from ${unnestOf([
        [changed.map((r) => r.fingerprintId), 'int[]'],
        [changed.map((r) => r.news), 'smallint[]'],
      ])} u(design_id, news) join lateral (
        select distinct q.agent_id from peripherals q where q.design_id = u.design_id) p on true
      order by p.agent_id, u.design_id
      on conflict (agent_id, design_id) do update set news = h.news | excluded.news`)
  },

  /** Reads fingerprints by id, with the inputs of their verdicts. */
  byIds: (tx: Queryable, ids: readonly number[]): Promise<EvaluatedRow[]> =>
    tx.query<EvaluatedRow>(sql`
      select ${evaluatedColumns} from designs d join models m on m.model_id = d.model_id left join design_counts c on c.design_id = d.design_id
      where d.design_id = any(${ids}::int[])`),

  /** Reads the next peripherals with a serial number. Other serial numbers may share their fingerprints. */
  withSerial: (after: { agentId: string; deviceId: string }, limit: number): Promise<SerialRow[]> =>
    db.query<SerialRow>(sql`
      select p.agent_id, p.device_id, p.design_id, p.serial, p.present from peripherals p
      where (p.agent_id, p.device_id) > (${after.agentId}::uuid, ${after.deviceId}) and p.serial <> ''
      order by p.agent_id, p.device_id limit ${limit}::int`),

  /** Reads the same peripherals again after locking their hosts. */
  again: (tx: Tx, rows: readonly SerialRow[]): Promise<SerialRow[]> =>
    tx.query<SerialRow>(sql`
      select p.agent_id, p.device_id, p.design_id, p.serial, p.present from peripherals p join ${unnestOf([
        [rows.map((r) => r.agent_id), 'uuid[]'],
        [rows.map((r) => r.device_id), 'text[]'],
      ])} u(agent_id, device_id) on u.agent_id = p.agent_id and u.device_id = p.device_id
      order by p.agent_id, p.device_id`),

  /** Assigns another fingerprint to peripherals of locked hosts, and queues those hosts with the changes. */
  moveTo: async (tx: Tx, rows: readonly (SerialRow & { to: number; news: number })[]): Promise<void> => {
    const moved = unnestOf([
      [rows.map((r) => r.agent_id), 'uuid[]'],
      [rows.map((r) => r.device_id), 'text[]'],
      [rows.map((r) => r.to), 'int[]'],
      [rows.map((r) => r.news), 'smallint[]'],
    ])
    await tx.execute(sql`
      update peripherals p set design_id = u.design_id from ${moved} u(agent_id, device_id, design_id, news)
      where p.agent_id = u.agent_id and p.device_id = u.device_id`)
    await tx.execute(sql`
      insert into rejudged_hosts as h (agent_id, design_id, news)
      select u.agent_id, u.design_id, bit_or(u.news) from ${moved} u(agent_id, device_id, design_id, news)
      group by u.agent_id, u.design_id order by u.agent_id, u.design_id
      on conflict (agent_id, design_id) do update set news = h.news | excluded.news`)
  },

  /** Counts the attached devices with a fingerprint on each of these hosts. */
  presentOf: (
    tx: Tx,
    agentIds: readonly string[],
    fingerprintIds: readonly number[],
  ): Promise<{ agent_id: string; design_id: number; n: number }[]> =>
    tx.query(sql`
      select p.agent_id, p.design_id, count(*)::int as n from peripherals p
      where p.agent_id = any(${agentIds}::uuid[]) and p.design_id = any(${fingerprintIds}::int[]) and p.present
      group by p.agent_id, p.design_id`),

  /** Returns hosts above an id, in id order, that have a fingerprint without stored inputs. */
  withoutInputs: async (after: string, limit: number): Promise<string[]> => {
    const rows = await db.query<{ agent_id: string }>(sql`
        select h.agent_id from agent_heartbeats h where h.agent_id > ${after}::uuid and h.inventory_hash is not null and exists (
          select 1 from peripherals p join designs d on d.design_id = p.design_id
          where p.agent_id = h.agent_id and p.present and d.judged_by is null offset 0)
        order by h.agent_id limit ${limit}::int`)
    return rows.map((row) => row.agent_id)
  },

  /** Queues armed hosts: their policies name the knowledge for attack tools, so they need new policies. */
  queueArmed: (tx: Tx): Promise<number> =>
    tx.execute(sql`
      insert into rejudged_hosts (agent_id, design_id, news)
      select r.agent_id, 0, 0 from agent_rows r where r.armed order by r.agent_id on conflict do nothing`),

  /** Queues hosts with a recent peripheral whose severity differs from that of its fingerprint. */
  queueStale: (tx: Tx, since: Date): Promise<number> =>
    tx.execute(sql`
      insert into rejudged_hosts (agent_id, design_id, news)
      select distinct p.agent_id, p.design_id, 0 from peripherals p join designs d on d.design_id = p.design_id
      where p.last_seen >= ${since} and p.severity <> greatest(d.severity, case when p.unapproved then ${severityOf({ unapproved: true })}::smallint else ${severityOf({})}::smallint end)
      order by p.agent_id, p.design_id on conflict do nothing`),

  queuedHosts: (tx: Queryable, limit: number): Promise<{ agent_id: string }[]> =>
    tx.query(sql`select distinct h.agent_id from rejudged_hosts h order by h.agent_id limit ${limit}::int`),

  /** Takes locked hosts off the queue, and returns the new findings about their attached devices. */
  takeNews: async (tx: Tx, agentIds: readonly string[]): Promise<NewsRow[]> =>
    tx.query<NewsRow>(sql`
      with taken as (
        delete from rejudged_hosts h where h.agent_id = any(${agentIds}::uuid[]) returning h.agent_id, h.design_id, h.news)
      select p.agent_id, p.device_id, p.design_id, p.serial, t.news
      from taken t join peripherals p on p.agent_id = t.agent_id and p.design_id = t.design_id and p.present
      where t.news > 0 order by p.agent_id, p.device_id`),

  progress: async (version: string): Promise<{ designs: number; waiting: number; hosts: number }> => {
    const [row] = await db.query<{ designs: number; waiting: number; hosts: number }>(sql`
      select (select count(*) from designs)::int as designs,
        (select count(*) from designs d where d.knowledge_version <> ${version})::int as waiting,
        (select count(distinct h.agent_id) from rejudged_hosts h)::int as hosts`)
    return row ?? { designs: 0, waiting: 0, hosts: 0 }
  },
})
