import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import {
  countCiphertexts,
  lockCiphertexts,
  type SealedColumn,
  writeCiphertexts,
} from '@portcullis/platform/server/sealed-column.ts'
import type { JobRun } from '#features/jobs/server/index.ts'
import type { OperationsContext } from '../context.ts'
import { createSealingStore } from './sealing.store.ts'

const kind = 'rotate-keys'
const atOnce = 200

interface Cursor {
  /** Number of the new key. */
  key: number
  column: number
  after: string
  /** Ciphertexts that this round found wrapped with an old key. */
  changed?: number
}

/**
 * Rotates the key of secrets at rest while the server runs. Only the wrapping of each secret's key is replaced; the
 * secrets are not decrypted. The old key is deleted when nothing needs it.
 */
export const createSealing = ({
  db,
  audit,
  jobs,
  envelope,
  keys: { sealing: keys },
  columns,
}: OperationsContext & { columns: readonly SealedColumn[] }) => {
  const store = createSealingStore()
  const rewrapSome = (job: JobRun, at: Cursor, column: SealedColumn, isFirst: boolean): Promise<Cursor> =>
    db.transaction(async (tx) => {
      const rows = await lockCiphertexts(tx, column, at.after, atOnce)
      const changed = rows.flatMap(({ key, ciphertext }) => {
        const next = envelope.rewrap(ciphertext, column.context(key))
        return next === null ? [] : [{ key, ciphertext: next }]
      })
      if (changed.length > 0) await writeCiphertexts(tx, column, changed)
      const round = { ...at, changed: (at.changed ?? 0) + changed.length }
      const last = rows.at(-1)
      const next: Cursor =
        rows.length < atOnce || last === undefined
          ? { ...round, column: at.column + 1, after: '' }
          : { ...round, after: last.key }
      await job.save(tx, { done: isFirst ? rows.length : 0, cursor: next })
      return next
    })

  jobs.handle(kind, {
    run: async (job) => {
      let at = job.cursor as Cursor | null
      if (at === null) {
        at = { key: keys.add().id, column: 0, after: '' }
        const first = at
        const counts = await Promise.all(columns.map((column) => countCiphertexts(db, column)))
        const total = counts.reduce((sum, n) => sum + n, 0)
        await db.transaction((tx) => job.save(tx, { total, cursor: first }))
      }
      for (let column = columns[at.column]; column !== undefined; column = columns[at.column])
        at = await rewrapSome(job, at, column, true)
      // Repeat until a round finds nothing: rows may have been written during the previous round.
      for (let isClean = false; !isClean; ) {
        at = { ...at, column: 0, after: '', changed: 0 }
        for (let column = columns[at.column]; column !== undefined; column = columns[at.column])
          at = await rewrapSome(job, at, column, false)
        isClean = at.changed === 0
      }
      keys.forgetBefore(at.key)
      return 'done'
    },
  })

  return {
    /** Starts a rotation. Returns the id of its job. */
    rotate: (actor: Actor): Promise<{ jobId: string }> =>
      db.transaction(async (tx) => {
        if (await store.isUnderWay(tx, kind))
          throw new AppError('conflict', { detail: 'A key rotation is already running.' })
        const jobId = await jobs.enqueue(tx, actor, { kind, title: 'Rotate the key of secrets' })
        await audit.write(tx, actor, { action: 'keys.rotated', entity: 'secrets at rest', severity: 4 })
        return { jobId }
      }),
  }
}
