import { Readable } from 'node:stream'
import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import { dump, schemaOf, writeArchive } from '@portcullis/platform/server/backup/index.ts'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import { FileAnswer } from '@portcullis/platform/server/http/answer.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import type { FastifyReply } from 'fastify'
import type { PoolClient } from 'pg'
import { backupStatus, createBackup, runBackup } from '#features/contract.ts'
import type { OperationsContext } from '../context.ts'
import { createBackupStore, type MadeBackup } from './backup.store.ts'
import { createBackupMaker } from './backup-maker.ts'
import { backupJob, createBackupSchedule } from './backup-schedule.service.ts'
import type { DrillOptions } from './drill.ts'

export { makeLocalBackup } from './local-backup.ts'

export type BackupApi = ReturnType<typeof backupFeature>

/** A reader without progress for this long is gone. Its open snapshot would keep the database from cleaning up. */
const stalledMs = 120_000

/** Lends a connection until it is returned. Closes a connection that was interrupted, instead of reusing it. */
const lend = (pool: Db): Promise<{ client: PoolClient; release(isBroken: boolean): void }> =>
  new Promise((resolve, reject) => {
    pool
      .withClient(
        (client) =>
          new Promise<void>((done, broken) => {
            resolve({ client, release: (isBroken) => (isBroken ? broken(new Error('broken off')) : done()) })
          }),
      )
      .catch(reject)
  })

/**
 * Serves backups of a running server, without its key file. The command line restores them while the server is stopped.
 */
export const backupFeature = (app: HttpApp, context: OperationsContext & { drill: DrillOptions }) => {
  const { db, exportDb, clock, log, audit, version } = context
  const store = createBackupStore(db)
  let isRunning = false

  /** Streams a backup. Releases its resources once, after the last byte or when the client disconnects. */
  async function open(passphrase: Secret | null, madeBy: string, reply: FastifyReply): Promise<Readable> {
    const made: MadeBackup = {
      madeAt: new Date(clock.now()),
      madeBy,
      bytes: 0,
      hasKeys: false,
      isEncrypted: passphrase !== null,
    }
    const { client, release } = await lend(exportDb)
    let isComplete = false
    let timer: NodeJS.Timeout | undefined
    async function* bytes(): AsyncGenerator<Buffer> {
      const head = {
        createdAt: made.madeAt.toISOString(),
        product: version,
        schema: await schemaOf(client),
        hasKeys: false,
      }
      for await (const chunk of writeArchive(dump(client, null), { head, passphrase })) {
        timer?.refresh()
        made.bytes += chunk.length
        yield chunk
      }
      isComplete = true
    }
    const stream = Readable.from(bytes(), { objectMode: false })
    function end(): void {
      clearTimeout(timer)
      reply.raw.removeListener('close', end)
      stream.removeListener('close', end)
      stream.destroy()
      release(!isComplete)
      isRunning = false
      if (isComplete)
        store
          .note(made)
          .catch((error: unknown) => log.warn({ err: error }, 'a backup was completed, but could not be recorded'))
    }
    timer = setTimeout(() => stream.destroy(new Error('the client stopped reading the backup')), stalledMs)
    stream.once('close', end)
    // A client that disconnects before the first byte never touches the stream.
    if (reply.raw.destroyed) end()
    else reply.raw.once('close', end)
    return stream
  }

  app.register(createBackup, async ({ actor, body, reply }) => {
    const passphrase = body?.passphrase ?? null
    if (passphrase !== null && passphrase !== passphrase.trim())
      throw invalid('body.passphrase', 'must not begin or end with a space')
    if (body?.withKeys === true) {
      await db.transaction((tx) =>
        audit.write(tx, actor, {
          action: 'backup.refused',
          entity: 'database and key file',
          details: 'the key file can be exported only on the command line of the server',
          severity: 4,
          outcome: 'failure',
        }),
      )
      throw new AppError('keys_command_line_only')
    }
    if (isRunning) throw new AppError('conflict', { detail: 'A backup is already running. Wait until it ends.' })
    isRunning = true
    try {
      await db.transaction((tx) =>
        audit.write(tx, actor, {
          action: 'backup.made',
          entity: 'database',
          details: passphrase === null ? 'not encrypted' : 'encrypted',
          severity: 4,
        }),
      )
      const name = `portcullis-${new Date(clock.now()).toISOString().slice(0, 16).replaceAll(/[:T]/g, '-')}.backup`
      const stream = await open(passphrase === null ? null : new Secret(passphrase), actor.userName, reply)
      return new FileAnswer(name, 'application/octet-stream', stream)
    } catch (error) {
      isRunning = false
      throw error
    }
  })
  const schedule = createBackupSchedule(context)
  const maker = createBackupMaker(context, schedule.values)
  context.jobs.handle(backupJob, maker.handler)
  // A caller that cannot change the schedule, such as an API token, cannot prevent its backups.
  context.jobs.guardCancel(backupJob, 'config:write')
  let tidying: Promise<void> | null = null
  /** Removes once what an earlier process left. */
  const tidied = (): Promise<void> => {
    tidying ??= maker.tidy()
    return tidying
  }
  app.register(backupStatus, () => schedule.status())
  app.register(runBackup, ({ actor }) => schedule.run(actor))

  return {
    /** Orders a due backup. Runs every 15 s, on any replica. */
    tick: async (): Promise<void> => {
      await tidied()
      await schedule.orderDue()
    },
    /** Returns the state of the scheduled backups. Null if they are disabled. */
    health: schedule.health,
    /** Ends a running backup, which is made again later. Call it after the jobs have stopped taking work. */
    close: maker.close,
    /** Returns when the newest completed backup was made. Null without one. */
    newest: store.newest,
  }
}
