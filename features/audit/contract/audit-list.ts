import {
  endFilter,
  enumFilter,
  labelledFilter,
  minimumSeverityFilter,
  textFilter,
  timeFilter,
} from '@portcullis/platform/contract/filters.ts'
import { list } from '@portcullis/platform/contract/list.ts'
import { closed, listQuery, nullable, operation, page, utcTime } from '@portcullis/platform/contract/operation.ts'
import { severityNames } from '@portcullis/platform/contract/severities.ts'
import { type Static, Type } from 'typebox'
import { AuditRecord } from './audit.ts'
import { auditActionCodes, auditAreaNames, auditAreas, auditObjectKinds } from './audit-actions.ts'

const textMax = 256

/** Defines a filter for records about an object, by its name. */
const objectFilter = (label: string, what: string, ids: string) =>
  labelledFilter(
    Type.Optional(
      Type.String({
        maxLength: textMax,
        description: `Filters by ${what}: its ${ids}, or words of its name. A word matches from its start, ignoring case.`,
      }),
    ),
    { kind: 'text', label },
  )

/** The filters of the audit trail. */
export const auditFilters = {
  person: labelledFilter(
    Type.Optional(
      Type.String({
        maxLength: textMax,
        description: 'Filters by the account that acted: its exact user name, ignoring case. `system`: the server.',
      }),
    ),
    { kind: 'enum', label: 'Person', isSingle: true },
  ),
  area: enumFilter('the area of the action', auditAreas, { label: 'Area', labels: auditAreaNames }),
  actions: enumFilter('the action', auditActionCodes, { label: 'Action' }),
  host: objectFilter('Host', 'a host', 'ID'),
  device: objectFilter('Device', 'a device model', '`VID:PID`'),
  rule: objectFilter('Rule', 'a rule', 'ID'),
  account: objectFilter('Account', 'an account that was acted on', 'user name'),
  time: timeFilter('creationTime', { of: 'time' }),
  outcome: enumFilter('outcome', ['success', 'failure'], {
    isSingle: true,
    labels: { success: 'Done', failure: 'Refused' },
  }),
  minimumSeverity: minimumSeverityFilter(severityNames.slice(0, 7)),
}

export const AuditObject = closed({
  kind: Type.Enum(auditObjectKinds),
  id: Type.String({ description: 'ID of the object. Empty if the record states the name only.' }),
  name: Type.String({ description: 'Name of the object at the time of the action.' }),
  exists: Type.Boolean({
    description: 'True if a host, device model, rule or account with this ID or name exists now.',
  }),
})
export type AuditObject = Static<typeof AuditObject>

export const AuditFact = closed({
  name: Type.String({ description: 'What changed.' }),
  before: Type.String({ description: 'Value before. Empty: none.' }),
  after: Type.String({ description: 'Value after. Empty: none.' }),
})
export type AuditFact = Static<typeof AuditFact>

const { details: _details, ...lineOfRecord } = AuditRecord.properties

const line = {
  ...lineOfRecord,
  variant: Type.String({ description: 'Form of the action, for example the order of a command. Empty: none.' }),
  count: nullable(Type.Integer({ minimum: 0 }), {
    description: 'Number of objects of the action. `null`: the record does not state it.',
  }),
  hosts: nullable(Type.Integer({ minimum: 0 }), {
    description: 'Number of hosts, if the objects are others. `null`: the record does not state it.',
  }),
  reason: Type.String({ description: 'Reason that the person gave. Empty: none.' }),
}

/** A record of the audit trail, as the console shows it on one line. */
export const AuditRow = closed({
  ...line,
  objects: Type.Array(AuditObject, { maxItems: 3, description: 'The first objects of the action.' }),
})
export type AuditRow = Static<typeof AuditRow>

/** The list of audit records. */
export const auditList = list({
  title: 'Audit trail',
  row: AuditRow,
  filters: auditFilters,
  unsorted: [
    ...(['userName', 'action', 'severity', 'severityString', 'entity', 'sourceIp', 'outcome', 'variant'] as const),
    ...(['count', 'hosts', 'reason', 'objects'] as const),
  ],
  table: {
    defaultSort: 'creationTime_desc',
    filters: ['person', 'time', 'area', 'actions', 'host', 'device', 'rule', 'account', 'outcome', 'minimumSeverity'],
    columns: [
      { id: 'when', of: 'creationTime', width: 196, shown: true, title: 'When', align: 'left', show: 'local' },
      {
        id: 'what',
        of: 'userName',
        width: 200,
        grow: true,
        shown: true,
        title: 'Action and reason',
        isTitle: true,
        exports: ['userName', 'action', 'entity', 'details', 'outcome'],
      },
      { id: 'person', of: 'userName', width: 140, title: 'Person' },
      { id: 'severity', of: 'severityString', width: 118 },
      { id: 'address', of: 'sourceIp', width: 140, title: 'IP address', show: 'code' },
      { id: 'number', of: 'auditTrailID', width: 90, title: 'Number' },
    ],
  },
})

export const auditFileList = list({
  title: auditList.title,
  row: AuditRecord,
  filters: {
    ...auditFilters,
    FromDate: endFilter('Start time, inclusive.', 'From'),
    userName: textFilter('userName'),
    action: textFilter('action'),
    entity: textFilter('entity'),
  },
  unsorted: ['details'],
  file: {
    pdf: ['creationTime', 'userName', 'action', 'entity', 'details', 'outcome'],
    summary: ['outcome'],
    time: 'creationTime',
    permission: 'audit:read',
  },
})

export const getAuditRecords = operation({
  id: 'getAuditRecords',
  method: 'GET',
  path: '/prime/webui/admin/audit/records',
  tag: 'Admin',
  summary: 'Lists audit records by person, action, object and time',
  description:
    'Returns the newest records first. `GlobalSearch` returns records that contain all of its words in their names, details or reason. A word matches from its start, ignoring case.',
  permission: 'audit:read',
  query: closed({ ...listQuery, ...auditFilters }),
  response: page(AuditRow),
  responseKind: 'list',
})

/** A record of the audit trail with everything that it states. */
export const AuditDetail = closed({
  ...line,
  objects: Type.Array(AuditObject, { description: 'All objects of the action.' }),
  details: Type.String({ description: 'Description with values. Secrets appear only as "changed".' }),
  facts: Type.Array(AuditFact, { description: 'What changed, with the values before and after.' }),
  credential: Type.Enum(['session', 'apiToken', 'system', ''], {
    description: 'Kind of the credential of the caller. Empty in records of earlier releases.',
  }),
  requestId: Type.String({
    description: 'ID of the request in the server log and of its trace. Empty if no request caused the action.',
  }),
  record: Type.String({ description: 'The exact text of the record, as it was hashed.' }),
  hash: Type.String({ description: 'SHA-256 (hex) of the previous hash, the number and the text of the record.' }),
  previousHash: Type.String({ description: 'Hash (hex) of the previous record. Zeros for the first record.' }),
  checkpoint: nullable(
    closed({
      number: Type.Integer({ minimum: 1, description: 'Number of the checkpoint.' }),
      auditTrailID: Type.Integer({ minimum: 1, description: 'Newest record that the checkpoint covers.' }),
      time: utcTime('Time of the checkpoint.'),
      keyId: Type.String({ description: 'ID of the signing key.' }),
    }),
    { description: 'The first checkpoint that covers the record. `null`: no checkpoint covers it yet.' },
  ),
})
export type AuditDetail = Static<typeof AuditDetail>

export const getAuditRecord = operation({
  id: 'getAuditRecord',
  method: 'GET',
  path: '/prime/webui/admin/audit/records/{auditTrailID}',
  tag: 'Admin',
  summary: 'Returns an audit record with its values, exact text, hash and checkpoint',
  permission: 'audit:read',
  params: closed({
    auditTrailID: Type.String({ maxLength: 15, description: 'Number of the record.' }),
  }),
  response: AuditDetail,
  errors: ['not_found'],
})

export const getAuditPeople = operation({
  id: 'getAuditPeople',
  method: 'GET',
  path: '/prime/webui/admin/audit/people',
  tag: 'Admin',
  summary: 'Lists the people who appear in the audit trail',
  description: 'Returns the user names of at most 1,000 accounts and parts of the server that have audit records.',
  permission: 'audit:read',
  response: closed({ data: Type.Array(Type.String(), { description: 'User names, in alphabetical order.' }) }),
})
