import {
  type AuditCheckpoint,
  CHECKPOINT_GENESIS,
  type CheckpointKeys,
  checkpointHash,
  checkSignature,
  parseCheckpoint,
} from '@portcullis/domain'
import type { Context } from '@portcullis/platform/server/context.ts'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import type { Audit } from './audit.service.ts'
import { type Anchor, type CheckpointAnchor, TrailFault } from './checkpoints.anchor.ts'
import type { CheckpointsStore, Position } from './checkpoints.store.ts'

/** Parses the checkpoint of a line. Returns null without a line. */
export const checkpointOf = (line: string | null, where: string): AuditCheckpoint | null => {
  if (line === null) return null
  const checkpoint = parseCheckpoint(line)
  if (checkpoint === null) throw new TrailFault(`The newest checkpoint of the ${where} cannot be read.`)
  return checkpoint
}

/** Compares the database with the anchor. The server signs nothing that contradicts the anchor. */
export const createAnchorCheck = (
  { db, keys, audit }: Context & { audit: Audit },
  { store, anchor }: { store: CheckpointsStore; anchor: CheckpointAnchor },
) => {
  const { publicKey } = keys.audit
  let fault = ''

  const anchorOf = (line: string | null, last: AuditCheckpoint | null): Anchor =>
    line === null || last === null
      ? { number: 0, auditTrailID: 0, hash: CHECKPOINT_GENESIS }
      : { number: last.number, auditTrailID: last.auditTrailID, hash: checkpointHash(line) }

  /** Returns the newest checkpoint of the database, if a key of this server signed it. */
  async function genuine(line: string | null): Promise<AuditCheckpoint | null> {
    const last = checkpointOf(line, 'database')
    if (last !== null && checkSignature(last, await anchor.keys(publicKey)) !== 'good')
      throw new TrailFault(`Checkpoint ${last.number} of the database was not signed by a key of this server.`)
    return last
  }

  /** Checks the database against the anchor, moves the anchor forward and returns the newest checkpoint. */
  async function check(q: Queryable, { line, newest }: Position): Promise<AuditCheckpoint | null> {
    const last = await genuine(line)
    if (last !== null && newest < last.auditTrailID)
      throw new TrailFault(
        `The audit trail ends at record ${newest}, but checkpoint ${last.number} covers record ${last.auditTrailID}. Records were removed.`,
      )
    const known = await anchor.read()
    if (known === null && last === null && newest > 0 && !(await store.isJustUpgraded(q)))
      throw new TrailFault(`${newest} records have no checkpoint, and the anchor of this server is missing.`)
    if (known !== null && known.number > 0) {
      // Reads again: another server may have signed and moved the anchor since the position was read.
      const [held] = await store.linesFrom(q, known.number, 1)
      if (held === undefined || checkpointHash(held) !== known.hash)
        throw new TrailFault(
          `The database does not contain checkpoint ${known.number} of the anchor. It was emptied, rebuilt or restored from a backup.`,
        )
    }
    if (known === null || (last?.number ?? 0) > known.number || fault !== '')
      fault = await anchor.write(anchorOf(line, last))
    return last
  }

  return {
    check,

    /** Returns the keys that may sign a checkpoint of this server. */
    keys: (): Promise<CheckpointKeys> => anchor.keys(publicKey),

    /** Returns why the anchor could not be written. Empty if it was. */
    fault: (): string => fault,

    /** Sets the anchor to the database after a person confirmed that the database is correct, and records it. */
    reanchor: async (): Promise<Anchor> => {
      const next = await db.transaction(async (tx) => {
        const { line } = await store.position(tx)
        const to = anchorOf(line, await genuine(line))
        const before = await anchor.read().catch((error: unknown) => {
          if (error instanceof TrailFault) return null
          throw error
        })
        await audit.write(tx, systemActor('system'), {
          action: 'audit_anchor.set',
          entity: `checkpoint ${to.number}`,
          details:
            before === null ? 'previous anchor: none, or unreadable' : `previous anchor: checkpoint ${before.number}`,
          severity: 3,
        })
        return to
      })
      const problem = await anchor.write(next)
      if (problem !== '') throw new TrailFault(problem)
      return next
    },
  }
}
