import { setTimeout as sleep } from 'node:timers/promises'
import { mustExist } from '@portcullis/domain'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import { isUnavailable } from '@portcullis/platform/server/db/db.ts'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { reportLimits } from '#features/contract.ts'
import type { JobHandler, JobRun } from '#features/jobs/server/index.ts'
import type { ReportsContext } from './context.ts'
import type { FilesApi } from './exports/index.ts'
import type { Folders } from './folder.ts'
import { ownerProblem } from './owner.ts'
import { megabytes, reportFileName } from './report-file.ts'
import { reportMail } from './report-mail.ts'
import { createReportsRead } from './reports.read.ts'
import { createReportsStore, formOf, type RunRow } from './reports.store.ts'

/** Bytes per stored chunk and job step. */
const chunkBytes = 1024 * 1024
/** Interval of keep-alives while the database delivers no chunk: a third of a job's lease. */
const aliveMs = 20_000
/** Delay and number of attempts while other PDFs print: longer than all of them may take together. */
const busyMs = 2_000
const busyTries = 150

/** Progress of a run: rows so far, and whether the file is complete. */
type Cursor = { phase: 'make' | 'deliver'; rows: number } | null

/** Reference of a delivery in mails. */
const deliveryRef = (runId: string, n: number): string => `${runId}/${n}`

/** Carries out runs: makes the file, stores it and delivers it. */
export const createMaker = (context: ReportsContext & { files: FilesApi }, folders: Folders) => {
  const { accounts, db, clock, log, audit, files, hint } = context
  const store = createReportsStore(db)
  const now = (): Date => new Date(clock.now())

  async function problemOf(run: RunRow): Promise<string> {
    const owners = await createReportsRead(db).owners(run.owner_id === null ? [] : [run.owner_id])
    return ownerProblem(run.owner_name, owners.get(run.owner_id ?? ''), run.definition.list)
  }

  async function assertOwner(run: RunRow): Promise<void> {
    const problem = await problemOf(run)
    if (problem !== '') throw new AppError('unprocessable', { detail: problem })
  }

  const preparedOf = ({ definition, range_from: from, range_to: to }: RunRow) =>
    files.prepare(definition.list, definition, to === null ? null : { from, to })

  async function opened(job: JobRun, run: RunRow) {
    const { definition } = run
    const file = preparedOf(run)
    // Used for progress only; some counts take longer than a request may.
    const total = await file.count().catch((error: unknown) => {
      if (isUnavailable(error)) return 0
      throw error
    })
    for (let tries = 1; ; tries++)
      try {
        return {
          total,
          ...(await file.open({ format: definition.format, form: formOf(definition) }, run.owner_name, run.name)),
        }
      } catch (error) {
        // Two files print at a time; people have priority.
        if (!(error instanceof AppError && error.code === 'unavailable') || tries === busyTries) throw error
        await sleep(busyMs)
        // Keeps the job's lease. A server that stops releases the job here.
        await db.transaction((tx) => job.save(tx, {}))
      }
  }

  /** Makes the file and stores it in chunks; each chunk is a step of the job. */
  /** Keeps the lease during steps that take longer. Calls `lost` when the job has another owner. */
  const keepAlive = (job: JobRun, lost: (error: Error) => void): NodeJS.Timeout =>
    setInterval(() => {
      db.transaction((tx) => job.save(tx, {})).catch(lost)
    }, aliveMs)

  async function make(job: JobRun, run: RunRow): Promise<void> {
    await assertOwner(run)
    const before = (job.cursor as Cursor)?.rows ?? 0
    await db.transaction(async (tx) => {
      await job.save(tx, {
        done: -before,
        cursor: { phase: 'make', rows: 0 } satisfies Cursor,
        message: 'Reading rows',
      })
      await store.start(tx, run.run_id, now())
      await hint(tx, 'reports')
    })
    const { total, content, rows } = await opened(job, run)
    let [noted, bytes, n] = [0, 0, 0]
    let parts: Buffer[] = []
    let held = 0
    const flush = (): Promise<void> =>
      db.transaction(async (tx) => {
        const done = rows() - noted
        noted += done
        await job.save(tx, {
          done,
          total: Math.max(total, noted),
          cursor: { phase: 'make', rows: noted } satisfies Cursor,
        })
        if (held > 0) await store.putChunk(tx, run.run_id, n++, Buffer.concat(parts))
        ;[parts, held] = [[], 0]
      })
    const alive = keepAlive(job, (error) => content.destroy(error))
    try {
      for await (const part of content as AsyncIterable<Buffer>) {
        bytes += part.length
        if (bytes > reportLimits.bytes)
          throw new AppError('unprocessable', {
            detail: `A report holds at most ${megabytes(reportLimits.bytes)}. Choose fewer columns, or narrow the filters.`,
          })
        parts.push(part)
        held += part.length
        if (held >= chunkBytes) await flush()
      }
    } finally {
      clearInterval(alive)
      content.destroy()
    }
    await flush()
    const name = reportFileName(run.name, run.run_id, run.due_at.getTime(), run.definition.format)
    await db.transaction(async (tx) => {
      await job.save(tx, {
        total: noted,
        cursor: { phase: 'deliver', rows: noted } satisfies Cursor,
        message: 'Delivering',
      })
      await store.made(tx, run.run_id, { rows: noted, bytes, name })
    })
  }

  /** Yields the chunks of the file. Throws if it was deleted in the meantime, so that a part never passes for the whole. */
  async function* chunksOf({ run_id, bytes }: Pick<RunRow, 'run_id' | 'bytes'>): AsyncGenerator<Buffer> {
    let given = 0
    for (let n = 0; given < bytes; n++) {
      const chunk = await store.chunk(run_id, n)
      if (chunk === undefined) throw new Error(`the file of report run ${run_id} was deleted`)
      given += chunk.length
      yield chunk
    }
  }

  async function intoFolder(job: JobRun, run: RunRow, folder: string): Promise<string> {
    const ended = new AbortController()
    const alive = keepAlive(job, (error) => ended.abort(error))
    const pieces = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of chunksOf(run)) {
        ended.signal.throwIfAborted()
        yield chunk
      }
    }
    try {
      await folders.write(folder, run.file_name, pieces())
      return ''
    } catch (error) {
      if (ended.signal.aborted) throw ended.signal.reason
      if (error instanceof AppError) return error.message
      if (isUnavailable(error)) throw error
      log.error({ err: error, runId: run.run_id }, 'cannot write a report to its folder')
      return 'The file could not be written. See the server log.'
    } finally {
      clearInterval(alive)
    }
  }

  async function deliver(job: JobRun, run: RunRow): Promise<void> {
    const { folder, recipients } = run.definition
    const folderError = folder === null ? '' : await intoFolder(job, run, folder)
    const mail = reportMail(run, preparedOf(run).description, await accounts.baseUrl())
    const at = now()
    await db.transaction(async (tx) => {
      // A run can be cancelled up to here; from here on it is delivered.
      await job.save(tx, { message: 'Delivered' })
      const isDone = folder !== null && folderError === ''
      if (
        !(await store.end(tx, run.run_id, at, {
          state: 'completed',
          error: '',
          folderFile: isDone ? run.file_name : '',
        }))
      )
        return
      if (folder !== null)
        await store.insertDelivery(tx, run.run_id, 0, at, {
          kind: 'folder',
          target: `${folder}/${run.file_name}`,
          state: isDone ? 'done' : 'failed',
          error: folderError,
        })
      for (const [i, to] of recipients.entries()) {
        const isWritten = await context.mail.enqueue(tx, to, mail, deliveryRef(run.run_id, i + 1))
        await store.insertDelivery(tx, run.run_id, i + 1, at, {
          kind: 'mail',
          target: to,
          state: isWritten ? 'waiting' : 'failed',
          error: isWritten ? '' : 'No mail server is configured. Configure one under Settings, Mail.',
        })
      }
      await hint(tx, 'reports')
      await audit.write(tx, systemActor('reports'), {
        action: 'report.made',
        entity: run.name,
        details: [
          `${run.file_name}, ${run.rows} rows, ${run.bytes} bytes, with the permissions of ${run.owner_name}`,
          `folder ${folder === null ? 'none' : `${folder}${folderError === '' ? '' : ` (${folderError})`}`}`,
          `mail to ${recipients.join(', ') || 'no recipients'}`,
        ].join('; '),
      })
    })
  }

  /** Ends a run with a failure. The history shows the reason. */
  const fail = (runId: string, state: 'failed' | 'cancelled', error: string): Promise<void> =>
    db.transaction(async (tx) => {
      if (!(await store.end(tx, runId, now(), { state, error }))) return
      await store.dropFile(tx, runId)
      await hint(tx, 'reports')
      const run = await store.run(runId)
      await audit.write(tx, systemActor('reports'), {
        action: `report.${state}`,
        entity: run?.name ?? runId,
        details: error,
        severity: 4,
        outcome: 'failure',
      })
    })

  const handler: JobHandler = {
    run: async (job) => {
      const { runId } = job.data as { runId: string }
      const run = await store.run(runId)
      // The run ended already; only its cleanup is repeated.
      if (run === undefined || run.ended_at !== null) return 'done'
      try {
        if ((job.cursor as Cursor)?.phase !== 'deliver') await make(job, run)
        await deliver(job, mustExist(await store.run(runId), 'the run of a report'))
      } catch (error) {
        // Permanent errors. Others are retried, or given up by the job (`settle`).
        if (error instanceof AppError && error.status < 500) await fail(runId, 'failed', error.message)
        throw error
      }
      return 'done'
    },
    cancelled: async (job) => {
      const { runId } = job.data as { runId: string }
      await fail(runId, 'cancelled', 'Cancelled.')
    },
  }

  return {
    handler,
    /** Closes runs whose job was given up. */
    settle: async (): Promise<void> => {
      for (const { run_id, state, message } of await store.orphans()) await fail(run_id, state, message)
    },
    chunksOf,
    /** Returns why the owner's current permissions do not allow a run; empty: they do. */
    problemOf,
  }
}
