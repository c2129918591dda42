import { type Static, Type } from 'typebox'
import { closed, operation, zonelessTime } from './operation.ts'

/** One record of the audit trail, as SIEM connectors read it. */
export const AuditRecord = closed({
  auditTrailID: Type.Integer({ description: 'Increasing without gaps.' }),
  creationTime: zonelessTime('When it happened.'),
  userName: Type.String({ description: 'Account that acted; `system` for the product itself.' }),
  action: Type.String({ description: 'What was done, as `noun.verb`.' }),
  severity: Type.Integer({ description: 'Syslog number, 0 Emergency to 7 Debug.' }),
  severityString: Type.String({ description: 'Name of the severity.' }),
  entity: Type.String({ description: 'What it was done to.' }),
  details: Type.String({ description: 'Words and values, secrets only as "changed".' }),
  sourceIp: Type.String({ description: 'Address of the caller; empty for the product itself.' }),
  outcome: Type.Enum(['success', 'failure']),
})
export type AuditRecord = Static<typeof AuditRecord>

/** Syslog severities by number. */
export const severityNames = [
  'Emergency',
  'Alert',
  'Critical',
  'Error',
  'Warning',
  'Notice',
  'Informational',
  'Debug',
] as const

export const getAudits = operation({
  id: 'getAudits',
  method: 'GET',
  path: '/prime/webui/events/GetAuditsIntegration',
  tag: 'Events',
  summary: 'Reads the audit trail, for SIEM connectors',
  description:
    'Without a start: the newest rows. With FromAuditTrailId or FromDate: the oldest PageSize rows from there, written newest first, so that the id of row 0 plus one is the next start.',
  permission: 'audit:read',
  query: closed({
    MinimumSeverity: Type.Optional(Type.String({ maxLength: 20, description: 'Name or number; this or more severe.' })),
    PageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, default: 50 })),
    FromDate: Type.Optional(Type.String({ maxLength: 64, description: 'Inclusive.' })),
    FromAuditTrailId: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 9_007_199_254_740_991, description: 'Inclusive.' }),
    ),
  }),
  response: closed({ data: Type.Array(AuditRecord) }),
})
