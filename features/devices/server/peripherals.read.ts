import { icons } from '@portcullis/contract'
import { sourcesSql, type Vulnerability } from '@portcullis/domain'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import {
  contains,
  fold,
  isNumber,
  isTime,
  isTrue,
  likePattern,
  modelsOfVendor,
} from '@portcullis/platform/server/list/columns.ts'
import type { ListSpec } from '@portcullis/platform/server/list/compile.ts'
import { zonelessSql } from '@portcullis/platform/server/time.ts'
import { blocksSql, deciderSql, decisionReasonSql } from './decision-labels.ts'

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
const inFingerprint =
  (condition: (pattern: string) => SqlFragment) =>
  (_field: string, text: string): SqlFragment =>
    sql`p.design_id in (select d.design_id from designs d join models m on m.model_id = d.model_id where ${condition(likePattern(text))})`

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

/** Search texts are stored with the ids as `046d c52b …`, but people write `046D:C52B` or `046d/c52b`. */
const inKept = (column: string, needle: string): SqlFragment => {
  const asKept = needle.replace(/^([0-9a-f]{4})[:/]([0-9a-f]{1,4})$/i, '$1 $2')
  const has = (text: string) => sql`${raw(column)} like ${likePattern(text)}::text`
  return asKept === needle ? has(needle) : sql`(${has(needle)} or ${has(asKept)})`
}

const search = (needle: string): SqlFragment => {
  const pattern = likePattern(needle)
  return sql`(p.design_id in (select d.design_id from designs d where ${inKept('d.folded', needle)})
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
const placeholderSerial = `(regexp_replace(p.serial_folded, '[^a-z0-9]', '', 'g')
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
  status: `case when not p.present then 'Gone' when not p.authorized then 'Blocked' else 'OK' end`,
  approved: `not p.unapproved and (p.present or not a.whitelist or not (${blocksSql}))`,
  parent: `(select q.device_id from peripherals q where q.agent_id = p.agent_id and q.present
      and q.port_path = substring(p.port_path from '^(.*)[.][0-9]+$') limit 1)`,
  inAction: 'pr.armed and ph.policy_due',
  adminStatus: `case when p.source in ${sourcesSql('deny')} then 'BLM' when p.source in ${sourcesSql('host')} and rule.origin = 'approval' then 'WLM'
    when p.source in ${sourcesSql('grant', 'host', 'tag', 'global')} then 'WLA' else '' end`,
  fingerprint: `coalesce(nullif(d.policy_without_revision, ''), d.without_revision)`,
  uniqueSerial: `(p.serial <> '' and not ${placeholderSerial} and not ${sharedSerial})`,
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
export const peripheralsList: ListSpec = {
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
    uuid: { sort: 'p.agent_id', filter: contains('p.agent_id::text'), names: ['hostUuid'] },
    hostIdentifier: { sort: host, filter: (_f, text) => ofHost(sql`r.host like ${likePattern(text)}::text`) },
    hostIp: {
      // A join uses the address index for the order; a subquery would run once per row.
      sort: 'address_order(host_row.address)',
      sortJoin: 'join agent_rows host_row on host_row.agent_id = p.agent_id',
      filter: (_f, text) => ofHost(sql`r.address like ${likePattern(text)}::text`),
      names: ['ipAddress'],
    },
    deviceID: { sort: 'p.device_id' },
    description: { sort: ofBoth(`lower(${shown.description})`) },
    status: { sort: shown.status },
    caption: { sort: ofBoth(`lower(${shown.caption})`) },
    manufacturer: { sort: ofFingerprint('manufacturer') },
    vid: { sort: ofModel('vid'), filter: inFingerprint((pattern) => sql`lower(m.vid) like ${pattern}::text`) },
    pid: { sort: ofModel('pid'), filter: inFingerprint((pattern) => sql`lower(m.pid) like ${pattern}::text`) },
    serialNumber: { sort: 'p.serial_folded', filter: contains('p.serial_folded') },
    classCode: { sort: ofFingerprint('class_code') },
    subclassCode: { sort: ofFingerprint('subclass_code') },
    protocolCode: { sort: ofFingerprint('protocol_code') },
    uniqueSerial: { sort: shown.uniqueSerial },
    guiSerial: { sort: 'p.serial_folded' },
    devIcon: {
      sort: ofFingerprint('icon'),
      filter: (field, text) =>
        sql`p.design_id in (select d.design_id from designs d where ${isNumber('d.icon')(field, text)})`,
    },
    devIconDescription: { sort: `(select ${iconName('d.icon')} from designs d where d.design_id = p.design_id)` },
    hierarchy: { sort: 'p.port_path' },
    present: { sort: 'p.present', filter: isTrue('p.present') },
    isDisabled: { sort: 'not p.authorized' },
    approved: { sort: ofDecision(shown.approved) },
    parentDeviceID: { sort: shown.parent },
    inAction: { sort: ofDecision(shown.inAction) },
    vulnerability: { sort: ofFingerprint('findings') },
    configManagerErrorCode: { sort: '(-1)::int' },
    adminStatus: { sort: ofDecision(shown.adminStatus) },
    fpData: { sort: ofBoth(shown.fpData) },
    lesserFpData: { sort: ofFingerprint('without_revision') },
    agentServiceVersion: { sort: ofDecision('a.version') },
    decision: { sort: `(${blocksSql})` },
    decisionReason: { sort: ofDecision(decisionReasonSql) },
    rule: { sort: deciderSql },
    fingerprint: { sort: ofBoth(shown.fingerprint) },
    caseNumber: { sort: 'p.case_number' },
    guard: { sort: shown.guard },
    driverMismatch: { sort: 'p.driver_mismatch' },
    unknownDriver: { sort: ofKernel.unknownDriver },
    notWorking: { sort: ofKernel.notWorking },
    isOverNetwork: { sort: ofKernel.isOverNetwork },
    enforcedVersion: { sort: shown.enforcedVersion },
    policyVersion: { sort: shown.policyVersion },
    attackTool: { sort: ofFingerprint('attack_tool') },
    guiVid: {
      sort: ofModel('vendor'),
      filter: (_f, text) =>
        sql`p.design_id in (select d.design_id from designs d where d.model_id in (${modelsOfVendor(text)}))`,
      names: ['vendor'],
    },
    guiPid: {
      sort: ofBoth(`lower(${shown.product})`),
      filter: inFingerprint(
        (pattern) => sql`(lower(m.product) like ${pattern}::text or lower(d.product) like ${pattern}::text)`,
      ),
      names: ['productInfo'],
    },
    isUnapprovedPeripherals: {
      sort: 'p.unapproved',
      filter: isTrue('p.unapproved'),
      names: ['isUnapprovedPeripheral'],
    },
    isVulnerablePeripheral: {
      sort: ofFingerprint('vulnerable'),
      filter: (field, text) =>
        sql`p.design_id in (select d.design_id from designs d where ${isTrue('d.vulnerable')(field, text)})`,
    },
    isKnownAttackTool: {
      sort: `(${ofFingerprint('attack_tool')} > 0)`,
      filter: (field, text) =>
        sql`p.design_id in (select d.design_id from designs d where ${isTrue('(d.attack_tool > 0)')(field, text)})`,
    },
    severity: { sort: 'p.severity' },
    riskScore: { sort: `(select ${riskScore} from designs d where d.design_id = p.design_id)` },
    hashtags: {
      sort: tagNames,
      filter: (_f, text) =>
        sql`(p.agent_id, p.device_id) in (select x.agent_id, x.device_id from peripheral_tags x join tags t on t.tag_id = x.tag_id where t.folded = any(${text.split(',').map((t) => fold(t.trim()))}::text[]))`,
    },
    firstSeen: { sort: 'p.first_seen', filter: isTime('p.first_seen') },
    lastSeen: { sort: 'p.last_seen' },
    interfaces: { sort: ofFingerprint('interfaces') },
    bcdDevice: { sort: ofFingerprint('bcd_device') },
    speed: { sort: 'p.speed' },
  },
  rowJoins: `join peripherals p on p.ctid = ids.id join agents a on a.agent_id = p.agent_id
    join designs d on d.design_id = p.design_id join models m on m.model_id = d.model_id
    join agent_rows pr on pr.agent_id = p.agent_id join agent_heartbeats ph on ph.agent_id = p.agent_id
    left join policy_rules rule on rule.rule_id = p.rule_id`,
  rowSelect: `p.agent_id as "uuid", a.host as "hostIdentifier", a.address as "hostIp", p.device_id as "deviceID",
    ${shown.description} as "description", ${shown.status} as "status",
    d.manufacturer as "manufacturer", ${shown.caption} as "caption", m.vid as "vid", m.pid as "pid",
    p.serial as "serialNumber", d.class_code as "classCode", d.subclass_code as "subclassCode", ${shown.uniqueSerial} as "uniqueSerial",
    p.serial as "guiSerial", d.icon as "devIcon", ${iconName('d.icon')} as "devIconDescription", d.protocol_code as "protocolCode",
    p.port_path as "hierarchy", not p.authorized as "isDisabled", ${shown.approved} as "approved", p.present as "present",
    m.vendor as "guiVid", ${shown.product} as "guiPid", ${shown.parent} as "parentDeviceID",
    p.unapproved as "isUnapprovedPeripherals", d.vulnerable as "isVulnerablePeripheral", d.attack_tool > 0 as "isKnownAttackTool",
    p.severity as "severity", ${shown.inAction} as "inAction", d.findings as "vulnerability", -1 as "configManagerErrorCode", ${shown.adminStatus} as "adminStatus",
    ${shown.fpData} as "fpData", d.without_revision as "lesserFpData", a.version as "agentServiceVersion", ${tagNames} as "hashtags",
    case when ${blocksSql} then 'block' else 'allow' end as "decision", ${decisionReasonSql} as "decisionReason", ${deciderSql} as "rule",
    ${zonelessSql('p.first_seen')} as "firstSeen", ${zonelessSql('p.last_seen')} as "lastSeen", d.interfaces as "interfaces",
    d.bcd_device as "bcdDevice", p.speed as "speed", ${shown.fingerprint} as "fingerprint", p.case_number as "caseNumber",
    ${shown.guard} as "guard", p.driver_mismatch as "driverMismatch", ${ofKernel.unknownDriver} as "unknownDriver",
    ${ofKernel.notWorking} as "notWorking", ${ofKernel.isOverNetwork} as "isOverNetwork", ${shown.enforcedVersion} as "enforcedVersion", ${shown.policyVersion} as "policyVersion",
    (array['','suspected','confirmed'])[d.attack_tool + 1] as "attackTool", d.evidence as "evidence", d.missing_evidence as "missingEvidence",
    case when d.accepted then (
      select json_build_object('id', f.acceptance_id, 'reason', f.reason, 'acceptedBy', f.accepted_by,
        'acceptedAt', to_char(f.accepted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      from accepted_findings f where f.fingerprint = d.policy_rule_fingerprint) end as "acceptance", d.vulnerabilities as "vulnerabilities",
    ${riskScore} as "riskScore", ${riskFactors} as "riskFactors"`,
}

const anyFingerprint = (condition: string) =>
  `exists (select 1 from designs d where d.model_id = m.model_id and ${condition})`
const modelIcon = '(select max(d.icon) from designs d where d.model_id = m.model_id)'
const modelSeverity = 'coalesce((select max(d.severity) from designs d where d.model_id = m.model_id), 10)'

/** Peripherals by model, from the counters. */
export const modelsList: ListSpec = {
  name: 'peripheral-models',
  from: 'models m',
  id: 'm.model_id',
  ties: ['m.model_id'],
  defaultSort: [
    { key: 'severity', descending: true },
    { key: 'agentsCount', descending: true },
  ],
  search: (needle) => inKept('m.folded', needle),
  columns: {
    vid: { sort: 'm.vid', filter: contains('lower(m.vid)') },
    pid: { sort: 'm.pid', filter: contains('lower(m.pid)') },
    guiVid: { sort: 'm.vendor', filter: (_f, text) => sql`m.model_id in (${modelsOfVendor(text)})`, names: ['vendor'] },
    guiPid: { sort: 'm.product', filter: contains('lower(m.product)'), names: ['productInfo'] },
    devIcon: { sort: modelIcon, filter: isNumber(modelIcon) },
    devIconDescription: { sort: iconName(modelIcon) },
    agentsCount: { sort: 'm.hosts' },
    peripheralsCount: { sort: 'm.devices' },
    isVulnerablePeripheral: { sort: anyFingerprint('d.vulnerable'), filter: isTrue(anyFingerprint('d.vulnerable')) },
    isKnownAttackTool: {
      sort: anyFingerprint('d.attack_tool > 0'),
      filter: isTrue(anyFingerprint('d.attack_tool > 0')),
    },
    severity: { sort: modelSeverity },
    firstSeen: { sort: 'm.first_seen' },
    lastSeen: { sort: 'm.last_seen' },
  },
  rowJoins: 'join models m on m.model_id = ids.id',
  rowSelect: `m.vid as "vid", m.pid as "pid", m.vendor as "guiVid", m.product as "guiPid", coalesce(${modelIcon}, 98) as "devIcon",
    ${iconName(modelIcon)} as "devIconDescription", m.hosts as "agentsCount", m.devices as "peripheralsCount",
    ${anyFingerprint('d.vulnerable')} as "isVulnerablePeripheral", ${anyFingerprint('d.attack_tool > 0')} as "isKnownAttackTool",
    ${modelSeverity} as "severity", ${zonelessSql('m.first_seen')} as "firstSeen", ${zonelessSql('m.last_seen')} as "lastSeen"`,
}

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
