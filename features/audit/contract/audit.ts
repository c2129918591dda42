import {
  closed,
  ignoredPageNumber,
  nullable,
  operation,
  utcTime,
  zonelessTime,
} from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

/** A record of the audit trail, as SIEM connectors read it. */
export const AuditRecord = closed({
  auditTrailID: Type.Integer({ 'x-label': 'Record', description: 'Number of the record. Increases without gaps.' }),
  creationTime: zonelessTime('Time of the action.', { 'x-label': 'Time' }),
  userName: Type.String({ 'x-label': 'User', description: 'Account that performed the action. `system`: the server.' }),
  action: Type.String({ description: 'Action as `noun.verb`.' }),
  severity: Type.Integer({
    'x-label': 'Severity (number)',
    description: 'Syslog severity, 0 (Emergency) to 7 (Debug).',
  }),
  severityString: Type.String({ 'x-label': 'Severity', description: 'Name of the severity.' }),
  entity: Type.String({ 'x-label': 'About', description: 'Object of the action.' }),
  details: Type.String({
    'x-form': 'eventText',
    description: 'Description with values. Secrets appear only as "changed".',
  }),
  sourceIp: Type.String({ 'x-label': 'Source address', description: 'Address of the caller. Empty for the server.' }),
  outcome: Type.Enum(['success', 'failure'], { 'x-labels': { success: 'Success', failure: 'Failure' } }),
})
export type AuditRecord = Static<typeof AuditRecord>

const followAudits = {
  method: 'GET',
  tag: 'Events',
  description:
    'Without a start, returns the newest rows. With `FromAuditTrailId` or `FromDate`, returns the oldest `PageSize` rows from there, sorted newest first. To continue, use the ID of the first row plus one as the next start.',
  permission: 'audit:read',
  query: closed({
    MinimumSeverity: Type.Optional(
      Type.String({ maxLength: 20, description: 'Lowest severity to return, as a name or number.' }),
    ),
    PageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, default: 50 })),
    PageNumber: ignoredPageNumber,
    FromDate: Type.Optional(Type.String({ maxLength: 64, description: 'Start time, inclusive.' })),
    FromAuditTrailId: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 9_007_199_254_740_991, description: 'First record, inclusive.' }),
    ),
  }),
  response: closed({ data: Type.Array(AuditRecord) }),
} as const

export const getAudits = operation({
  ...followAudits,
  id: 'getAudits',
  path: '/prime/webui/events/GetAuditsIntegration',
  summary: 'Lists audit records for SIEM connectors',
})

export const getAuditTrails = operation({
  ...followAudits,
  id: 'getAuditTrails',
  path: '/prime/webui/Events/GetAuditTrails',
  summary: 'Lists audit records for newer SIEM connectors',
})

export const AuditStatus = closed({
  newestAuditTrailID: Type.Integer({
    minimum: 0,
    description: 'Number of the newest record, which is also the number of all records.',
  }),
  uncovered: Type.Integer({ minimum: 0, description: 'Number of records that no checkpoint covers yet.' }),
  lastCheckpoint: nullable(
    closed({
      number: Type.Integer({ minimum: 1, description: 'Number of the checkpoint, starting at 1, without gaps.' }),
      auditTrailID: Type.Integer({ minimum: 1, description: 'Newest record that the checkpoint covers.' }),
      time: utcTime('Time of the checkpoint.'),
      keyId: Type.String({ description: 'ID of the signing key: the first 16 hex digits of the SHA-256 of its SPKI.' }),
      hash: Type.String({ description: 'Hash (hex) of the newest record that the checkpoint covers.' }),
    }),
    { description: 'The newest checkpoint. `null`: no checkpoint exists yet.' },
  ),
  keyId: Type.String({ description: 'ID of the current signing key.' }),
  publicKey: Type.String({ description: 'Current public key as PEM.' }),
  secondSink: closed(
    {
      upTo: Type.Integer({ minimum: 0, description: 'Newest checkpoint in the copy. 0: none.' }),
      isCurrent: Type.Boolean({ description: 'True if the copy is complete.' }),
    },
    { description: 'Copy of the checkpoints outside the database, on the replica that handles the request.' },
  ),
  problem: Type.String({ description: 'Current problem, as a sentence. Empty: none.' }),
})
export type AuditStatus = Static<typeof AuditStatus>

export const auditStatus = operation({
  id: 'auditStatus',
  method: 'GET',
  path: '/prime/webui/admin/audit',
  tag: 'Admin',
  summary: 'Returns the checkpoints and signing key of the audit trail',
  description:
    'The server creates a checkpoint every 1,000 records, or after a minute if there are new records. A checkpoint records the state of the trail. It is signed with a key that is not in the database and is also stored in a folder outside the database.',
  permission: 'audit:read',
  response: AuditStatus,
  examples: {
    response: {
      newestAuditTrailID: 1240,
      uncovered: 6,
      lastCheckpoint: {
        number: 17,
        auditTrailID: 1234,
        time: '2031-05-04T10:11:12.345Z',
        keyId: '9f86d081884c7d65',
        hash: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      },
      keyId: '9f86d081884c7d65',
      publicKey: '-----BEGIN PUBLIC KEY-----\n…\n-----END PUBLIC KEY-----\n',
      secondSink: { upTo: 17, isCurrent: true },
      problem: '',
    },
  },
})

const lines = { response: Type.String(), responseKind: 'file', fileType: 'application/x-ndjson' } as const

export const exportAuditTrail = operation({
  id: 'exportAuditTrail',
  method: 'GET',
  path: '/prime/webui/admin/audit/trail',
  tag: 'Admin',
  summary: 'Exports the complete audit trail for `verify-audit`',
  description:
    'Streams one JSON line for each record, in the order of their numbers: the number, the indexed columns, the hashed text and its hash. The export is consistent as of one moment.',
  permission: 'audit:read',
  heavy: 'export',
  ...lines,
})

export const exportAuditCheckpoints = operation({
  id: 'exportAuditCheckpoints',
  method: 'GET',
  path: '/prime/webui/admin/audit/checkpoints',
  tag: 'Admin',
  summary: 'Exports the signed checkpoints of the audit trail',
  description:
    'Streams one JSON line for each checkpoint in the database. Copies outside the database are stronger evidence: this export cannot show that the newest checkpoints are missing.',
  permission: 'audit:read',
  heavy: 'export',
  ...lines,
})
