import { fingerprints, parseReport, policyDevice, type VerdictInputs, type Vulnerability } from '@portcullis/domain'
import type { Db, Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import type { Enforced, FindingVerdict } from '#features/contract.ts'
import type { NewFingerprint, StoredFingerprint } from './fingerprint.ts'

/** A device of a host. */
export interface DeviceKey {
  agentId: string
  deviceId: string
}

/** A serial number of more hosts than these identifies no device. */
const hostsOfSerial = 5

export type PeripheralsStore = ReturnType<typeof createPeripheralsStore>

/** A stored peripheral, as the ingest compares it with a report. */
export interface StoredPeripheral {
  agent_id: string
  device_id: string
  design_id: number
  port_path: string
  serial: string
  present: boolean
  authorized: boolean
  severity: number
  speed: number
  source: number
  rule_id: string | null
  unapproved: boolean
  enforced: Enforced | null
  case_number: string
  driver_mismatch: string
  kernel: KernelReport
  /** Location of its controller; empty: not reported. Null: an earlier release stored the row, with a cleaned serial number. */
  controller: string | null
  /** The latest finding about the device; null: it never had one. */
  finding: StoredFinding | null
}

/** A stored finding. Times are milliseconds. */
export interface StoredFinding {
  id: number
  fingerprintId: number
  severity: number
  lastAttached: number
  detachedAt: number | null
  attachments: number
  verdict: FindingVerdict | null
}

/** What the kernel of the host reports about a device. A member without a report is absent. */
export interface KernelReport {
  /** Drivers that the server does not know, with the release of the kernel. */
  unknownDriver?: string
  /** Why the device does not work although the host does not block it. */
  notWorking?: string
  /** bConfigurationValue of the active configuration. */
  configurationValue?: number
  isOverNetwork?: true
}

/** The policy decision about a peripheral; numbers are indexes into `policySources`. */
export interface DecisionWrite {
  agentId: string
  deviceId: string
  severity: number
  source: number
  ruleId: string | null
  unapproved: boolean
  caseNumber: string
}

export interface PeripheralWrite extends DecisionWrite {
  fingerprintId: number
  portPath: string
  serial: string
  speed: number
  present: boolean
  authorized: boolean
  enforced: Enforced | null
  /**
   * The kind that the device claims and the driver that the kernel bound, if they contradict each other; else empty.
   */
  driverMismatch: string
  kernel: KernelReport
  controller: string | null
}

/** Change of a counter by one batch. */
export interface CounterDelta {
  id: number
  hosts: number
  devices: number
}

/**
 * Changes of the counters by one batch; `models` names every model of the shapes and fingerprints, even if its own
 * counter stays the same.
 */
export interface CounterDeltas {
  models: readonly CounterDelta[]
  shapes: readonly CounterDelta[]
  fingerprints: readonly CounterDelta[]
}

interface FingerprintRow {
  design_id: number
  model_id: number
  shape_id: number
  fingerprint: string
  vid: string
  pid: string
  vendor: string
  model_product: string
  icon: number
  severity: number
  vulnerable: boolean
  attack_tool: number
  accepted: boolean
  evidence: string[]
  vulnerabilities: Vulnerability[]
  descriptors: Buffer
  policy_fingerprint: string
  policy_without_revision: string
  manufacturer: string
  product: string
  configuration: string
  judged_by: VerdictInputs | null
}

const columnsOf = (deltas: readonly CounterDelta[]) =>
  [
    [deltas.map((d) => d.id), 'int[]'],
    [deltas.map((d) => d.hosts), 'int[]'],
    [deltas.map((d) => d.devices), 'int[]'],
  ] as const

const attackLevels = [null, 'suspected', 'confirmed'] as const

/** Returns the properties that the policy reads and that all devices with a fingerprint share. */
const policyView = (row: FingerprintRow): StoredFingerprint['device'] => {
  const report = {
    portPath: '1-1',
    descriptors: row.descriptors.toString('base64'),
    manufacturer: row.manufacturer,
    product: row.product,
  }
  const parsed = parseReport(report)
  const viewOf = (given: typeof report & { serial?: string }) => {
    const { serial: _, attackTool: __, ...view } = policyDevice(parsed, given, null)
    return view
  }
  const plain = viewOf(report)
  if (row.policy_fingerprint !== '') {
    const stored = { fingerprint: row.policy_fingerprint, fingerprintWithoutRevision: row.policy_without_revision }
    const same = [plain, viewOf({ ...report, serial: '1' })].find(
      (view) =>
        view.fingerprint === stored.fingerprint &&
        view.fingerprintWithoutRevision === stored.fingerprintWithoutRevision,
    )
    // Rules for a stored fingerprint match the device at other ports only if its stored descriptors give this fingerprint.
    return { ...plain, ...stored, ruleFingerprint: same?.ruleFingerprint ?? '' }
  }
  // Earlier releases did not store the configuration and whether a serial number exists: compare the full fingerprint.
  const withSerial = { ...report, configuration: row.configuration, serial: '1' }
  return fingerprints(parsed, withSerial).exact === row.fingerprint ? viewOf(withSerial) : plain
}

const fingerprintOf = (row: FingerprintRow): StoredFingerprint => ({
  id: row.design_id,
  modelId: row.model_id,
  shapeId: row.shape_id,
  fingerprint: row.fingerprint,
  vid: row.vid,
  pid: row.pid,
  vendorName: row.vendor,
  productName: row.model_product === '' ? row.product : row.model_product,
  icon: row.icon,
  severity: row.severity,
  vulnerable: row.vulnerable,
  attackTool: attackLevels[row.attack_tool] ?? null,
  attackToolName: row.evidence[0] ?? '',
  accepted: row.accepted,
  evidence: row.evidence,
  vulnerabilities: row.vulnerabilities,
  descriptors: row.descriptors.toString('base64'),
  manufacturer: row.manufacturer,
  product: row.product,
  configuration: row.configuration,
  device: policyView(row),
  inputs: row.judged_by,
})

const fingerprintColumns = sql`d.design_id, d.model_id, d.shape_id, d.fingerprint, m.vid, m.pid, m.vendor, m.product as model_product, d.icon, d.severity, d.vulnerable,
  d.attack_tool, d.accepted, d.evidence, d.vulnerabilities, d.descriptors, d.policy_fingerprint, d.policy_without_revision, d.manufacturer, d.product, d.configuration, d.judged_by`

const milliseconds = (column: string) => raw(`round(extract(epoch from ${column}) * 1000)::bigint`)

/**
 * Records the decisions of rows `u` that are new or differ from the stored ones. Part of the statement that stores them, which
 * still sees the earlier rows.
 */
const recordDecisions = (now: Date, fingerprintId: SqlFragment): SqlFragment => sql`
  insert into device_decisions (agent_id, device_id, decided_at, design_id, source, rule_id, policy_version, knowledge_version)
  select u.agent_id, u.device_id, ${now}::timestamptz, ${fingerprintId}, u.source, u.rule_id, (select h.version from policy_head h),
    d.knowledge_version
  from u left join peripherals p on p.agent_id = u.agent_id and p.device_id = u.device_id
    join designs d on d.design_id = ${fingerprintId}
  where p.agent_id is null or p.source <> u.source or p.rule_id is distinct from u.rule_id or p.design_id <> ${fingerprintId}`

export const createPeripheralsStore = (db: Db) => ({
  ensureFingerprints: async (
    queryable: Queryable,
    fingerprints: readonly NewFingerprint[],
    knowledgeVersion: string,
    now: Date,
  ): Promise<StoredFingerprint[]> => {
    const models = [...new Map(fingerprints.map((d) => [`${d.vid}${d.pid}`, d])).values()].sort((a, b) =>
      a.vid + a.pid < b.vid + b.pid ? -1 : 1,
    )
    await queryable.execute(sql`
      insert into models (vid, pid, vendor, product, folded, first_seen, last_seen)
      select u.vid, u.pid, u.vendor, u.product, u.folded, ${now}, ${now} from ${unnestOf([
        [models.map((m) => m.vid), 'text[]'],
        [models.map((m) => m.pid), 'text[]'],
        [models.map((m) => m.vendorName), 'text[]'],
        [models.map((m) => m.productName), 'text[]'],
        [models.map((m) => fold([m.vid, m.pid, m.vendorName, m.productName].join(' '))), 'text[]'],
      ])} u(vid, pid, vendor, product, folded) on conflict (vid, pid) do nothing`)
    const column = <K extends keyof NewFingerprint>(key: K) => fingerprints.map((d) => d[key])
    await queryable.execute(sql`
      insert into designs (fingerprint, without_revision, model_id, manufacturer, product, configuration, folded, icon, kinds, class_code, subclass_code,
        protocol_code, interfaces, bcd_device, attack_tool, vulnerable, severity, evidence, vulnerabilities, findings, descriptors, knowledge_version, first_seen,
        policy_fingerprint, policy_without_revision, policy_rule_fingerprint, exact_fingerprint, judged_by, missing_evidence, accepted)
      select u.fingerprint, u.without_revision, m.model_id, u.manufacturer, u.product, u.configuration, u.folded, u.icon, string_to_array(u.kinds, '|'),
        u.class_code, u.subclass_code, u.protocol_code, u.interfaces, u.bcd_device, u.attack_tool, u.vulnerable, u.severity, u.evidence,
        u.vulnerabilities, u.findings, decode(u.descriptors, 'base64'), ${knowledgeVersion}, ${now}, u.policy_fingerprint, u.policy_without_revision, u.policy_rule_fingerprint, u.exact_fingerprint, u.judged_by, string_to_array(u.missing_evidence, '|'), u.accepted
      from ${unnestOf([
        [column('fingerprint'), 'text[]'],
        [column('withoutRevision'), 'text[]'],
        [column('vid'), 'text[]'],
        [column('pid'), 'text[]'],
        [column('manufacturer'), 'text[]'],
        [column('product'), 'text[]'],
        [column('configuration'), 'text[]'],
        [column('folded'), 'text[]'],
        [column('icon'), 'smallint[]'],
        [fingerprints.map((d) => d.kinds.join('|')), 'text[]'],
        [column('classCode'), 'text[]'],
        [column('subclassCode'), 'text[]'],
        [column('protocolCode'), 'text[]'],
        [column('interfaces'), 'text[]'],
        [column('bcdDevice'), 'text[]'],
        [fingerprints.map((d) => attackLevels.indexOf(d.attackTool)), 'smallint[]'],
        [column('vulnerable'), 'boolean[]'],
        [column('severity'), 'smallint[]'],
        [fingerprints.map((d) => JSON.stringify(d.evidence)), 'jsonb[]'],
        [fingerprints.map((d) => JSON.stringify(d.vulnerabilities)), 'jsonb[]'],
        [column('findings'), 'text[]'],
        [column('descriptors'), 'text[]'],
        [fingerprints.map((d) => d.device.fingerprint), 'text[]'],
        [fingerprints.map((d) => d.device.fingerprintWithoutRevision), 'text[]'],
        [fingerprints.map((d) => d.device.ruleFingerprint), 'text[]'],
        [column('exactFingerprint'), 'text[]'],
        [fingerprints.map((d) => JSON.stringify(d.inputs)), 'jsonb[]'],
        [fingerprints.map((d) => d.missingEvidence.join('|')), 'text[]'],
        [column('accepted'), 'boolean[]'],
      ])} u(fingerprint, without_revision, vid, pid, manufacturer, product, configuration, folded, icon, kinds, class_code, subclass_code, protocol_code,
        interfaces, bcd_device, attack_tool, vulnerable, severity, evidence, vulnerabilities, findings, descriptors, policy_fingerprint,
        policy_without_revision, policy_rule_fingerprint, exact_fingerprint, judged_by, missing_evidence, accepted)
      join models m on m.vid = u.vid and m.pid = u.pid
      -- This statement also creates shapes. The order prevents deadlocks between two such statements.
      order by m.model_id, md5(u.interfaces), u.fingerprint on conflict (fingerprint) do nothing`)
    const rows = await queryable.query<FingerprintRow>(sql`
      select ${fingerprintColumns} from designs d join models m on m.model_id = d.model_id where d.fingerprint = any(${column('fingerprint')}::text[])`)
    return rows.map(fingerprintOf)
  },

  withoutRuleFingerprint: async (limit: number): Promise<number[]> =>
    (
      await db.query<{ design_id: number }>(
        sql`select d.design_id from designs d where d.policy_rule_fingerprint is null limit ${limit}::int`,
      )
    ).map((row) => row.design_id),

  writeRuleFingerprints: async (fingerprints: readonly StoredFingerprint[]): Promise<void> => {
    await db.execute(sql`
      update designs d set policy_rule_fingerprint = u.fingerprint from ${unnestOf([
        [fingerprints.map((one) => one.id), 'int[]'],
        [fingerprints.map((one) => one.device.ruleFingerprint), 'text[]'],
      ])} u(design_id, fingerprint) where d.design_id = u.design_id`)
  },

  fingerprintsById: async (ids: readonly number[]): Promise<StoredFingerprint[]> =>
    (
      await db.query<FingerprintRow>(
        sql`select ${fingerprintColumns} from designs d join models m on m.model_id = d.model_id where d.design_id = any(${ids}::int[])`,
      )
    ).map(fingerprintOf),

  /** Returns all peripherals of these agents, including detached ones: a device that returns keeps its row. */
  ofAgents: (tx: Tx, agentIds: readonly string[]): Promise<StoredPeripheral[]> =>
    tx.prepared<StoredPeripheral>(sql`
      select p.agent_id, p.device_id, p.design_id, p.port_path, p.serial, p.present, p.authorized, p.severity, p.speed, p.source,
        p.rule_id, p.unapproved, p.enforced, p.case_number, p.driver_mismatch, p.kernel, p.controller, f.finding
      from peripherals p left join (
        select distinct on (o.agent_id, o.device_id) o.agent_id, o.device_id, jsonb_build_object('id', o.finding_id, 'fingerprintId', o.fingerprint_id,
          'severity', o.severity, 'lastAttached', ${milliseconds('o.last_attached')}, 'detachedAt', ${milliseconds('o.detached_at')},
          'attachments', o.attachments, 'verdict', o.verdict) as finding
        from host_findings o where o.agent_id = any(${agentIds}::uuid[]) order by o.agent_id, o.device_id, o.finding_id desc
      ) f on f.agent_id = p.agent_id and f.device_id = p.device_id
      where p.agent_id = any(${agentIds}::uuid[])`),

  write: async (tx: Tx, now: Date, rows: readonly PeripheralWrite[]): Promise<void> => {
    if (rows.length === 0) return
    await tx.prepared(sql`
      with u as materialized (select * from ${unnestOf([
        [rows.map((r) => r.agentId), 'uuid[]'],
        [rows.map((r) => r.deviceId), 'text[]'],
        [rows.map((r) => r.fingerprintId), 'int[]'],
        [rows.map((r) => r.portPath), 'text[]'],
        [rows.map((r) => r.serial), 'text[]'],
        [rows.map((r) => r.speed), 'real[]'],
        [rows.map((r) => r.severity), 'smallint[]'],
        [rows.map((r) => r.present), 'boolean[]'],
        [rows.map((r) => r.authorized), 'boolean[]'],
        [rows.map((r) => r.source), 'smallint[]'],
        [rows.map((r) => r.ruleId), 'uuid[]'],
        [rows.map((r) => r.unapproved), 'boolean[]'],
        [rows.map((r) => (r.enforced === null ? null : JSON.stringify(r.enforced))), 'jsonb[]'],
        [rows.map((r) => r.caseNumber), 'text[]'],
        [rows.map((r) => r.driverMismatch), 'text[]'],
        [rows.map((r) => JSON.stringify(r.kernel)), 'jsonb[]'],
        [rows.map((r) => r.controller), 'text[]'],
      ])} r(agent_id, device_id, design_id, port_path, serial, speed, severity, present, authorized, source, rule_id, unapproved, enforced, case_number, driver_mismatch, kernel, controller)),
      decided as (${recordDecisions(now, sql`u.design_id`)})
      insert into peripherals as p (agent_id, device_id, design_id, port_path, serial, serial_folded, first_seen, last_seen, speed, severity, present, authorized,
        source, rule_id, unapproved, enforced, case_number, driver_mismatch, kernel, controller)
      select u.agent_id, u.device_id, u.design_id, u.port_path, u.serial, lower(u.serial), ${now}, ${now}, u.speed, u.severity, u.present, u.authorized,
        u.source, u.rule_id, u.unapproved, u.enforced, u.case_number, u.driver_mismatch, u.kernel, u.controller
      from u
      on conflict (agent_id, device_id) do update set design_id = excluded.design_id, port_path = excluded.port_path, serial = excluded.serial,
        serial_folded = excluded.serial_folded, last_seen = excluded.last_seen, speed = excluded.speed, severity = excluded.severity,
        present = excluded.present, authorized = excluded.authorized, source = excluded.source, rule_id = excluded.rule_id,
        unapproved = excluded.unapproved, enforced = excluded.enforced, case_number = excluded.case_number,
        driver_mismatch = excluded.driver_mismatch, kernel = excluded.kernel, controller = excluded.controller`)
  },

  /**
   * Returns the names of the other hosts that had these devices last, by agent and device id. Leaves out devices that are attached
   * there, unless `gone` names them. Runs before `write`, which replaces the time when the host itself had the device.
   */
  lastHosts: async (
    tx: Tx,
    arrivals: readonly (DeviceKey & { serial: string })[],
    gone: readonly DeviceKey[],
  ): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> => {
    if (arrivals.length === 0) return new Map()
    const rows = await tx.prepared<{ agent_id: string; device_id: string; host: string }>(sql`
      select u.agent_id, u.device_id, r.host
      from ${unnestOf([
        [arrivals.map((one) => one.agentId), 'uuid[]'],
        [arrivals.map((one) => one.deviceId), 'text[]'],
        [arrivals.map((one) => one.serial), 'text[]'],
      ])} u(agent_id, device_id, serial)
        cross join lateral (
          select (array_agg(q.agent_id order by q.last_seen desc) filter (where q.device_id = u.device_id))[1] as agent_id,
            max(q.last_seen) filter (where q.device_id = u.device_id) as last_seen
          from (
            select p.agent_id, p.device_id, p.present and g.agent_id is null as present,
              case when g.agent_id is null then p.last_seen else 'infinity' end as last_seen
            from peripherals p left join ${unnestOf([
              [gone.map((one) => one.agentId), 'uuid[]'],
              [gone.map((one) => one.deviceId), 'text[]'],
            ])} g(agent_id, device_id) on g.agent_id = p.agent_id and g.device_id = p.device_id
            where p.serial_folded = lower(u.serial) and p.serial <> '' and p.agent_id <> u.agent_id limit ${hostsOfSerial + 1}::int) q
          having count(*) <= ${hostsOfSerial}::int and not bool_or(q.device_id = u.device_id and q.present)) l
        join agent_rows r on r.agent_id = l.agent_id
        left join peripherals o on o.agent_id = u.agent_id and o.device_id = u.device_id
      where o.agent_id is null or (not o.present and o.last_seen < l.last_seen)`)
    const byAgent = Map.groupBy(rows, (row) => row.agent_id)
    return new Map(
      [...byAgent].map(([agentId, all]) => [agentId, new Map(all.map((row) => [row.device_id, row.host]))]),
    )
  },

  /** Writes decisions that changed while the device itself did not. */
  writeDecisions: async (tx: Tx, now: Date, rows: readonly DecisionWrite[]): Promise<void> => {
    if (rows.length === 0) return
    await tx.prepared(sql`
      with u as materialized (select * from ${unnestOf([
        [rows.map((r) => r.agentId), 'uuid[]'],
        [rows.map((r) => r.deviceId), 'text[]'],
        [rows.map((r) => r.severity), 'smallint[]'],
        [rows.map((r) => r.source), 'smallint[]'],
        [rows.map((r) => r.ruleId), 'uuid[]'],
        [rows.map((r) => r.unapproved), 'boolean[]'],
        [rows.map((r) => r.caseNumber), 'text[]'],
      ])} r(agent_id, device_id, severity, source, rule_id, unapproved, case_number)),
      decided as (${recordDecisions(now, sql`p.design_id`)})
      update peripherals p set severity = u.severity, source = u.source, rule_id = u.rule_id, unapproved = u.unapproved, case_number = u.case_number
      from u where p.agent_id = u.agent_id and p.device_id = u.device_id`)
  },

  /**
   * Deletes some replaced decisions from before a time. Returns how many. Compares each with the newest of its device, which
   * is one step in the index: a join of all pairs would not end for a device whose decision changed thousands of times.
   */
  forgetDecisions: (before: Date, limit: number): Promise<number> =>
    db.execute(sql`
      delete from device_decisions c where c.ctid in (
        select o.ctid from device_decisions o where o.decided_at < ${before}::timestamptz and o.decided_at < (
          select max(n.decided_at) from device_decisions n where n.agent_id = o.agent_id and n.device_id = o.device_id)
        limit ${limit}::int)`),

  /**
   * Updates counters in one statement: a second statement made reports 5 % slower. It locks models first, in id order,
   * and so also their shapes and fingerprints, which need no order. Selecting from `locked` makes PostgreSQL take the
   * locks first.
   */
  moveCounters: async (tx: Tx, now: Date, { models, shapes, fingerprints }: CounterDeltas): Promise<void> => {
    if (models.length === 0) return
    const sorted = [...models].sort((a, b) => a.id - b.id)
    const isLocked = sql`(select count(*) from locked) > 0`
    await tx.prepared(sql`
      with locked as materialized (
        select l.model_id, u.hosts, u.devices from ${unnestOf(columnsOf(sorted))} u(model_id, hosts, devices)
        join models l on l.model_id = u.model_id order by l.model_id for update of l),
      moved_shapes as (
        update shapes s set hosts = s.hosts + u.hosts, devices = s.devices + u.devices,
          last_seen = case when u.devices > 0 then greatest(s.last_seen, ${now}) else s.last_seen end
        from ${unnestOf(columnsOf(shapes))} u(shape_id, hosts, devices) where s.shape_id = u.shape_id and ${isLocked}),
      moved_designs as (
        insert into design_counts as c (design_id, hosts, devices, last_seen)
        select u.design_id, u.hosts, u.devices, ${now} from ${unnestOf(columnsOf(fingerprints))} u(design_id, hosts, devices) where ${isLocked}
        on conflict (design_id) do update set hosts = c.hosts + excluded.hosts, devices = c.devices + excluded.devices,
          last_seen = case when excluded.devices > 0 then greatest(c.last_seen, excluded.last_seen) else c.last_seen end)
      update models m set hosts = m.hosts + u.hosts, devices = m.devices + u.devices,
        last_seen = case when u.devices > 0 then greatest(m.last_seen, ${now}) else m.last_seen end
      from locked u where m.model_id = u.model_id and (u.hosts <> 0 or u.devices <> 0)`)
  },

  /** Subtracts agents that are about to be removed from the counters. */
  forgetAgents: async (tx: Tx, agentIds: readonly string[]): Promise<void> => {
    await tx.execute(sql`
      with locked as materialized (
        select m.model_id from models m where m.model_id in (
          select d.model_id from peripherals p join designs d on d.design_id = p.design_id
          where p.agent_id = any(${agentIds}::uuid[]) and p.present)
        order by m.model_id for update)
      select 1 from locked`)
    const present = sql`peripherals p join designs d on d.design_id = p.design_id
      where p.agent_id = any(${agentIds}::uuid[]) and p.present`
    const counted = sql`count(distinct p.agent_id)::int as hosts, count(*)::int as devices`
    await tx.execute(sql`
      with m as (
        update models m set hosts = m.hosts - g.hosts, devices = m.devices - g.devices
        from (select d.model_id, ${counted} from ${present} group by d.model_id) g where m.model_id = g.model_id),
      s as (
        update shapes s set hosts = s.hosts - g.hosts, devices = s.devices - g.devices
        from (select d.shape_id, ${counted} from ${present} group by d.shape_id) g where s.shape_id = g.shape_id)
      update design_counts c set hosts = c.hosts - g.hosts, devices = c.devices - g.devices
      from (select d.design_id, ${counted} from ${present} group by d.design_id) g where c.design_id = g.design_id`)
  },
})
