import type { Context } from '@portcullis/platform/server/context.ts'
import { raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import { JsonStream, JsonText } from '@portcullis/platform/server/http/answer.ts'
import { largePage } from '@portcullis/platform/server/http/heavy-work.ts'
import { contains, type Filter, fold, isTime, oneOf } from '@portcullis/platform/server/list/columns.ts'
import { compileList } from '@portcullis/platform/server/list/compile.ts'
import { type ListSql, listSpec, selectOf } from '@portcullis/platform/server/list/spec.ts'
import { streamArray } from '@portcullis/platform/server/list/stream.ts'
import { requireSeverity } from '@portcullis/platform/server/severity.ts'
import { requireTime } from '@portcullis/platform/server/time.ts'
import {
  type AuditAction,
  type AuditArea,
  type AuditObjectKind,
  auditActionCodes,
  auditActions,
  auditAreas,
  auditFileList,
  auditList,
  type getAudits,
  paging,
  type QueryOf,
  severityNames,
} from '#features/contract.ts'

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

const atLeast =
  (severity: string): Filter =>
  (field, text) =>
    sql`${raw(severity)} <= ${requireSeverity(field, text)}::smallint`

/** The filters of the trail, over `audit_index i`. Those on terms share one scan of the index. */
const indexFilters = {
  person: (_field, text) => sql`lower(i.actor) = ${fold(text)}::text`,
  area: oneOf(Object.fromEntries(auditAreas.map((area) => [area, anyAction(codesOf(area))]))),
  actions: oneOf(Object.fromEntries(auditActionCodes.map((code) => [code, anyAction([code])]))),
  host: concerns('host'),
  device: concerns('device'),
  rule: concerns('rule'),
  account: concerns('account'),
  time: isTime('i.created_at'),
  outcome: oneOf({ success: 'not i.is_failure', failure: 'i.is_failure' }),
  minimumSeverity: atLeast('i.severity'),
} satisfies ListSql<typeof auditList>['filters']
const hasWords = (text: string): SqlFragment => sql`i.terms @@ audit_query(''::text, ${text}::text)`

const objectsOf = (limit: string): string => `(select coalesce(json_agg(json_build_object(
    'kind', o.kind, 'id', o.id, 'name', o.name, 'exists', audit_object_exists(o.kind, o.id, o.name))), '[]')
  from (select * from audit_objects(j.record) ${limit}) o)`

/** Returns the SQL for a member of a record as text. `j.record` is its `audit_json`. */
const member = (key: string): string => `coalesce(j.record->>'${key}', '')`
/** The columns of both lists. */
const shown = {
  userName: member('userName'),
  action: member('action'),
  severity: 'r.severity',
  severityString: severityName,
  entity: member('entity'),
  sourceIp: member('sourceIp'),
  outcome: member('outcome'),
}
const keysBy = (source: 'i' | 'r') => ({
  auditTrailID: { select: 'r.audit_id', sort: `${source}.audit_id` },
  creationTime: { select: member('creationTime'), sort: `${source}.created_at` },
})
const line = {
  ...keysBy('i'),
  ...shown,
  variant: member('variant'),
  count: "(j.record->>'count')::bigint",
  hosts: "(j.record->>'hosts')::bigint",
  reason: member('reason'),
}
const trail = {
  search: hasWords,
  total: sql`select h.n from ordered_head h where h.stream = 'audit'`,
  rowJoins: 'join audit_records r on r.audit_id = ids.id cross join lateral audit_json(r.record) j(record)',
}

/** The trail as people read it: filters by the index, newest first. */
export const recordsList = listSpec(auditList, {
  ...trail,
  name: 'audit-records',
  from: 'audit_index i',
  id: 'i.audit_id',
  ties: ['i.audit_id'],
  columns: { ...line, objects: objectsOf('limit 3') },
  filters: indexFilters,
})

/**
 * The trail for exports and SIEM connectors. They read the records, because nothing proves that the index is complete.
 * PostgreSQL leaves out the join if no filter or sort needs the index.
 */
export const recordsFileList = listSpec(auditFileList, {
  ...trail,
  name: 'audit',
  from: 'audit_records r left join audit_index i on i.audit_id = r.audit_id',
  id: 'r.audit_id',
  ties: ['r.audit_id'],
  columns: {
    ...keysBy('r'),
    userName: { select: shown.userName, sort: 'lower(r.actor)' },
    action: { select: shown.action, sort: 'r.action' },
    severity: 'r.severity',
    severityString: { select: shown.severityString, sort: 'r.severity' },
    entity: { select: shown.entity, sort: "audit_json(r.record)->>'entity'" },
    details: member('details'),
    sourceIp: { select: shown.sourceIp, sort: "audit_json(r.record)->>'sourceIp'" },
    outcome: { select: shown.outcome, sort: 'not i.is_failure' },
  },
  filters: {
    ...indexFilters,
    time: isTime('r.created_at'),
    minimumSeverity: atLeast('r.severity'),
    FromDate: (field, text) => sql`r.created_at >= ${requireTime(field, text).from.toISOString()}::timestamptz`,
    userName: contains('lower(r.actor)'),
    action: contains('lower(r.action)'),
    entity: contains("lower(audit_json(r.record)->>'entity')"),
  },
  defaultSort: [{ key: 'auditTrailID', descending: true }],
})

const surroundings = ['{"data":[', ']}'] as const

const detailSelect = selectOf({
  ...line,
  objects: objectsOf(''),
  details: member('details'),
  credential: member('credential'),
  requestId: member('requestId'),
})

/** Selects one record with everything that it states; `audit_records r` is its source. */
const auditDetail = (id: string): SqlFragment => sql`
  select row_to_json(t)::text as row from (
    select ${raw(detailSelect)}, coalesce(j.record->'facts', '[]') as "facts", r.record as "record", encode(r.hash, 'hex') as "hash",
      coalesce(encode(p.hash, 'hex'), repeat('0', 64)) as "previousHash",
      (select json_build_object('number', c.number, 'auditTrailID', c.audit_id, 'time', c.line::json->>'time', 'keyId', c.line::json->>'keyId')
        from audit_checkpoints c where c.audit_id >= r.audit_id order by c.audit_id limit 1) as "checkpoint"
    from audit_records r
      left join audit_records p on p.audit_id = r.audit_id - 1
      cross join lateral audit_json(r.record) j(record)
    where r.audit_id = ${id}::bigint) t`

/** Selects the actors of the trail. Each step of the recursion reads one entry of the index on actors. */
const auditPeople: SqlFragment = sql`
  with recursive p(actor) as (
    (select i.actor from audit_index i order by i.actor limit 1)
    union all
    select (select i.actor from audit_index i where i.actor > p.actor order by i.actor limit 1) from p where p.actor is not null)
  select p.actor from p where p.actor is not null limit 1000`

export const createAuditRead = ({ db, exportDb }: Pick<Context, 'db' | 'exportDb'>) => ({
  /** Returns the oldest matching records after a given start, or the newest without a start. Both are sorted newest first. */
  follow: async ({ FromAuditTrailId, ...query }: QueryOf<typeof getAudits>): Promise<JsonText | JsonStream> => {
    const { PageSize: limit = paging.defaultSize, FromDate } = query
    const order = raw(FromAuditTrailId === undefined && FromDate === undefined ? 'desc' : 'asc')
    const rows = sql`
      with ids as (
        select r.audit_id as id from ${raw(recordsFileList.from)}
        where r.audit_id >= ${FromAuditTrailId ?? 0}::bigint and ${compileList(recordsFileList, query).where}
        order by r.audit_id ${order} limit ${limit}::bigint)
      select row_to_json(t)::text as row from (
        select ${raw(recordsFileList.rowSelect)} from ids ${raw(recordsFileList.rowJoins)} order by ids.id desc) t`
    if (limit > largePage) return new JsonStream(streamArray(exportDb, rows, surroundings))
    const data = await db.query<{ row: string }>(rows)
    return new JsonText(`${surroundings[0]}${data.map(({ row }) => row).join(',')}${surroundings[1]}`)
  },

  /** Returns a record with everything that it states, as JSON text. */
  one: async (id: string): Promise<string | undefined> => (await db.query<{ row: string }>(auditDetail(id)))[0]?.row,

  people: async (): Promise<string[]> => (await db.query<{ actor: string }>(auditPeople)).map(({ actor }) => actor),
})
