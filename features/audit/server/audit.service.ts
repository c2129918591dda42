import type { Clock } from '@portcullis/platform/server/clock.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { zoneless } from '@portcullis/platform/server/time.ts'
import {
  type AuditAction,
  type AuditFact,
  type AuditObject,
  type AuditRecord,
  auditActions,
} from '#features/contract.ts'
import { appendRecord } from './audit.store.ts'

/** An object of an entry. */
export type AuditTarget = Pick<AuditObject, 'kind' | 'name'> & { id?: string }

/** Readable details of an entry, in addition to its text. */
export interface AuditFacts {
  /** The objects, at most 1,000; long names of many are shortened. Absent: the entity, if the action has a kind of object. */
  objects?: readonly AuditTarget[]
  /** Number of objects, if the entry does not name all of them. */
  count?: number
  /** Number of hosts, if the objects are others. */
  hosts?: number
  /** Form of the action, for example the order of a command. */
  variant?: string
  reason?: string
  /** What changed. */
  facts?: readonly AuditFact[]
}

/** One entry of the audit trail. Never put a secret here; state that it changed. */
export interface AuditEntry extends AuditFacts {
  /** `noun.verb`, past tense: `account.created`. */
  action: AuditAction
  /** The object, as people name it. */
  entity: string
  /** Text and values. */
  details?: string
  /** Syslog number; 5 (Notice) by default. */
  severity?: number
  outcome?: 'success' | 'failure'
}

/** The audit trail, as other capabilities use it. */
export interface Audit {
  /** Records a change in its own transaction. Call it last: the head of the chain stays locked until COMMIT. */
  write(tx: Tx, actor: Actor, entry: AuditEntry): Promise<void>
}

type StoredRecord = Omit<AuditRecord, 'auditTrailID' | 'severityString'>

/** Number of objects that one record names. */
export const objectsMost = 1_000
const factsMost = 200
const nameMax = 256
const valueMax = 2_048
/**
 * UTF-8 bytes of the ids and names of a record's objects. The index stores up to seven bytes for each of them, and the
 * database damages a `tsvector` beyond 1 MiB without an error: the record would no longer be found by its words.
 */
const objectBytesMost = 140_000

/** Bounds a text. The database accepts no NUL in JSON, and no half of a surrogate pair. */
const bounded = (text: string, max: number): string => text.slice(0, max).replaceAll('\0', '\ufffd').toWellFormed()

/** Bounds the objects of a record. Shortens long names if there are too many of them. */
const boundedObjects = (objects: readonly AuditTarget[]): AuditTarget[] => {
  const inNames = (max: number) =>
    objects.slice(0, objectsMost).map(
      ({ kind, id, name }): AuditTarget => ({
        kind,
        ...(id === undefined || id === '' ? {} : { id: bounded(id, nameMax) }),
        name: bounded(name, max),
      }),
    )
  const bytesOf = (some: readonly AuditTarget[]) =>
    some.reduce((sum, { id = '', name }) => sum + Buffer.byteLength(id) + Buffer.byteLength(name), 0)
  let max = nameMax
  let some = inNames(max)
  while (max > 32 && bytesOf(some) > objectBytesMost) {
    max /= 2
    some = inNames(max)
  }
  return some
}

/** Returns the readable members. Omits empty ones. */
const factsOf = (actor: Actor, entry: AuditEntry) => {
  const kind = auditActions[entry.action].object
  const objects = entry.objects ?? (kind === undefined ? [] : [{ kind, name: entry.entity }])
  const { variant = '', reason = '', facts = [], count, hosts } = entry
  return {
    ...(variant === '' ? {} : { variant: bounded(variant, nameMax) }),
    ...(count === undefined ? {} : { count }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(reason === '' ? {} : { reason: bounded(reason, valueMax) }),
    objects: boundedObjects(objects),
    ...(facts.length === 0
      ? {}
      : {
          facts: facts.slice(0, factsMost).map(({ name, before, after }) => ({
            name: bounded(name, nameMax),
            before: bounded(before, valueMax),
            after: bounded(after, valueMax),
          })),
        }),
    credential: actor.kind,
    ...(actor.requestId === undefined ? {} : { requestId: actor.requestId }),
  }
}

export const auditWriter = (clock: Clock): Audit => ({
  write: async (tx, actor, entry) => {
    const createdAt = new Date(clock.now())
    const record: StoredRecord = {
      creationTime: zoneless(createdAt),
      userName: actor.kind === 'system' ? 'system' : actor.userName,
      action: entry.action,
      severity: entry.severity ?? 5,
      entity: bounded(entry.entity, 512),
      details: bounded(entry.details ?? '', 8192),
      sourceIp: actor.ip,
      outcome: entry.outcome ?? 'success',
    }
    await appendRecord(tx, {
      createdAt,
      actor: record.userName,
      action: record.action,
      severity: record.severity,
      record: JSON.stringify({ ...record, ...factsOf(actor, entry) }),
    })
  },
})
