import {
  type AuditAction,
  type AuditArea,
  type AuditObjectKind,
  type AuditRecord,
  auditActionCodes,
  auditActions,
  auditAreas,
  severityNames,
} from '@portcullis/contract'
import { raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import { type Column, contains, type Filter, fold, isTime, oneOf } from '@portcullis/platform/server/list/columns.ts'
import type { ListSpec } from '@portcullis/platform/server/list/compile.ts'
import { requireSeverity } from '@portcullis/platform/server/severity.ts'
import { requireTime } from '@portcullis/platform/server/time.ts'

/** Returns the SQL for a member of the chained record. */
const member = (key: keyof AuditRecord): string => `(r.record::json->>'${key}')`
const severityName = `(array[${severityNames.map((name) => `'${name}'`).join(', ')}])[r.severity + 1]`

const quotedTerm = (term: string): string => `'${term.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

/** Our own codes contain no quotes. */
const anyAction = (codes: readonly string[]): string => `i.action in (${codes.map((code) => `'${code}'`).join(', ')})`
const codesOf = (area: AuditArea): AuditAction[] => auditActionCodes.filter((code) => auditActions[code].area === area)

/** Filters by an object: its id or name, or words of its name. */
const concerns =
  (kind: AuditObjectKind): Filter =>
  (_field, text) =>
    sql`i.terms @@ (${quotedTerm(`i:${kind}:${fold(text).slice(0, 256)}`)}::text::tsquery || audit_query(${`n:${kind}:`}::text, ${text}::text))`

/** The filters of the trail, over `audit_index i`. Those on terms share one scan of the index. */
const indexFilters: Readonly<Record<string, Filter>> = {
  person: (_field, text) => sql`lower(i.actor) = ${fold(text)}::text`,
  area: oneOf(Object.fromEntries(auditAreas.map((area) => [area, anyAction(codesOf(area))]))),
  actions: oneOf(Object.fromEntries(auditActionCodes.map((code) => [code, anyAction([code])]))),
  host: concerns('host'),
  device: concerns('device'),
  rule: concerns('rule'),
  account: concerns('account'),
  time: isTime('i.created_at'),
  outcome: oneOf({ success: 'not i.is_failure', failure: 'i.is_failure' }),
  minimumSeverity: (field, text) => sql`i.severity <= ${requireSeverity(field, text)}::smallint`,
}
const hasWords = (text: string): SqlFragment => sql`i.terms @@ audit_query(''::text, ${text}::text)`

const filterColumns = (of: (filter: Filter) => Filter): Record<string, Column> =>
  Object.fromEntries(Object.entries(indexFilters).map(([name, filter]) => [name, { filter: of(filter) }]))

const objectsOf = (limit: string): string => `(select coalesce(json_agg(json_build_object(
    'kind', o.kind, 'id', o.id, 'name', o.name, 'exists', audit_object_exists(o.kind, o.id, o.name))), '[]')
  from (select * from audit_objects(j.record) ${limit}) o)`

const rowMember = (key: string): string => `coalesce(j.record->>'${key}', '')`
const rowSelect = `r.audit_id as "auditTrailID", ${rowMember('creationTime')} as "creationTime", ${rowMember('userName')} as "userName",
  ${rowMember('action')} as "action", r.severity as "severity", ${severityName} as "severityString", ${rowMember('entity')} as "entity",
  ${rowMember('sourceIp')} as "sourceIp", ${rowMember('outcome')} as "outcome", ${rowMember('variant')} as "variant",
  (j.record->>'count')::bigint as "count", (j.record->>'hosts')::bigint as "hosts", ${rowMember('reason')} as "reason"`

/** The trail as people read it: filters by the index, newest first. */
export const auditRowsList: ListSpec = {
  name: 'audit-records',
  from: 'audit_index i',
  id: 'i.audit_id',
  ties: ['i.audit_id'],
  defaultSort: [{ key: 'creationTime', descending: true }],
  search: hasWords,
  total: sql`select h.n from ordered_head h where h.stream = 'audit'`,
  columns: {
    creationTime: { sort: 'i.created_at' },
    auditTrailID: { sort: 'i.audit_id' },
    ...filterColumns((filter) => filter),
  },
  rowJoins: 'join audit_records r on r.audit_id = ids.id cross join lateral audit_json(r.record) j(record)',
  rowSelect: `${rowSelect}, ${objectsOf('limit 3')} as "objects"`,
}

/** Selects one record with everything that it states; `audit_records r` is its source. */
export const auditDetail = (id: string): SqlFragment => sql`
  select row_to_json(t)::text as row from (
    select ${raw(rowSelect)}, ${raw(objectsOf(''))} as "objects", ${raw(rowMember('details'))} as "details",
      coalesce(j.record->'facts', '[]') as "facts", ${raw(rowMember('credential'))} as "credential",
      ${raw(rowMember('requestId'))} as "requestId", r.record as "record", encode(r.hash, 'hex') as "hash",
      coalesce(encode(p.hash, 'hex'), repeat('0', 64)) as "previousHash",
      (select json_build_object('number', c.number, 'auditTrailID', c.audit_id, 'time', c.line::json->>'time', 'keyId', c.line::json->>'keyId')
        from audit_checkpoints c where c.audit_id >= r.audit_id order by c.audit_id limit 1) as "checkpoint"
    from audit_records r
      left join audit_records p on p.audit_id = r.audit_id - 1
      cross join lateral audit_json(r.record) j(record)
    where r.audit_id = ${id}::bigint) t`

/** Selects the actors of the trail. Each step of the recursion reads one entry of the index on actors. */
export const auditPeople: SqlFragment = sql`
  with recursive p(actor) as (
    (select i.actor from audit_index i order by i.actor limit 1)
    union all
    select (select i.actor from audit_index i where i.actor > p.actor order by i.actor limit 1) from p where p.actor is not null)
  select p.actor from p where p.actor is not null limit 1000`

/** Returns the condition over `audit_records r` of a condition over the index. */
const inIndex = (condition: SqlFragment): SqlFragment =>
  sql`r.audit_id in (select i.audit_id from audit_index i where ${condition})`

/** The trail as a list, for exports. */
export const auditList: ListSpec = {
  name: 'audit',
  from: 'audit_records r',
  id: 'r.audit_id',
  ties: ['r.audit_id'],
  defaultSort: [{ key: 'auditTrailID', descending: true }],
  search: (needle) => inIndex(hasWords(needle)),
  columns: {
    ...filterColumns((filter) => (field, text) => {
      const condition = filter(field, text)
      return inIndex('set' in condition ? condition.set : condition)
    }),
    auditTrailID: { sort: 'r.audit_id' },
    creationTime: { sort: 'r.created_at' },
    userName: { sort: 'lower(r.actor)', filter: contains('lower(r.actor)') },
    action: { sort: 'r.action', filter: contains('lower(r.action)') },
    severity: { sort: 'r.severity' },
    severityString: { sort: 'r.severity' },
    entity: { sort: member('entity'), filter: contains(`lower(${member('entity')})`) },
    details: {},
    sourceIp: { sort: member('sourceIp') },
    outcome: {
      sort: member('outcome'),
      filter: oneOf({ success: `${member('outcome')} = 'success'`, failure: `${member('outcome')} = 'failure'` }),
    },
    minimumSeverity: { filter: (field, text) => sql`r.severity <= ${requireSeverity(field, text)}::smallint` },
    fromDate: {
      filter: (field, text) => sql`r.created_at >= ${requireTime(field, text).from.toISOString()}::timestamptz`,
    },
  },
  rowJoins: 'join audit_records r on r.audit_id = ids.id',
  rowSelect: `r.audit_id as "auditTrailID", ${member('creationTime')} as "creationTime", ${member('userName')} as "userName",
    ${member('action')} as "action", r.severity as "severity", ${severityName} as "severityString", ${member('entity')} as "entity",
    ${member('details')} as "details", ${member('sourceIp')} as "sourceIp", ${member('outcome')} as "outcome"`,
}
