import { type AuditRecord, severityNames } from '@portcullis/contract'
import type { Clock } from '#platform/clock.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Actor } from '#platform/http/actor.ts'
import { zoneless } from '#platform/time.ts'
import type { AuditSelection, AuditStore } from './audit.store.ts'

/** One entry of the audit trail. Never put a secret here; state that it changed. */
export interface AuditEntry {
  /** `noun.verb`, past tense: `account.created`. */
  action: string
  /** The object, as people name it. */
  entity: string
  /** Text and values. */
  details?: string
  /** Syslog number; 5 (Notice) by default. */
  severity?: number
  outcome?: 'success' | 'failure'
}

/** The audit trail, as other features use it. */
export interface Audit {
  /** Records a change in its own transaction. Call it last: the head of the chain stays locked until COMMIT. */
  write(tx: Tx, actor: Actor, entry: AuditEntry): Promise<void>
}

type StoredRecord = Omit<AuditRecord, 'auditTrailID' | 'severityString'>

export type AuditService = ReturnType<typeof createAuditService>

export const createAuditService = ({ store, clock }: { store: AuditStore; clock: Clock }) => ({
  write: async (tx: Tx, actor: Actor, entry: AuditEntry): Promise<void> => {
    const createdAt = new Date(clock.now())
    const record: StoredRecord = {
      creationTime: zoneless(createdAt),
      userName: actor.kind === 'system' ? 'system' : actor.userName,
      action: entry.action,
      severity: entry.severity ?? 5,
      // A cut inside a surrogate pair would make the record invalid text for the database.
      entity: entry.entity.slice(0, 512).toWellFormed(),
      details: (entry.details ?? '').slice(0, 8192).toWellFormed(),
      sourceIp: actor.ip,
      outcome: entry.outcome ?? 'success',
    }
    await store.append(tx, {
      createdAt,
      actor: record.userName,
      action: record.action,
      severity: record.severity,
      record: JSON.stringify(record),
    })
  },

  read: async (selection: AuditSelection): Promise<AuditRecord[]> =>
    (await store.select(selection)).map((row) => {
      const { creationTime, userName, action, severity, entity, details, sourceIp, outcome } = JSON.parse(
        row.record,
      ) as StoredRecord
      return {
        auditTrailID: row.audit_id,
        creationTime,
        userName,
        action,
        severity,
        severityString: severityNames[severity] ?? 'Notice',
        entity,
        details,
        sourceIp,
        outcome,
      }
    }),
})
