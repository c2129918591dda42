import { type AuditRecord, severityNames } from '@portcullis/contract'
import { sql } from '#platform/db/sql.ts'
import { contains, likePattern, oneOf } from '#platform/list/columns.ts'
import type { ListSpec } from '#platform/list/compile.ts'
import { requireSeverity } from '#platform/severity.ts'
import { requireTime } from '#platform/time.ts'

/** Returns the SQL for a member of the chained record. */
const member = (key: keyof AuditRecord): string => `(r.record::json->>'${key}')`
const severityName = `(array[${severityNames.map((name) => `'${name}'`).join(', ')}])[r.severity + 1]`

/** The trail as a list, for exports. Filters on members that are not columns read every record of the time range. */
export const auditList: ListSpec = {
  name: 'audit',
  from: 'audit_records r',
  id: 'r.audit_id',
  ties: ['r.audit_id'],
  defaultSort: [{ key: 'auditTrailID', descending: true }],
  search: (needle) => sql`lower(r.record) like ${likePattern(needle)}::text`,
  columns: {
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
