import type { AuditApi } from '#features/audit/index.ts'

/** What this feature needs of the audit trail. */
export type Audit = Pick<AuditApi, 'write'>
