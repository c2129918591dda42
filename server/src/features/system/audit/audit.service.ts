import { type AuditRecord, severityNames } from '@portcullis/contract'
import type { Clock } from '#platform/clock.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Actor } from '#platform/http/actor.ts'
import { zoneless } from '#platform/time.ts'
import type { AuditSelection, AuditStore } from './audit.store.ts'

/** What a feature tells the trail. Never put a secret here; say that it changed. */
export interface AuditEntry {
  /** `noun.verb`, past tense: `account.created`. */
  action: string
  /** The object, as people name it. */
  entity: string
  /** In words and values. */
  details?: string
  /** Syslog number; 5 (Notice) when absent. */
  severity?: number
  outcome?: 'success' | 'failure'
}

/** The trail as every other feature sees it. */
export interface Audit {
  /** Records a change inside its own transaction: no record, no change. Call it last, the chain's head stays locked until COMMIT. */
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
      // Cut between two halves of a character, the record would be no text that the database reads.
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
