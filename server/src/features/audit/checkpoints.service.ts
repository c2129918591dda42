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
import { systemActor } from '#platform/http/actor.ts'
import type { Log } from '#platform/log.ts'
import type { AuditService } from './audit.service.ts'
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

/** The trail or its checkpoints are not as this server wrote them: nothing is signed until a person has looked. */
class TrailFault extends Error {}

export interface CheckpointsDeps {
  db: Db
  clock: Clock
  log: Log
  store: CheckpointsStore
  sink: CheckpointSink
  key: { privateKey: KeyObject; publicKey: KeyObject }
  audit: Pick<AuditService, 'write'>
}

export type CheckpointsService = ReturnType<typeof createCheckpoints>

const read = (line: string | null, where: string): AuditCheckpoint | null => {
  if (line === null) return null
  const checkpoint = parseCheckpoint(line)
  if (checkpoint === null) throw new TrailFault(`The newest checkpoint of the ${where} can not be read.`)
  return checkpoint
}

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
export const createCheckpoints = ({ db, clock, log, store, sink, key, audit }: CheckpointsDeps) => {
  const keyId = checkpointKeyId(key.publicKey)
  let fault = ''
  let sinkFault = ''
  let sinkNumber = 0

  const judge = (line: string, before: { number: number; hash: string }, keys: CheckpointKeys): AuditCheckpoint => {
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
      if (!(await store.lock(tx, 'sink'))) return
      const end = await sink.end()
      const last = read(end.line, 'second sink')
      const keys = await sink.keys(key.publicKey)
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
  const compare = async (): Promise<void> => {
    // In this order: a checkpoint is in the database before it is in a sink.
    const end = await sink.end()
    const held = read(end.line, 'second sink')
    const [line] = held === null ? [] : await store.linesFrom(db, held.number, 1)
    if (held !== null && line !== end.line)
      throw new TrailFault(
        line === undefined
          ? `The second sink has checkpoint ${held.number}, the database has not: it was cut off, or restored from a backup.`
          : `Checkpoint ${held.number} of the database is not the one of the second sink.`,
      )
    sinkNumber = held?.number ?? 0
  }

  const withSink = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work()
      sinkFault = ''
    } catch (error) {
      const { code, syscall } = error as NodeJS.ErrnoException
      // Of a sink that can not be used, only that is known; what is wrong with the database is for the caller.
      if (code === undefined || syscall === undefined || !/^E[A-Z]+$/.test(code) || syscall === 'connect') throw error
      if (sinkFault === '') log.warn({ err: error }, 'checkpoints of the audit trail wait for their second sink')
      sinkFault = `The second sink can not be used (${code}).`
    }
  }

  const sign = (): Promise<boolean> =>
    db.transaction(async (tx: Tx) => {
      if (!(await store.lock(tx, 'sign'))) return false
      const { line } = await store.position(tx)
      const last = read(line, 'database')
      const now = clock.now()
      const rows = await store.recordsAfter(tx, last?.auditTrailID ?? 0, everyRecords)
      const newest = rows.at(-1)
      const isDue = last === null || Math.abs(now - Date.parse(last.time)) >= everyMs || rows.length === everyRecords
      if (newest === undefined || !isDue) return false
      const id = last?.auditTrailID ?? 0
      const broken = firstBroken(rows, id, last === null ? AUDIT_GENESIS : Buffer.from(last.hash, 'hex'))
      if (broken !== null) throw new TrailFault(`Record ${broken} of the trail is not as it was written.`)
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
      await store.insert(tx, number, newest.id, made)
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

  const work = async (): Promise<void> => {
    await withSink(compare)
    await withSink(fill)
    const before = await store.position()
    const last = read(before.line, 'database')
    const waiting = before.newest - (last?.auditTrailID ?? 0)
    const isOld = last === null || Math.abs(clock.now() - Date.parse(last.time)) >= everyMs
    if (waiting < 1 || (waiting < everyRecords && !isOld)) return
    for (let i = 0; i < mostAtOnce && (await sign()); i++);
    await withSink(fill)
  }

  let isRunning = false
  const look = async () => {
    const position = await store.position()
    const last = position.line === null ? null : parseCheckpoint(position.line)
    return { ...position, last, uncovered: position.newest - (last?.auditTrailID ?? 0) }
  }

  return {
    /** Looks whether a checkpoint is due, and whether the second sink has all; every two seconds. */
    run: async (): Promise<void> => {
      if (isRunning) return
      isRunning = true
      try {
        await work()
        fault = ''
      } catch (error) {
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
        problem: fault || sinkFault,
      }
    },

    health: async (): Promise<{ status: HealthStatus; description: string }> => {
      const { last, newest, uncovered, uncoveredSince } = await look()
      if (fault !== '') return { status: 'Error', description: fault }
      if (sinkFault !== '') return { status: 'Warning', description: sinkFault }
      const late = uncoveredSince === null ? 0 : clock.now() - uncoveredSince.getTime()
      if (late > lateMs)
        return {
          status: 'Warning',
          description: `${uncovered} records wait for a checkpoint, for ${Math.floor(late / 60_000)} minutes.`,
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
