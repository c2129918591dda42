/**
 * Runs `portcullis restore` and `portcullis backup verify`: fills an empty database from a backup while the server is
 * stopped.
 */
import { createReadStream, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ruleSetSchema } from '@portcullis/features/policy/server/index.ts'
import {
  ArchiveError,
  makeDrillFolder,
  type OpenArchive,
  readArchive,
  removeAbandonedDrills,
  restore,
} from '@portcullis/platform/server/backup/index.ts'
import { makeDirs } from '@portcullis/platform/server/data-dir.ts'
import { createDb } from '@portcullis/platform/server/db/db.ts'
import { openDatabase } from '@portcullis/platform/server/db/open-database.ts'
import { compareKeyFiles, loadKeys } from '@portcullis/platform/server/keys.ts'
import { createLog } from '@portcullis/platform/server/log.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import { isDiskFull, StartError } from '@portcullis/platform/server/start-error.ts'
import { ownConfig } from './local.ts'

const migrations = fileURLToPath(new URL('../../migrations', import.meta.url))

/** Returns the passphrases that the text of a file may mean. Earlier releases kept spaces at the ends of some. */
const passphrasesOf = (file: string): Secret[] => {
  try {
    // 0 is standard input.
    const text = readFileSync(file === '-' ? 0 : file, 'utf8')
    return [...new Set([text.trim(), text.replace(/\r?\n$/, '')])].map((one) => new Secret(one))
  } catch (error) {
    throw new StartError(`Cannot read the passphrase: ${(error as Error).message}`)
  }
}

/** Opens a backup with the first passphrase that decrypts its beginning. */
const openBackup = async (file: string, [passphrase, ...others]: readonly (Secret | null)[]): Promise<OpenArchive> => {
  const archive = await readArchive(createReadStream(file) as AsyncIterable<Buffer>, passphrase ?? null)
  if (others.length === 0) return archive
  try {
    const first = await archive.parts.next()
    return { head: archive.head, parts: startingWith(first, archive.parts) }
  } catch {
    return openBackup(file, others)
  }
}

async function* startingWith<T>(first: IteratorResult<T, unknown>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  if (first.done === true) return
  yield first.value
  yield* rest
}

/** Returns what to tell the person who runs the command. An unexpected error comes with its stack trace, for a report. */
const problemOf = (error: unknown): string => {
  if (error instanceof StartError || error instanceof ArchiveError) return error.message
  if (isDiskFull(error))
    return 'Nothing was restored: there is no space left on the disk. Free some space, then run the command again.'
  const { code, syscall, message, stack } = error as NodeJS.ErrnoException
  if (syscall === 'open' || syscall === 'read')
    return code === 'EISDIR'
      ? 'This is a folder, not a backup. Give the path of the file.'
      : `The backup cannot be read: ${message}. Check its permissions and its disk.`
  return stack ?? String(error)
}

/** Lets the server seal rules of an earlier release for the first time, even if it has sealed its own. */
const expectFirstSealing = (keyFile: string): void => {
  try {
    if (existsSync(keyFile)) loadKeys(keyFile).ruleSeal.write('due')
  } catch {
    // The file cannot be written. The server reports a missing seal, and a person accepts the rules.
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
  if (file === undefined || !existsSync(file)) throw new StartError(`The file ${file} does not exist.`)
  const passphraseFile = values['passphrase-file']
  const passphrases = passphraseFile === undefined ? [] : passphrasesOf(passphraseFile)
  const given = ownConfig()
  // A verification uses a temporary database.
  const log = createLog('error')
  if (verify) await removeAbandonedDrills(tmpdir(), log)
  const drillDir = verify ? makeDrillFolder(tmpdir()) : null
  const config = drillDir === null ? given : { ...given, dataDir: join(drillDir, 'data'), databaseUrl: null }
  try {
    const archive = await openBackup(file, passphrases)
    const opening = openDatabase(config, log)
    // An interruption stops the database and deletes the copy of the data.
    const breakOff = async (): Promise<void> => {
      isBrokenOff = true
      await opening.then(({ stop }) => stop()).catch(() => {})
      if (drillDir !== null) rmSync(drillDir, { recursive: true, force: true })
      process.stderr.write('Interrupted. You can run the command again.\n')
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
          throw new StartError(`Nothing was restored: cannot write the key file ${config.keyFile} (${code}).`)
        }
        hasWrittenKeys = true
      }
      const { tables, rows, keyFile, schema } = await restore(db, migrations, archive, keepKeys)
      const { createdAt, schema: earlier } = archive.head
      if (drillDir === null && earlier < ruleSetSchema) expectFirstSealing(config.keyFile)
      const keys =
        keyFile === null
          ? drillDir !== null
            ? 'The backup does not contain the key file. Keep a copy of it.'
            : existsSync(config.keyFile)
              ? `The backup does not contain the key file. The server will use ${config.keyFile}, which is there.`
              : `The backup does not contain the key file. Restore it to ${config.keyFile} from its copy before you start the server.`
          : hasWrittenKeys
            ? `The key file is at ${config.keyFile}.`
            : drillDir !== null
              ? 'The backup contains the key file.'
              : `The key file ${config.keyFile} already exists and was not changed.`
      const what = `${tables} tables, ${rows} rows of ${createdAt}, with matching checksums for all tables`
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
  process.stderr.write(`${problemOf(error)}\n`)
  process.exitCode = 1
})
