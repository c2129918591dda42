import { sourcesSql, type Vulnerability } from '@portcullis/domain'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import {
  contains,
  fold,
  inModelText,
  isNumber,
  isTrue,
  likePattern,
  modelsOfVendor,
} from '@portcullis/platform/server/list/columns.ts'
import { listSpec } from '@portcullis/platform/server/list/spec.ts'
import { zonelessSql } from '@portcullis/platform/server/time.ts'
import { icons, modelList, peripheralList } from '#features/contract.ts'
import { blocksSql, deciderSql, decisionReasonSql, policyStateSql } from './decision-labels.ts'

/** Computes `serialKey` of a stored serial number. */
export const serialKeySql = (column: string): SqlFragment =>
  raw(`replace(replace(lower(${column} collate "C"), '%20', ' '), '_', ' ')`)
/** Whether a stored serial number differs from its cleaned text, so that a rule of an earlier release may name it by another. */
export const isEscapedSql = (column: string): SqlFragment => raw(`position('%' in ${column}) > 0`)

const iconName = (column: string): string =>
  `case ${column} ${Object.entries(icons)
    .map(([number, name]) => `when ${number} then '${name}'`)
    .join(' ')} else 'Unknown' end`

/**
 * Builds a "contains" filter over a text of the fingerprint or its model. It reads a few thousand rows instead of
 * millions.
 */
export const containsInFingerprint =
  (column: string) =>
  (condition: (pattern: string) => SqlFragment) =>
  (_field: string, text: string): SqlFragment =>
    sql`${raw(column)} in (select d.design_id from designs d join models m on m.model_id = d.model_id where ${condition(likePattern(text))})`
const inFingerprint = containsInFingerprint('p.design_id')

const ofHost = (expression: SqlFragment): SqlFragment =>
  sql`p.agent_id in (select r.agent_id from agent_rows r where ${expression})`
const host = '(select r.host from agent_rows r where r.agent_id = p.agent_id)'
const ofModel = (column: string) =>
  `(select m.${column} from designs d join models m on m.model_id = d.model_id where d.design_id = p.design_id)`
const ofFingerprint = (column: string) => `(select d.${column} from designs d where d.design_id = p.design_id)`
const ofBoth = (expression: string) =>
  `(select ${expression} from designs d join models m on m.model_id = d.model_id where d.design_id = p.design_id)`
/** Selects an expression over the host of a peripheral and the rule that decided. */
const ofDecision = (expression: string) =>
  `(select ${expression} from agents a join agent_rows pr on pr.agent_id = a.agent_id join agent_heartbeats ph on ph.agent_id = a.agent_id
    left join policy_rules rule on rule.rule_id = p.rule_id where a.agent_id = p.agent_id)`
const tagNames = `coalesce((select string_agg(t.name, ',' order by t.folded) from peripheral_tags x join tags t on t.tag_id = x.tag_id where x.agent_id = p.agent_id and x.device_id = p.device_id), '')`

const search = (needle: string): SqlFragment => {
  const pattern = likePattern(needle)
  return sql`(p.design_id in (select d.design_id from designs d where ${inModelText('d.folded', needle)}
      or (d.attack_tool > 0 and lower(d.evidence::text) like ${pattern}::text))
    or p.agent_id in (select r.agent_id from agent_rows r where r.host like ${pattern}::text or r.address like ${pattern}::text)
    or p.case_number = ${needle.toUpperCase()}::text
    or p.serial_folded like ${pattern}::text or lower(p.device_id) like ${pattern}::text)`
}

/** Points for the findings of a fingerprint; the score of a host adds up the same points (policy/host.ts). */
const attackPoints = '(array[0, 50, 80])[d.attack_tool + 1]'
const vulnerablePoints = `case when d.vulnerable then coalesce((select max(round(coalesce((w.value ->> 'cvss')::numeric, 5)
  * case when w.value ->> 'confidence' = 'firmware' then 3 else 2 end)) from jsonb_array_elements(d.vulnerabilities) w), 0)::int else 0 end`
const unapprovedPoints = 'case when p.unapproved then 10 else 0 end'
/** Most devices have no findings, so their score is not computed. */
const isHarmless = 'd.severity = 10 and not p.unapproved'
const riskScore = `case when ${isHarmless} then 0 else least(100, ${attackPoints} + ${vulnerablePoints} + ${unapprovedPoints}) end`
const riskFactors = `case when ${isHarmless} then '[]'::json else (
  select coalesce(json_agg(json_build_object('factor', f.factor, 'points', f.points, 'evidence', f.evidence) order by f.points desc), '[]') from (values
    (case d.attack_tool when 2 then 'Confirmed attack tool' else 'Suspected attack tool' end, ${attackPoints},
      (select string_agg(e.value, '; ') from jsonb_array_elements_text(d.evidence) e)),
    ('Vulnerable peripheral', ${vulnerablePoints}, (select string_agg(w.value ->> 'id', ', ') from jsonb_array_elements(d.vulnerabilities) w)),
    ('Not on the allowlist', ${unapprovedPoints}, 'No rule allows it, and its host has an allowlist.')
  ) f(factor, points, evidence) where f.points > 0) end`

/**
 * Serial numbers that vendors use for whole production runs: one repeated character, up to three characters, ascending
 * digits, and words such as "none".
 */
export const placeholderSerialSql = `(regexp_replace(p.serial_folded, '[^a-z0-9]', '', 'g')
  ~ '^((.)\\2*|.{0,3}|0?123456?7?8?9?0?(abcdef?)?|none|null|default|unknown|serial(number)?|na|nil|tbd|notavailable|notspecified|tobefilledbyoem)$')`
/**
 * A device with the same serial number is attached to another host, whatever its model: chip vendors give a constant to
 * all their customers. On the same host, the parts of a dock share a serial number that is unique.
 */
const sharedSerial = `exists (select 1 from peripherals q where q.serial_folded = p.serial_folded and q.serial <> '' and q.agent_id <> p.agent_id and q.present)`

/** Keys that need more than a column. The same expression selects and sorts each. */
const shown = {
  description: `coalesce(nullif(d.product, ''), nullif(m.product, ''), ${iconName('d.icon')})`,
  caption: `coalesce(nullif(d.product, ''), m.product)`,
  product: `coalesce(nullif(m.product, ''), d.product)`,
  reportedManufacturer: `coalesce(d.judged_by #>> '{reported,manufacturer}', '')`,
  reportedProduct: `coalesce(d.judged_by #>> '{reported,product}', '')`,
  status: `case when not p.present then 'Gone' when not p.authorized then 'Blocked' else 'OK' end`,
  approved: `not p.unapproved and (p.present or not a.whitelist or not (${blocksSql}))`,
  parent: `(select q.device_id from peripherals q where q.agent_id = p.agent_id and q.present
      and q.port_path = substring(p.port_path from '^(.*)[.][0-9]+$') limit 1)`,
  inAction: 'pr.armed and ph.policy_due',
  adminStatus: `case when p.source in ${sourcesSql('deny')} then 'BLM' when p.source in ${sourcesSql('host')} and rule.origin = 'approval' then 'WLM'
    when p.source in ${sourcesSql('grant', 'host', 'tag', 'global')} then 'WLA' else '' end`,
  fingerprint: `coalesce(nullif(d.policy_without_revision, ''), d.without_revision)`,
  uniqueSerial: `(p.serial <> '' and not ${placeholderSerialSql} and not ${sharedSerial})`,
  fpData: `coalesce(nullif(d.exact_fingerprint, ''), d.fingerprint)`,
  guard: `coalesce(p.enforced ->> 'guard', '')`,
  enforcedVersion: `(p.enforced ->> 'policyVersion')::int`,
  policyVersion: `coalesce((p.enforced ->> 'policyVersion')::int, (select h.version from policy_head h))`,
}

/** What a host reports of its kernel about a device. */
const ofKernel = {
  unknownDriver: `coalesce(p.kernel->>'unknownDriver', '')`,
  notWorking: `coalesce(p.kernel->>'notWorking', '')`,
  isOverNetwork: `(p.kernel ? 'isOverNetwork')`,
}

/**
 * Peripherals of all hosts. The id is the physical row location (ctid), which is stable within the one statement that
 * uses it.
 */
export const peripheralsList = listSpec(peripheralList, {
  name: 'peripherals',
  from: 'peripherals p',
  id: 'p.ctid',
  ties: ['p.agent_id', 'p.device_id'],
  // Attack tools come first; the index peripherals_severity has this order.
  defaultSort: [
    { key: 'severity', descending: true },
    { key: 'lastSeen', descending: true },
  ],
  search,
  columns: {
    uuid: 'p.agent_id',
    hostIdentifier: { select: 'a.host', sort: host },
    // A join uses the address index for the order; a subquery would run once per row.
    hostIp: {
      select: 'a.address',
      sort: 'address_order(host_row.address)',
      sortJoin: 'join agent_rows host_row on host_row.agent_id = p.agent_id',
    },
    deviceID: 'p.device_id',
    description: { select: shown.description, sort: ofBoth(`lower(${shown.description})`) },
    status: shown.status,
    manufacturer: { select: 'd.manufacturer', sort: ofFingerprint('manufacturer') },
    caption: { select: shown.caption, sort: ofBoth(`lower(${shown.caption})`) },
    vid: { select: 'm.vid', sort: ofModel('vid') },
    pid: { select: 'm.pid', sort: ofModel('pid') },
    serialNumber: { select: 'p.serial', sort: 'p.serial_folded' },
    classCode: { select: 'd.class_code', sort: ofFingerprint('class_code') },
    subclassCode: { select: 'd.subclass_code', sort: ofFingerprint('subclass_code') },
    uniqueSerial: shown.uniqueSerial,
    guiSerial: { select: 'p.serial', sort: 'p.serial_folded' },
    devIcon: { select: 'd.icon', sort: ofFingerprint('icon') },
    devIconDescription: {
      select: iconName('d.icon'),
      sort: `(select ${iconName('d.icon')} from designs d where d.design_id = p.design_id)`,
    },
    protocolCode: { select: 'd.protocol_code', sort: ofFingerprint('protocol_code') },
    hierarchy: 'p.port_path',
    isDisabled: 'not p.authorized',
    approved: { select: shown.approved, sort: ofDecision(shown.approved) },
    present: 'p.present',
    guiVid: { select: 'm.vendor', sort: ofModel('vendor') },
    guiPid: { select: shown.product, sort: ofBoth(`lower(${shown.product})`) },
    parentDeviceID: shown.parent,
    isUnapprovedPeripherals: 'p.unapproved',
    isVulnerablePeripheral: { select: 'd.vulnerable', sort: ofFingerprint('vulnerable') },
    isKnownAttackTool: { select: 'd.attack_tool > 0', sort: `(${ofFingerprint('attack_tool')} > 0)` },
    severity: 'p.severity',
    inAction: { select: shown.inAction, sort: ofDecision(shown.inAction) },
    vulnerability: { select: 'd.findings', sort: ofFingerprint('findings') },
    configManagerErrorCode: { select: '-1', sort: '(-1)::int' },
    adminStatus: { select: shown.adminStatus, sort: ofDecision(shown.adminStatus) },
    fpData: { select: shown.fpData, sort: ofBoth(shown.fpData) },
    lesserFpData: { select: 'd.without_revision', sort: ofFingerprint('without_revision') },
    agentServiceVersion: { select: 'a.version', sort: ofDecision('a.version') },
    hashtags: tagNames,
    decision: { select: `case when ${blocksSql} then 'block' else 'allow' end`, sort: `(${blocksSql})` },
    policyState: { select: policyStateSql, sort: ofDecision(policyStateSql) },
    decisionReason: { select: decisionReasonSql, sort: ofDecision(decisionReasonSql) },
    rule: deciderSql,
    firstSeen: { select: zonelessSql('p.first_seen'), sort: 'p.first_seen' },
    lastSeen: { select: zonelessSql('p.last_seen'), sort: 'p.last_seen' },
    interfaces: { select: 'd.interfaces', sort: ofFingerprint('interfaces') },
    bcdDevice: { select: 'd.bcd_device', sort: ofFingerprint('bcd_device') },
    speed: 'p.speed',
    fingerprint: { select: shown.fingerprint, sort: ofBoth(shown.fingerprint) },
    reportedManufacturer: { select: shown.reportedManufacturer, sort: ofBoth(shown.reportedManufacturer) },
    reportedProduct: { select: shown.reportedProduct, sort: ofBoth(shown.reportedProduct) },
    caseNumber: 'p.case_number',
    guard: shown.guard,
    driverMismatch: 'p.driver_mismatch',
    unknownDriver: ofKernel.unknownDriver,
    notWorking: ofKernel.notWorking,
    isOverNetwork: ofKernel.isOverNetwork,
    enforcedVersion: shown.enforcedVersion,
    policyVersion: shown.policyVersion,
    attackTool: {
      select: `(array['','suspected','confirmed'])[d.attack_tool + 1]`,
      sort: ofFingerprint('attack_tool'),
    },
    evidence: 'd.evidence',
    missingEvidence: 'd.missing_evidence',
    acceptance: `case when d.accepted then (
      select json_build_object('id', f.acceptance_id, 'reason', f.reason, 'acceptedBy', f.accepted_by,
        'acceptedAt', to_char(f.accepted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      from accepted_findings f where f.fingerprint = d.policy_rule_fingerprint) end`,
    vulnerabilities: 'd.vulnerabilities',
    riskScore: { select: riskScore, sort: `(select ${riskScore} from designs d where d.design_id = p.design_id)` },
    riskFactors: riskFactors,
  },
  filters: {
    hostIdentifier: (_f, text) => ofHost(sql`r.host like ${likePattern(text)}::text`),
    ipAddress: (_f, text) => ofHost(sql`r.address like ${likePattern(text)}::text`),
    hostUuid: contains('p.agent_id::text'),
    vendor: (_f, text) =>
      sql`p.design_id in (select d.design_id from designs d where d.model_id in (${modelsOfVendor(text)}))`,
    productInfo: inFingerprint(
      (pattern) => sql`(lower(m.product) like ${pattern}::text or lower(d.product) like ${pattern}::text)`,
    ),
    serialNumber: contains('p.serial_folded'),
    isVulnerablePeripheral: (field, text) =>
      sql`p.design_id in (select d.design_id from designs d where ${isTrue('d.vulnerable')(field, text)})`,
    isKnownAttackTool: (field, text) =>
      sql`p.design_id in (select d.design_id from designs d where ${isTrue('(d.attack_tool > 0)')(field, text)})`,
    vid: inFingerprint((pattern) => sql`lower(m.vid) like ${pattern}::text`),
    pid: inFingerprint((pattern) => sql`lower(m.pid) like ${pattern}::text`),
    devIcon: (field, text) =>
      sql`p.design_id in (select d.design_id from designs d where ${isNumber('d.icon')(field, text)})`,
    hashtags: (_f, text) =>
      sql`(p.agent_id, p.device_id) in (select x.agent_id, x.device_id from peripheral_tags x join tags t on t.tag_id = x.tag_id where t.folded = any(${text.split(',').map((t) => fold(t.trim()))}::text[]))`,
  },
  rowJoins: `join peripherals p on p.ctid = ids.id join agents a on a.agent_id = p.agent_id
    join designs d on d.design_id = p.design_id join models m on m.model_id = d.model_id
    join agent_rows pr on pr.agent_id = p.agent_id join agent_heartbeats ph on ph.agent_id = p.agent_id
    left join policy_rules rule on rule.rule_id = p.rule_id`,
})

const anyFingerprint = (condition: string) =>
  `exists (select 1 from designs d where d.model_id = m.model_id and ${condition})`
const modelIcon = '(select max(d.icon) from designs d where d.model_id = m.model_id)'
const modelSeverity = 'coalesce((select max(d.severity) from designs d where d.model_id = m.model_id), 10)'

/** Peripherals by model, from the counters. */
export const modelsList = listSpec(modelList, {
  name: 'peripheral-models',
  from: 'models m',
  id: 'm.model_id',
  ties: ['m.model_id'],
  defaultSort: [
    { key: 'severity', descending: true },
    { key: 'agentsCount', descending: true },
  ],
  search: (needle) => inModelText('m.folded', needle),
  columns: {
    vid: 'm.vid',
    pid: 'm.pid',
    guiVid: 'm.vendor',
    guiPid: 'm.product',
    devIcon: { select: `coalesce(${modelIcon}, 98)`, sort: modelIcon },
    devIconDescription: iconName(modelIcon),
    agentsCount: 'm.hosts',
    peripheralsCount: 'm.devices',
    isVulnerablePeripheral: anyFingerprint('d.vulnerable'),
    isKnownAttackTool: anyFingerprint('d.attack_tool > 0'),
    severity: modelSeverity,
    firstSeen: { select: zonelessSql('m.first_seen'), sort: 'm.first_seen' },
    lastSeen: { select: zonelessSql('m.last_seen'), sort: 'm.last_seen' },
  },
  filters: {
    vid: contains('lower(m.vid)'),
    pid: contains('lower(m.pid)'),
    vendor: (_f, text) => sql`m.model_id in (${modelsOfVendor(text)})`,
    productInfo: contains('lower(m.product)'),
  },
  rowJoins: 'join models m on m.model_id = ids.id',
})

export const ofAgent = (agentId: string): SqlFragment => sql`p.agent_id = ${agentId}::uuid`

export const createPeripheralsRead = (db: Queryable) => ({
  agentExists: async (agentId: string): Promise<boolean> =>
    (await db.prepared(sql`select 1 from agents a where a.agent_id = ${agentId}::uuid`)).length > 0,

  /** Returns the findings about devices, by host and device id: attack-tool evidence and advisories. */
  findings: (devices: readonly { agentId: string; deviceId: string }[]) =>
    db.query<{ evidence: string[]; vulnerabilities: Vulnerability[] }>(sql`
      select distinct d.evidence, d.vulnerabilities
      from unnest(${devices.map((one) => one.agentId)}::uuid[], ${devices.map((one) => one.deviceId)}::text[]) u(agent_id, device_id)
        join peripherals p on p.agent_id = u.agent_id and p.device_id = u.device_id
        join designs d on d.design_id = p.design_id`),
})

export type PeripheralsRead = ReturnType<typeof createPeripheralsRead>
