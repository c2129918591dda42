import { createWriteStream, readFileSync, rmSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { dump, schemaOf, writeArchive } from '@portcullis/platform/server/backup/index.ts'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import { isDiskFull, StartError } from '@portcullis/platform/server/start-error.ts'
import { auditWriter } from '#features/audit/server/index.ts'
import { createBackupStore } from './backup.store.ts'

export interface LocalBackup {
  db: Db
  clock: Clock
  version: string
  /** File to write; never overwritten. */
  out: string
  /** Null: not encrypted, which is refused together with keys. */
  passphrase: Secret | null
  /** Key file to include. Null: none. */
  keyFile: string | null
  /** Account of the operating system that ran the command, for the audit trail. */
  by: string
}

/**
 * Writes a backup on the server. Only such a backup can contain the key file, because the caller can read that file
 * anyway. Callers of the HTTP API cannot.
 * @throws StartError
 */
export const makeLocalBackup = async (options: LocalBackup): Promise<{ bytes: number }> => {
  const { db, clock, version, out, passphrase, keyFile, by } = options
  if (keyFile !== null && passphrase === null)
    throw new StartError('A backup with keys must be encrypted. Add --passphrase-file.')
  let keys: string | null = null
  if (keyFile !== null) {
    try {
      keys = readFileSync(keyFile, 'utf8')
    } catch (error) {
      throw new StartError(`Cannot read the key file ${keyFile}: ${(error as Error).message}.`)
    }
  }
  const madeAt = new Date(clock.now())
  await db.transaction((tx) =>
    auditWriter(clock).write(tx, systemActor('command line'), {
      action: 'backup.made',
      entity: keys === null ? 'database' : 'database and key file',
      details: `on the command line of the server, by ${by}; ${passphrase === null ? 'not encrypted' : 'encrypted'}`,
      severity: 4,
    }),
  )
  let bytes = 0
  await db.withClient(async (client) => {
    const head = {
      createdAt: madeAt.toISOString(),
      product: version,
      schema: await schemaOf(client),
      hasKeys: keys !== null,
    }
    async function* counted(): AsyncGenerator<Buffer> {
      for await (const chunk of writeArchive(dump(client, keys), { head, passphrase })) {
        bytes += chunk.length
        yield chunk
      }
    }
    const file = createWriteStream(out, { flags: 'wx', mode: 0o600, flush: true })
    try {
      await pipeline(Readable.from(counted(), { objectMode: false }), file)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EEXIST') throw new StartError(`${out} already exists. Choose another file.`)
      rmSync(out, { force: true })
      if (isDiskFull(error))
        throw new StartError(`There is no space left for ${out}. Nothing was written. Choose another folder.`)
      if (code === 'EACCES' || code === 'ENOENT' || code === 'EROFS')
        throw new StartError(`Cannot write ${out} (${code}). Choose a folder that exists and that you can write to.`)
      throw error
    }
  })
  await createBackupStore(db).note({
    madeAt,
    madeBy: 'command line',
    bytes,
    hasKeys: keys !== null,
    isEncrypted: passphrase !== null,
  })
  return { bytes }
}
