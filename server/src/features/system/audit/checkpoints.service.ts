import type { KeyObject } from 'node:crypto'
import type { AuditStatus, HealthStatus } from '@portcullis/contract'
import {
  AUDIT_GENESIS,
  type AuditCheckpoint,
  type AuditLine,
  auditHash,
  CHECKPOINT_GENESIS,
  type CheckpointKeys,
  checkpointHash,
  checkpointKeyId,
  columnsAgree,
  judgeSignature,
  parseCheckpoint,
  signCheckpoint,
} from '@portcullis/domain'
import type { Clock } from '#platform/clock.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import { locks, tryLock } from '#platform/db/locks.ts'
import { systemActor } from '#platform/http/actor.ts'
import type { Log } from '#platform/log.ts'
import type { Audit } from './audit.service.ts'
import { AnchorUnreadable, type CheckpointAnchor, TrailFault } from './checkpoints.anchor.ts'
import { checkpointOf, createHold } from './checkpoints.hold.ts'
import type { CheckpointSink } from './checkpoints.sink.ts'
import type { CheckpointsStore } from './checkpoints.store.ts'

/** A checkpoint comes with so many records, */
const everyRecords = 1_000
/** or after so long, when there are new ones. */
const everyMs = 60_000
/** So many at a time: a trail of a million records from before there were checkpoints takes 20 turns. */
const mostAtOnce = 50
/** Checkpoints that come so late are worth a warning. */
const lateMs = 5 * 60_000

/** The first checkpoint over records that are so old is a record of its own. */
const oldMs = 10 * 60_000

export interface CheckpointsDeps {
  db: Db
  clock: Clock
  log: Log
  store: CheckpointsStore
  sink: CheckpointSink
  anchor: CheckpointAnchor
  key: { privateKey: KeyObject; publicKey: KeyObject }
  audit: Audit
}

export type CheckpointsService = ReturnType<typeof createCheckpoints>

/** The first of the records that does not follow from those before it. */
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

/** Signs how the trail stands, and keeps what was signed outside of the database as well. */
export const createCheckpoints = ({ db, clock, log, store, sink, anchor, key, audit }: CheckpointsDeps) => {
  const keyId = checkpointKeyId(key.publicKey)
  const anchored = createHold({ db, store, anchor, publicKey: key.publicKey, audit })
  let fault = ''
  /** Why the server cannot sign now, although it found no fault in the trail. */
  let obstacle = ''
  let sinkFault = ''
  let sinkNumber = 0
  let isLockMissed = false
  /**
   * Since when records wait for a checkpoint behind this one, by the clock of this process: what the records say of their
   * time is the word of the database.
   */
  let waiting: { upTo: number; since: number } | null = null
  function note(uncovered: number, upTo: number): void {
    if (uncovered < 1) waiting = null
    else if (waiting?.upTo !== upTo) waiting = { upTo, since: clock.now() }
  }

  function judge(line: string, before: { number: number; hash: string }, keys: CheckpointKeys): AuditCheckpoint {
    const checkpoint = parseCheckpoint(line)
    const number = before.number + 1
    if (checkpoint === null || checkpoint.number !== number || checkpoint.previous !== before.hash)
      throw new TrailFault(`Checkpoint ${number} of the database does not follow from the one before.`)
    if (judgeSignature(checkpoint, keys) !== 'good')
      throw new TrailFault(`Checkpoint ${number} of the database was not signed by a key of this server.`)
    return checkpoint
  }

  /** Copies what the sink has not. Files are waited for inside, and nobody but the same copying waits for this lock. */
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
          const checkpoint = judge(line, before, keys)
          before = { number: checkpoint.number, hash: checkpointHash(line) }
          return { line, checkpoint }
        })
        if (isFirst && !(lines[0] ?? '').startsWith(end.partial))
          throw new TrailFault('What the second sink ends in is no checkpoint of the database.')
        isFirst = false
        if (next.length === 0) break
        await sink.append(next)
      }
      sinkNumber = before.number
    })

  /** Holds the sink against the database; what the sink has, the database must have. */
  async function compare(): Promise<void> {
    // In this order: a checkpoint is in the database before it is in a sink.
    const end = await sink.end()
    const held = checkpointOf(end.line, 'second sink')
    const [line] = held === null ? [] : await store.linesFrom(db, held.number, 1)
    if (held !== null && line !== end.line)
      throw new TrailFault(
        line === undefined
          ? `The second sink has checkpoint ${held.number}, the database has not: it was cut off, or restored from a backup.`
          : `Checkpoint ${held.number} of the database is not the one of the second sink.`,
      )
    sinkNumber = held?.number ?? 0
  }

  async function withSink(work: () => Promise<void>): Promise<void> {
    try {
      await work()
      sinkFault = ''
    } catch (error) {
      const { code, syscall } = error as NodeJS.ErrnoException
      // Of a sink that cannot be used, only that is known; what is wrong with the database is for the caller.
      if (code === undefined || syscall === undefined || !/^E[A-Z]+$/.test(code) || syscall === 'connect') throw error
      if (sinkFault === '') log.warn({ err: error }, 'checkpoints of the audit trail wait for their second sink')
      sinkFault = `The second sink cannot be used (${code}).`
    }
  }

  const sign = (): Promise<boolean> =>
    db.transaction(async (tx: Tx) => {
      const before = await store.position(tx)
      const { line } = before
      const last = await anchored.hold(tx, before)
      const now = clock.now()
      const rows = await store.recordsAfter(tx, last?.auditTrailID ?? 0, everyRecords)
      const newest = rows.at(-1)
      const isDue = last === null || Math.abs(now - Date.parse(last.time)) >= everyMs || rows.length === everyRecords
      if (newest === undefined || !isDue) return false
      // Before the lock: who holds it for ever keeps nobody from seeing what was changed.
      const broken = firstBroken(
        rows,
        last?.auditTrailID ?? 0,
        last === null ? AUDIT_GENESIS : Buffer.from(last.hash, 'hex'),
      )
      if (broken !== null) throw new TrailFault(`Record ${broken} of the trail is not as it was written.`)
      // A sink that cannot be read may hold checkpoints that a first one would contradict.
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
        throw new TrailFault(`The database did not take checkpoint ${number}.`)
      const oldest = rows[0]?.createdAt ?? ''
      if (last === null && now - Date.parse(`${oldest}Z`) > oldMs)
        await audit.write(tx, systemActor('system'), {
          action: 'audit_checkpoints.begun',
          entity: keyId,
          details: `the first checkpoint covers records that were there before, the oldest of ${oldest}`,
          severity: 4,
        })
      if (last !== null && last.keyId !== keyId)
        await audit.write(tx, systemActor('system'), {
          action: 'audit_key.changed',
          entity: keyId,
          details: `checkpoints before were signed by ${last.keyId}`,
          severity: 4,
        })
      // The log is a third place that a thief of the database does not reach.
      log.info({ auditCheckpoint: made }, 'checkpoint of the audit trail')
      return rows.length === everyRecords
    })

  async function work(): Promise<void> {
    await withSink(compare)
    await withSink(fill)
    const before = await store.position()
    const last = await anchored.hold(db, before)
    const uncovered = before.newest - (last?.auditTrailID ?? 0)
    note(uncovered, last?.auditTrailID ?? 0)
    const isOld = last === null || Math.abs(clock.now() - Date.parse(last.time)) >= everyMs
    if (uncovered < 1 || (uncovered < everyRecords && !isOld)) return
    for (let i = 0; i < mostAtOnce && (await sign()); i++);
    await anchored.hold(db, await store.position())
    await withSink(fill)
  }

  let isRunning = false
  async function look() {
    const position = await store.position()
    const last = position.line === null ? null : parseCheckpoint(position.line)
    const uncovered = position.newest - (last?.auditTrailID ?? 0)
    note(uncovered, last?.auditTrailID ?? 0)
    return { ...position, last, uncovered }
  }

  return {
    /** Before anything is written to a new database: from here on an anchor says that it had no checkpoint. */
    prepare: async (): Promise<void> => {
      try {
        const position = await store.position()
        if (position.line === null) await anchored.hold(db, position)
      } catch (error) {
        // Health says it with the next look.
        if (!(error instanceof TrailFault || error instanceof AnchorUnreadable)) throw error
      }
    },

    reanchor: anchored.reanchor,

    /** Looks whether a checkpoint is due, and whether the second sink has all; every two seconds. */
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
        if (fault === '') log.error({ err: error }, 'the audit trail is not as it was written')
        fault = error.message
      } finally {
        isRunning = false
      }
    },

    status: async (): Promise<AuditStatus> => {
      const { newest, last, uncovered } = await look()
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
      const { last, newest, uncovered } = await look()
      if (fault !== '') return { status: 'Error', description: fault }
      if (obstacle !== '') return { status: 'Warning', description: obstacle }
      if (sinkFault !== '') return { status: 'Warning', description: sinkFault }
      if (anchored.fault() !== '') return { status: 'Warning', description: anchored.fault() }
      const late = waiting === null ? 0 : clock.now() - waiting.since
      if (late > lateMs)
        return {
          status: 'Warning',
          description: `${uncovered} records wait for a checkpoint, for ${Math.floor(late / 60_000)} minutes${isLockMissed ? '; another process has the lock of signing' : ''}.`,
        }
      return {
        status: 'OK',
        description:
          last === null
            ? `${newest} records, the first checkpoint is to come.`
            : `${newest} records; checkpoint ${last.number} covers ${last.auditTrailID}, and is in the second sink.`,
      }
    },
  }
}
