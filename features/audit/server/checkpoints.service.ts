import {
  AUDIT_GENESIS,
  type AuditCheckpoint,
  type AuditLine,
  auditHash,
  CHECKPOINT_GENESIS,
  type CheckpointKeys,
  checkpointHash,
  checkpointKeyId,
  checkSignature,
  columnsAgree,
  parseCheckpoint,
  signCheckpoint,
} from '@portcullis/domain'
import type { Context } from '@portcullis/platform/server/context.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { locks, tryLock } from '@portcullis/platform/server/db/locks.ts'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import type { AuditStatus, HealthStatus } from '#features/contract.ts'
import type { Audit } from './audit.service.ts'
import { AnchorUnreadable, createCheckpointAnchor, TrailFault } from './checkpoints.anchor.ts'
import { checkpointOf, createAnchorCheck } from './checkpoints.anchor-check.ts'
import { createCheckpointSink } from './checkpoints.sink.ts'
import { createCheckpointsStore } from './checkpoints.store.ts'

/** Number of records after which a checkpoint is signed. */
const everyRecords = 1_000
/** Time after which a checkpoint is signed if there are new records. */
const everyMs = 60_000
/** Checkpoints per run. A trail of a million records from before checkpoints takes 20 runs. */
const maxPerRun = 50
/** Delay of checkpoints that causes a warning. */
const lateMs = 5 * 60_000

/** The first checkpoint over records older than this is itself recorded. */
const oldMs = 10 * 60_000

export type CheckpointsService = ReturnType<typeof createCheckpoints>

/** Returns the id of the first record that does not follow from those before it. Null if all do. */
const firstBroken = (rows: readonly AuditLine[], id: number, hash: Uint8Array): number | null => {
  let previous = hash
  for (const [i, row] of rows.entries()) {
    const due = id + 1 + i
    const own = auditHash(previous, due, row.record)
    if (row.id !== due || own.toString('hex') !== row.hash || !columnsAgree(row)) return due
    previous = own
  }
  return null
}

/** Signs the state of the trail, and copies signed checkpoints out of the database. */
export const createCheckpoints = (context: Context & { audit: Audit }) => {
  const { db, clock, log, config, audit } = context
  const key = context.keys.audit
  const store = createCheckpointsStore(db)
  // A folder that a person configured must exist.
  const sink = createCheckpointSink(config.auditDir, { mayMake: !config.isAuditDirGiven })
  const anchor = createCheckpointAnchor(config.keyFile, context.keys.derive('audit anchor'))
  const keyId = checkpointKeyId(key.publicKey)
  const anchored = createAnchorCheck(context, { store, anchor })
  let fault = ''
  /** Why the server cannot sign now, although it found no fault in the trail. */
  let obstacle = ''
  let sinkFault = ''
  let sinkNumber = 0
  let isLockMissed = false
  /**
   * Time since which records wait for the checkpoint after this one, by the clock of this process. The times in the records
   * come from the database, which an attacker may control.
   */
  let waiting: { upTo: number; since: number } | null = null
  function note(uncovered: number, upTo: number): void {
    if (uncovered < 1) waiting = null
    else if (waiting?.upTo !== upTo) waiting = { upTo, since: clock.now() }
  }

  function check(line: string, before: { number: number; hash: string }, keys: CheckpointKeys): AuditCheckpoint {
    const checkpoint = parseCheckpoint(line)
    const number = before.number + 1
    if (checkpoint === null || checkpoint.number !== number || checkpoint.previous !== before.hash)
      throw new TrailFault(`Checkpoint ${number} of the database does not follow from the one before.`)
    if (checkSignature(checkpoint, keys) !== 'good')
      throw new TrailFault(`Checkpoint ${number} of the database was not signed by a key of this server.`)
    return checkpoint
  }

  /** Copies missing checkpoints to the sink. It waits for files, but only parallel copies wait for its lock. */
  const fill = (): Promise<void> =>
    db.transaction(async (tx) => {
      if (!(await tryLock(tx, locks.copyCheckpoints))) return
      const end = await sink.end()
      const last = checkpointOf(end.line, 'second sink')
      await sink.publish(key.publicKey)
      const keys = await anchored.keys()
      let before = {
        number: last?.number ?? 0,
        hash: end.line === null ? CHECKPOINT_GENESIS : checkpointHash(end.line),
      }
      let isFirst = true
      for (;;) {
        const lines = await store.linesFrom(tx, before.number + 1, 500)
        const next = lines.map((line) => {
          const checkpoint = check(line, before, keys)
          before = { number: checkpoint.number, hash: checkpointHash(line) }
          return { line, checkpoint }
        })
        if (isFirst && !(lines[0] ?? '').startsWith(end.partial))
          throw new TrailFault('The last line of the second sink is not a checkpoint of the database.')
        isFirst = false
        if (next.length === 0) break
        await sink.append(next)
      }
      sinkNumber = before.number
    })

  /** Checks that the database contains every checkpoint of the sink. */
  async function compare(): Promise<void> {
    // In this order: a checkpoint reaches the database before a sink.
    const end = await sink.end()
    const held = checkpointOf(end.line, 'second sink')
    const [line] = held === null ? [] : await store.linesFrom(db, held.number, 1)
    if (held !== null && line !== end.line)
      throw new TrailFault(
        line === undefined
          ? `The second sink has checkpoint ${held.number}, but the database does not. The database was truncated or restored from a backup.`
          : `Checkpoint ${held.number} of the database differs from that of the second sink.`,
      )
    sinkNumber = held?.number ?? 0
  }

  async function withSink(work: () => Promise<void>): Promise<void> {
    try {
      await work()
      sinkFault = ''
    } catch (error) {
      const { code, syscall } = error as NodeJS.ErrnoException
      // Errors of the sink's files only pause it. Other errors are for the caller.
      if (code === undefined || syscall === undefined || !/^E[A-Z]+$/.test(code) || syscall === 'connect') throw error
      if (sinkFault === '') log.warn({ err: error }, 'checkpoints of the audit trail wait for their second sink')
      sinkFault = `The second sink cannot be used (${code}).`
    }
  }

  const sign = (): Promise<boolean> =>
    db.transaction(async (tx: Tx) => {
      const before = await store.position(tx)
      const { line } = before
      const last = await anchored.check(tx, before)
      const now = clock.now()
      const rows = await store.recordsAfter(tx, last?.auditTrailID ?? 0, everyRecords)
      const newest = rows.at(-1)
      const isDue = last === null || Math.abs(now - Date.parse(last.time)) >= everyMs || rows.length === everyRecords
      if (newest === undefined || !isDue) return false
      // Before the lock: a process that holds it forever must not hide a changed trail.
      const broken = firstBroken(
        rows,
        last?.auditTrailID ?? 0,
        last === null ? AUDIT_GENESIS : Buffer.from(last.hash, 'hex'),
      )
      if (broken !== null) throw new TrailFault(`Record ${broken} of the audit trail was altered or removed.`)
      // An unreadable sink may hold checkpoints that contradict a first one.
      if (last === null && sinkFault !== '') return false
      isLockMissed = !(await tryLock(tx, locks.signCheckpoints))
      if (isLockMissed || (await store.position(tx)).line !== line) return false
      const number = (last?.number ?? 0) + 1
      const made = signCheckpoint(
        {
          number,
          auditTrailID: newest.id,
          hash: newest.hash,
          time: new Date(now).toISOString(),
          previous: line === null ? CHECKPOINT_GENESIS : checkpointHash(line),
        },
        key.privateKey,
      )
      if ((await store.insert(tx, number, newest.id, made)) !== 1)
        throw new TrailFault(`The database did not store checkpoint ${number}.`)
      const oldest = rows[0]?.createdAt ?? ''
      if (last === null && now - Date.parse(`${oldest}Z`) > oldMs)
        await audit.write(tx, systemActor('system'), {
          action: 'audit_checkpoints.begun',
          entity: keyId,
          details: `the first checkpoint covers existing records, the oldest from ${oldest}`,
          severity: 4,
        })
      if (last !== null && last.keyId !== keyId)
        await audit.write(tx, systemActor('system'), {
          action: 'audit_key.changed',
          entity: keyId,
          details: `previous key: ${last.keyId}`,
          severity: 4,
        })
      // The log is a third place that an attacker with the database does not reach.
      log.info({ auditCheckpoint: made }, 'checkpoint of the audit trail')
      return rows.length === everyRecords
    })

  async function work(): Promise<void> {
    await withSink(compare)
    await withSink(fill)
    const before = await store.position()
    const last = await anchored.check(db, before)
    const uncovered = before.newest - (last?.auditTrailID ?? 0)
    note(uncovered, last?.auditTrailID ?? 0)
    const isOld = last === null || Math.abs(clock.now() - Date.parse(last.time)) >= everyMs
    if (uncovered < 1 || (uncovered < everyRecords && !isOld)) return
    for (let i = 0; i < maxPerRun && (await sign()); i++);
    await anchored.check(db, await store.position())
    await withSink(fill)
  }

  let isRunning = false
  async function readState() {
    const position = await store.position()
    const last = position.line === null ? null : parseCheckpoint(position.line)
    const uncovered = position.newest - (last?.auditTrailID ?? 0)
    note(uncovered, last?.auditTrailID ?? 0)
    return { ...position, last, uncovered }
  }

  return {
    /** Runs before anything is written to a new database. From then on, an anchor shows that it had no checkpoint. */
    prepare: async (): Promise<void> => {
      try {
        const position = await store.position()
        if (position.line === null) await anchored.check(db, position)
      } catch (error) {
        // The next run reports it in health.
        if (!(error instanceof TrailFault || error instanceof AnchorUnreadable)) throw error
      }
    },

    reanchor: anchored.reanchor,

    /** Signs a checkpoint if one is due, and completes the second sink. Runs every two seconds. */
    run: async (): Promise<void> => {
      if (isRunning) return
      isRunning = true
      try {
        await work()
        fault = ''
        obstacle = ''
      } catch (error) {
        if (error instanceof AnchorUnreadable) {
          // Keep a known fault: an unreadable file does not disprove it.
          if (obstacle === '') log.warn({ err: error }, 'audit trail signing is paused')
          obstacle = error.message
          return
        }
        if (!(error instanceof TrailFault)) throw error
        if (fault === '') log.error({ err: error }, 'the audit trail was altered')
        fault = error.message
      } finally {
        isRunning = false
      }
    },

    status: async (): Promise<AuditStatus> => {
      const { newest, last, uncovered } = await readState()
      return {
        newestAuditTrailID: newest,
        uncovered,
        lastCheckpoint:
          last === null
            ? null
            : {
                number: last.number,
                auditTrailID: last.auditTrailID,
                time: last.time,
                keyId: last.keyId,
                hash: last.hash,
              },
        keyId,
        publicKey: String(key.publicKey.export({ type: 'spki', format: 'pem' })),
        secondSink: { upTo: sinkNumber, isCurrent: sinkFault === '' && sinkNumber === (last?.number ?? 0) },
        problem: fault || obstacle || sinkFault || anchored.fault(),
      }
    },

    health: async (): Promise<{ status: HealthStatus; description: string }> => {
      const { last, newest, uncovered } = await readState()
      if (fault !== '') return { status: 'Error', description: fault }
      if (obstacle !== '') return { status: 'Warning', description: obstacle }
      if (sinkFault !== '') return { status: 'Warning', description: sinkFault }
      if (anchored.fault() !== '') return { status: 'Warning', description: anchored.fault() }
      const late = waiting === null ? 0 : clock.now() - waiting.since
      if (late > lateMs)
        return {
          status: 'Warning',
          description: `${uncovered} records have waited ${Math.floor(late / 60_000)} minutes for a checkpoint${isLockMissed ? ' because another process holds the signing lock' : ''}.`,
        }
      return {
        status: 'OK',
        description:
          last === null
            ? `${newest} records; the first checkpoint is pending.`
            : `${newest} records; checkpoint ${last.number} covers record ${last.auditTrailID} and is in the second sink.`,
      }
    },
  }
}
