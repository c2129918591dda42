/** `portcullis restore` and `portcullis backup verify`: an empty database is filled from a backup, with the server stopped. */
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ArchiveError, readArchive, restore } from '#platform/backup/index.ts'
import { loadConfig } from '#platform/config.ts'
import { makeDirs } from '#platform/data-dir.ts'
import { createDb } from '#platform/db/db.ts'
import { openDatabase } from '#platform/db/open-database.ts'
import { compareKeyFiles } from '#platform/keys.ts'
import { createLog } from '#platform/log.ts'
import { Secret } from '#platform/secret.ts'
import { StartError } from '#platform/start-error.ts'

const migrations = fileURLToPath(new URL('../../migrations', import.meta.url))

const passphraseOf = (file: string): Secret => {
  try {
    return new Secret(readFileSync(file, 'utf8').trim())
  } catch (error) {
    throw new StartError(`The passphrase cannot be read: ${(error as Error).message}`)
  }
}

let isBrokenOff = false

const run = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      file: { type: 'string' },
      'passphrase-file': { type: 'string' },
      verify: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  })
  const { file, verify } = values
  if (file === undefined || !existsSync(file)) throw new StartError(`There is no file ${file}.`)
  const passphraseFile = values['passphrase-file']
  const passphrase = passphraseFile === undefined ? null : passphraseOf(passphraseFile)
  const given = loadConfig(process.env, process.getuid?.() === 0)
  // A drill has a database of its own, that is thrown away.
  const drillDir = verify ? mkdtempSync(join(tmpdir(), 'portcullis-drill-')) : null
  if (drillDir !== null) await chmod(drillDir, 0o711)
  const config = drillDir === null ? given : { ...given, dataDir: join(drillDir, 'data'), databaseUrl: null }
  const log = createLog('error')
  try {
    const archive = await readArchive(createReadStream(file) as AsyncIterable<Buffer>, passphrase)
    const opening = openDatabase(config, log)
    // Broken off, nothing of it is left: no database that runs on, no copy of the data in a drill's folder.
    const breakOff = async (): Promise<void> => {
      isBrokenOff = true
      await opening.then(({ stop }) => stop()).catch(() => {})
      if (drillDir !== null) rmSync(drillDir, { recursive: true, force: true })
      process.stderr.write('Broken off. What was not finished can be tried again.\n')
      process.exit(1)
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void breakOff())
    const database = await opening
    const db = createDb({ connection: database.connection, max: 2, name: 'restore', log, statementTimeoutMs: 0 })
    try {
      let hasWrittenKeys = false
      const keepKeys = (keyFile: string): void => {
        if (drillDir !== null) return
        if (existsSync(config.keyFile)) {
          const existing = compareKeyFiles(readFileSync(config.keyFile, 'utf8'), keyFile)
          if (existing === 'same') return
          if (existing === 'older')
            throw new StartError(
              `Nothing was restored: ${config.keyFile} is older than the key file in the backup, and hosts trust the newer command key. Move it away, then restore again.`,
            )
          throw new StartError(
            `Nothing was restored: ${config.keyFile} is the key file of another server. Move it away, or set PORTCULLIS_KEY_FILE.`,
          )
        }
        try {
          makeDirs(dirname(config.keyFile))
          writeFileSync(config.keyFile, keyFile, { mode: 0o600, flag: 'wx', flush: true })
        } catch (error) {
          const { code } = error as NodeJS.ErrnoException
          throw new StartError(`Nothing was restored: the key file ${config.keyFile} cannot be written (${code}).`)
        }
        hasWrittenKeys = true
      }
      const { tables, rows, keyFile, schema } = await restore(db, migrations, archive, keepKeys)
      const { createdAt } = archive.head
      const keys =
        keyFile === null
          ? 'The key file is not in it: put it back, else sealed secrets are lost and agents trust no command.'
          : hasWrittenKeys
            ? `The key file is at ${config.keyFile}.`
            : drillDir !== null
              ? 'The key file is in it.'
              : `There is a key file ${config.keyFile} already; it was left as it is.`
      const what = `${tables} tables, ${rows} rows of ${createdAt}, each table with the checksum it had`
      process.stdout.write(
        values.json
          ? `${JSON.stringify({ ok: true, tables, rows, createdAt, schema, hasKeys: keyFile !== null })}\n`
          : `${verify ? 'The backup can be restored' : 'Restored'}: ${what}. ${keys}\n`,
      )
    } finally {
      await db.close()
      await database.stop()
    }
  } finally {
    if (drillDir !== null) rmSync(drillDir, { recursive: true, force: true })
  }
}

run().catch((error: unknown) => {
  if (isBrokenOff) return
  const isKnown = error instanceof StartError || error instanceof ArchiveError
  process.stderr.write(`${isKnown ? error.message : String((error as Error).stack ?? error)}\n`)
  process.exitCode = 1
})
