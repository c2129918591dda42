import { invalid } from '@portcullis/platform/server/app-error.ts'
import { type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import { contains, hasAnyTag, likePattern, modelsOfVendor, oneOf } from '@portcullis/platform/server/list/columns.ts'
import { listSpec } from '@portcullis/platform/server/list/spec.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import { alertsAtOnce, hostFindingList, severities } from '#features/contract.ts'
import { containsInFingerprint } from './peripherals.read.ts'

const host = '(select r.host from agent_rows r where r.agent_id = f.agent_id)'
const ofModel = (expression: string): string =>
  `(select ${expression} from designs d join models m on m.model_id = d.model_id where d.design_id = f.fingerprint_id)`
const product = `coalesce(nullif(m.product, ''), d.product)`
const serial = `coalesce((select p.serial_folded from peripherals p where p.agent_id = f.agent_id and p.device_id = f.device_id), '')`
const inModel = containsInFingerprint('f.fingerprint_id')
const time = (column: string) => ({ select: utcSql(column), sort: column })

/** Selects the findings of alerts: those with the same severity and model on the same hosts. */
export const findingsOfAlerts = (ids: SqlFragment): SqlFragment => sql`
  select o.finding_id from notices n join notice_hosts h on h.notice_id = n.notice_id
    join host_findings o on o.agent_id = h.agent_id
    join designs d on d.design_id = o.fingerprint_id join models m on m.model_id = d.model_id
  where n.notice_id = any(${ids}) and case n.kind when 'attackTool' then o.severity >= ${severities.suspected}::int
      when 'vulnerable' then o.severity = ${severities.vulnerable}::int else false end
    and (n.entity_type <> 'Model' or n.entity_id = m.vid || ':' || m.pid)`

/** Findings of all hosts. Its default order is an index. */
export const findingsList = listSpec(hostFindingList, {
  name: 'findings',
  from: 'host_findings f',
  id: 'f.finding_id',
  ties: ['f.finding_id'],
  defaultSort: [
    { key: 'state', descending: true },
    { key: 'severity', descending: true },
    { key: 'lastAttached', descending: true },
  ],
  search: (needle) => {
    const pattern = likePattern(needle)
    return sql`(f.agent_id in (select r.agent_id from agent_rows r where r.host like ${pattern}::text or r.address like ${pattern}::text)
      or ${inModel((text) => sql`d.folded like ${text}::text`)('', needle)}
      or lower(f.device_id) like ${pattern}::text or lower(f.comment) like ${pattern}::text)`
  },
  columns: {
    id: 'f.finding_id',
    uuid: 'f.agent_id',
    hostIdentifier: { select: 'r.host_name', sort: host },
    deviceID: 'f.device_id',
    severity: 'f.severity',
    finding: { select: 'd.findings', sort: `(select d.findings from designs d where d.design_id = f.fingerprint_id)` },
    vid: { select: 'm.vid', sort: ofModel('m.vid') },
    pid: { select: 'm.pid', sort: ofModel('m.pid') },
    guiVid: { select: 'm.vendor', sort: ofModel('m.vendor') },
    guiPid: { select: product, sort: ofModel(`lower(${product})`) },
    serialNumber: { select: `coalesce(p.serial, '')`, sort: serial },
    state: { select: `case when f.verdict is null then 'Open' else 'Closed' end`, sort: '(f.verdict is null)' },
    attached: '(f.detached_at is null)',
    openedAt: time('f.opened_at'),
    lastAttached: time('f.last_attached'),
    detachedAt: time('f.detached_at'),
    attachments: 'f.attachments',
    verdict: 'f.verdict',
    comment: { select: 'f.comment', sort: 'lower(f.comment)' },
    closedAt: time('f.closed_at'),
    closedBy: { select: 'f.closed_by', sort: 'lower(f.closed_by)' },
    hashtags: 'r.tags',
  },
  filters: {
    state: oneOf({ Open: 'f.verdict is null', Closed: 'f.verdict is not null' }),
    hostIdentifier: (_f, text) =>
      sql`f.agent_id in (select r.agent_id from agent_rows r where r.host like ${likePattern(text)}::text)`,
    hostUuid: (_f, text) => sql`f.agent_id::text = ${text.trim().toLowerCase()}::text`,
    alert: (field, text) => {
      const ids = text.split(',').map((id) => id.trim())
      if (ids.length > alertsAtOnce || ids.some((id) => !/^\d{1,10}$/.test(id)))
        throw invalid(field, `must be up to ${alertsAtOnce} IDs of alerts, separated by commas`)
      return sql`f.finding_id in (${findingsOfAlerts(sql`${ids.map(Number)}::bigint[]`)})`
    },
    vendor: (_f, text) =>
      sql`f.fingerprint_id in (select d.design_id from designs d where d.model_id in (${modelsOfVendor(text)}))`,
    productInfo: inModel((text) => sql`(lower(m.product) like ${text}::text or lower(d.product) like ${text}::text)`),
    vid: inModel((text) => sql`lower(m.vid) like ${text}::text`),
    pid: inModel((text) => sql`lower(m.pid) like ${text}::text`),
    serialNumber: contains(serial),
    hashtags: hasAnyTag('f.agent_id', 'agent_tags', 'agent_id'),
  },
  rowJoins: `join host_findings f on f.finding_id = ids.id
    join (select a.agent_id, a.host as host_name, n.tags from agents a join agent_rows n on n.agent_id = a.agent_id) r on r.agent_id = f.agent_id
    join designs d on d.design_id = f.fingerprint_id join models m on m.model_id = d.model_id
    left join peripherals p on p.agent_id = f.agent_id and p.device_id = f.device_id`,
})
