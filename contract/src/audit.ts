import { type Static, Type } from 'typebox'
import { closed, ignoredPageNumber, nullable, operation, utcTime, zonelessTime } from './operation.ts'

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

const followAudits = {
  method: 'GET',
  tag: 'Events',
  description:
    'Without a start: the newest rows. With FromAuditTrailId or FromDate: the oldest PageSize rows from there, written newest first, so that the id of row 0 plus one is the next start.',
  permission: 'audit:read',
  query: closed({
    MinimumSeverity: Type.Optional(Type.String({ maxLength: 20, description: 'Name or number; this or more severe.' })),
    PageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, default: 50 })),
    PageNumber: ignoredPageNumber,
    FromDate: Type.Optional(Type.String({ maxLength: 64, description: 'Inclusive.' })),
    FromAuditTrailId: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 9_007_199_254_740_991, description: 'Inclusive.' }),
    ),
  }),
  response: closed({ data: Type.Array(AuditRecord) }),
} as const

export const getAudits = operation({
  ...followAudits,
  id: 'getAudits',
  path: '/prime/webui/events/GetAuditsIntegration',
  summary: 'Reads the audit trail, for SIEM connectors',
})

export const getAuditTrails = operation({
  ...followAudits,
  id: 'getAuditTrails',
  path: '/prime/webui/Events/GetAuditTrails',
  summary: 'Reads the audit trail under the name that newer SIEM connectors use',
})

export const AuditStatus = closed({
  newestAuditTrailID: Type.Integer({ minimum: 0, description: 'Number of the newest record, and so of all.' }),
  uncovered: Type.Integer({ minimum: 0, description: 'Records that no checkpoint covers yet.' }),
  lastCheckpoint: nullable(
    closed({
      number: Type.Integer({ minimum: 1, description: 'Of the checkpoint, from 1 without gaps.' }),
      auditTrailID: Type.Integer({ minimum: 1, description: 'The newest record that it covers.' }),
      time: utcTime('When it was made.'),
      keyId: Type.String({ description: 'Key that signed it: the first 16 digits of the SHA-256 of its SPKI.' }),
      hash: Type.String({ description: 'Hash of the newest record that it covers, hexadecimal.' }),
    }),
    { description: '`null`: none was made yet.' },
  ),
  keyId: Type.String({ description: 'Key that signs now.' }),
  publicKey: Type.String({ description: 'Its public half, as PEM.' }),
  secondSink: closed(
    {
      upTo: Type.Integer({ minimum: 0, description: 'The newest checkpoint that lies there; 0: none.' }),
      isCurrent: Type.Boolean({ description: 'Whether it has all.' }),
    },
    { description: 'The copy outside of the database, of the replica that answers.' },
  ),
  problem: Type.String({ description: 'What is wrong, in a sentence; empty when nothing is.' }),
})
export type AuditStatus = Static<typeof AuditStatus>

export const auditStatus = operation({
  id: 'auditStatus',
  method: 'GET',
  path: '/prime/webui/admin/audit',
  tag: 'Admin',
  summary: 'Tells up to where the audit trail is signed, and by which key',
  description:
    'A checkpoint is made with every 1,000 records, or after a minute when there are new ones. It says how the trail stood, is signed by a key that is not in the database, and lies in a folder outside of it as well.',
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
  summary: 'Gives the whole audit trail as it is chained, for `verify-audit`',
  description:
    'A line of JSON for each record: number, the columns that lists go by, the text that was hashed, and its hash. Of one moment, in the order of their numbers, streamed.',
  permission: 'audit:read',
  heavy: 'export',
  ...lines,
})

export const exportAuditCheckpoints = operation({
  id: 'exportAuditCheckpoints',
  method: 'GET',
  path: '/prime/webui/admin/audit/checkpoints',
  tag: 'Admin',
  summary: 'Gives the checkpoints of the audit trail as they were signed',
  description:
    'A line of JSON each, from the database. Those that were kept outside of it prove more: what is missing at the end here cannot be seen.',
  permission: 'audit:read',
  heavy: 'export',
  ...lines,
})
