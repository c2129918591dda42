import { rm, statfs } from 'node:fs/promises'
import { hostname } from 'node:os'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import {
  ArchiveError,
  type ArchivePart,
  dump,
  readArchive,
  removeAbandonedDrills,
  schemaOf,
  writeArchive,
} from '@portcullis/platform/server/backup/index.ts'
import { isConflict, isUnavailable, type Tx } from '@portcullis/platform/server/db/db.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import type { JobHandler, JobRun } from '#features/jobs/server/index.ts'
import type { OperationsContext } from '../context.ts'
import { createBackupStore } from './backup.store.ts'
import {
  assertFolder,
  fileNameOf,
  partOf,
  publish,
  readableFault,
  readPart,
  removeBackup,
  writePart,
} from './backup-folder.ts'
import { type CompletedRun, createBackupRunsStore } from './backup-runs.store.ts'
import type { BackupValues } from './backup-schedule.service.ts'
import { createDrill, type DrillOptions } from './drill.ts'

/** Interval of the heartbeat of a running backup: well below the lease of a job. */
const beatMs = 5_000
/** A restored database needs about the space of the original, plus its log. */
const drillReserve = 500e6

interface Checked {
  tables: number
  rows: number
}

/** Reads an archive to its end. Compares the number of rows of each table with its head. */
const readBack = async (source: AsyncIterable<Buffer>, passphrase: Secret | null): Promise<Checked> => {
  const { parts } = await readArchive(source, passphrase)
  let [tables, rows, seen] = [0, 0, 0]
  let table: Extract<ArchivePart, { kind: 'table' }> | null = null
  for await (const part of parts)
    if (part.kind === 'table') {
      table = part
      seen = 0
    } else if (part.kind === 'data') {
      // A row is one line: COPY escapes line ends in values.
      for (let at = part.bytes.indexOf(10); at >= 0; at = part.bytes.indexOf(10, at + 1)) seen++
    } else if (part.kind === 'tableEnd' && table !== null) {
      if (seen !== table.rows)
        throw new ArchiveError(`Table ${table.table} has ${seen} rows in the file instead of ${table.rows}.`)
      tables++
      rows += seen
    }
  return { tables, rows }
}

/** Writes backups to the folder, verifies them, and deletes older ones. */
export const createBackupMaker = (
  context: OperationsContext & { drill: DrillOptions },
  readValues: () => Promise<BackupValues>,
) => {
  const { db, exportDb, clock, log, hint, version, config } = context
  const store = createBackupRunsStore(db)
  const drill = createDrill(context.drill)
  const stopping = new AbortController()
  const runIdOf = (job: JobRun): string => (job.data as { runId: string }).runId

  /** Runs work while a timer renews the lease of the job. Ends the work if the job was cancelled or taken over. */
  async function beating<T>(job: JobRun, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const ending = new AbortController()
    let [lost, saving]: [unknown, boolean] = [null, false]
    const timer = setInterval(() => {
      if (saving) return
      saving = true
      db.transaction((tx) => job.save(tx, {}))
        .catch((error: unknown) => {
          // While the database is away, the lease may expire. The next save notices it.
          if (isUnavailable(error) || isConflict(error)) return
          lost = error
          ending.abort()
        })
        .finally(() => {
          saving = false
        })
    }, beatMs)
    try {
      return await work(AbortSignal.any([ending.signal, stopping.signal]))
    } catch (error) {
      throw lost ?? error
    } finally {
      clearInterval(timer)
    }
  }

  async function written(part: string, passphrase: Secret | null, createdAt: Date, signal: AbortSignal) {
    return exportDb.withClient(async (client) => {
      const head = {
        createdAt: createdAt.toISOString(),
        product: version,
        schema: await schemaOf(client),
        hasKeys: false,
      }
      async function* chunks(): AsyncGenerator<Buffer> {
        for await (const chunk of writeArchive(dump(client, null), { head, passphrase })) {
          signal.throwIfAborted()
          yield chunk
        }
      }
      return writePart(part, chunks())
    })
  }

  const tidy = (): Promise<void> => removeAbandonedDrills(context.drill.dir, log)

  /** Verifies a written file as configured. Without space for a temporary database, it only reads the file. */
  async function verified(
    part: string,
    { sha256, values, signal }: { sha256: string; values: BackupValues; signal: AbortSignal },
  ): Promise<Pick<CompletedRun, 'verification' | 'tables' | 'rows' | 'note'>> {
    const { passphrase } = values
    const read = await readBack(readPart(part, sha256), passphrase)
    if (values.verify === 'read') return { verification: 'read', ...read, note: '' }
    await tidy()
    const { bavail, bsize } = await statfs(context.drill.dir)
    if (bavail * bsize < (await store.databaseBytes()) * 1.3 + drillReserve)
      return {
        verification: 'read',
        ...read,
        note: `It was not restored into a temporary database, because ${context.drill.dir} has too little free space.`,
      }
    const restored = await drill(part, passphrase, signal).finally(tidy)
    if (restored.tables !== read.tables || restored.rows !== read.rows)
      throw new ArchiveError(`The restored database has ${restored.rows} rows instead of ${read.rows}.`)
    return { verification: 'restored', ...restored, note: '' }
  }

  async function removeOld(keep: number): Promise<void> {
    for (const { run_id, server, folder, file_name, bytes } of await store.surplus(keep))
      try {
        const found = await removeBackup(folder, file_name, bytes)
        if (found === 'changed')
          log.warn({ folder, file: file_name }, 'an old backup was changed, so it was not deleted')
        // Another server may have its own folder with this path.
        if (found !== 'missing' || server === hostname()) await store.fileGone(run_id)
      } catch (error) {
        log.warn({ err: error, folder, file: file_name }, 'cannot delete an old backup')
      }
    await store.forget()
  }

  async function make(job: JobRun, runId: string, signal: AbortSignal): Promise<void> {
    const values = await readValues()
    const { folder, passphrase } = values
    const createdAt = new Date(clock.now())
    const fileName = fileNameOf(runId, createdAt.getTime())
    const part = partOf(folder, fileName)
    const step = (message: string, more: (tx: Tx) => Promise<void> = async () => {}): Promise<void> =>
      db.transaction(async (tx) => {
        await more(tx)
        await job.save(tx, { message, done: 1 })
        await hint(tx, 'backups')
      })
    await db.transaction(async (tx) => {
      await store.start(tx, runId, { server: hostname(), folder, fileName })
      await job.save(tx, { total: 3, message: 'Writing' })
      await hint(tx, 'backups')
    })
    try {
      await assertFolder(folder, { own: values.ownFolder, dataDir: config.dataDir })
      const file = await written(part, passphrase, createdAt, signal)
      await step('Verifying')
      const checked = await verified(part, { sha256: file.sha256, values, signal })
      signal.throwIfAborted()
      await step('Saving')
      await publish(folder, fileName)
      const completed = { endedAt: new Date(clock.now()), isEncrypted: passphrase !== null, ...file, ...checked }
      await step('', (tx) => store.complete(tx, runId, completed))
      await createBackupStore(db).note({
        madeAt: createdAt,
        madeBy: 'schedule',
        bytes: file.bytes,
        hasKeys: false,
        isEncrypted: completed.isEncrypted,
      })
    } catch (error) {
      await rm(part, { force: true }).catch(() => {})
      throw readableFault(folder, error)
    }
    await removeOld(values.keep)
  }

  const handler: JobHandler = {
    run: async (job) => {
      const runId = runIdOf(job)
      const run = await store.run(runId)
      if (run === undefined || run.state === 'completed' || run.state === 'failed') return 'done'
      if (run.is_restored) {
        await store.fail(db, runId, new Date(clock.now()), 'This server was restored from this backup.')
        return 'done'
      }
      try {
        await beating(job, (signal) => make(job, runId, signal))
        return 'done'
      } catch (error) {
        if (stopping.signal.aborted) throw error
        const isKnown = error instanceof AppError || error instanceof ArchiveError
        const message = isKnown
          ? error.message
          : `The backup failed: ${error instanceof Error ? error.message : 'unknown error'}. See the log of the server.`
        // Throws if another server has taken the job over.
        await db.transaction(async (tx) => {
          await store.fail(tx, runId, new Date(clock.now()), message.slice(0, 500))
          await job.save(tx, {})
          await hint(tx, 'backups')
        })
        if (!isKnown) log.error({ err: error, run: runId }, 'a backup failed')
        throw error instanceof AppError ? error : new AppError('unprocessable', { detail: message.slice(0, 500) })
      }
    },
    cancelled: async (job) => {
      await store.fail(db, runIdOf(job), new Date(clock.now()), 'Cancelled.')
    },
  }

  return {
    handler,
    /** Removes the temporary databases of verifications that were killed. */
    tidy,
    /** Ends a running backup. Another server, or the next start, makes it again. */
    close: (): void => stopping.abort(new Error('the server is stopping')),
  }
}
