import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { createBackup } from '@portcullis/contract'
import type { AuditApi } from '#features/audit/index.ts'
import { AppError, invalid } from '#platform/app-error.ts'
import { dump, schemaOf, writeArchive } from '#platform/backup/index.ts'
import type { Clock } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { FileAnswer } from '#platform/http/answer.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import { Secret } from '#platform/secret.ts'

export interface BackupDeps {
  db: Db
  /** Pool of long reads. */
  exportDb: Db
  clock: Clock
  audit: Pick<AuditApi, 'write'>
  keyFile: string
  version: string
}

/** Backups of a running server; restoring one is for the command line, with the server stopped. */
export const backupFeature = (app: HttpApp, { db, exportDb, clock, audit, keyFile, version }: BackupDeps): void => {
  let isRunning = false

  /** The bytes, from one connection that is given back when the reader has all or goes away. */
  async function* bytes(passphrase: Secret | null, keys: string | null): AsyncGenerator<Buffer> {
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    try {
      const client = await new Promise<import('pg').PoolClient>((resolve, reject) => {
        exportDb
          .withClient(async (lent) => {
            resolve(lent)
            await held
          })
          .catch(reject)
      })
      const head = {
        createdAt: new Date(clock.now()).toISOString(),
        product: version,
        schema: await schemaOf(client),
        hasKeys: keys !== null,
      }
      yield* writeArchive(dump(client, keys), { head, passphrase })
    } finally {
      release()
      isRunning = false
    }
  }

  app.register(createBackup, async ({ actor, body }) => {
    const passphrase = body?.passphrase ?? null
    const withKeys = body?.withKeys === true
    if (withKeys && passphrase === null) throw invalid('body.passphrase', 'is needed with the key file')
    if (isRunning) throw new AppError('conflict', { detail: 'A backup is being made; wait for it to end.' })
    isRunning = true
    await db
      .transaction((tx) =>
        audit.write(tx, actor, {
          action: 'backup.made',
          entity: withKeys ? 'database and key file' : 'database',
          details: passphrase === null ? 'not encrypted' : 'encrypted',
          severity: 4,
        }),
      )
      .catch((error: unknown) => {
        isRunning = false
        throw error
      })
    const name = `portcullis-${new Date(clock.now()).toISOString().slice(0, 16).replaceAll(/[:T]/g, '-')}.backup`
    const keys = withKeys ? readFileSync(keyFile, 'utf8') : null
    return new FileAnswer(
      name,
      'application/octet-stream',
      Readable.from(bytes(passphrase === null ? null : new Secret(passphrase), keys), { objectMode: false }),
    )
  })
}
