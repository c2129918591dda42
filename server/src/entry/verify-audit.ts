/** `portcullis verify-audit`: holds an audit trail against its chain and its checkpoints. Needs no server, and for files no database. */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkpointKeyId, compareCheckpoints, type TrailVerdict, verifyTrail } from '@portcullis/domain'
import { checkpointFiles, hasCheckpoints, readCheckpointLines, trailLines } from '#features/audit/index.ts'
import { loadConfig } from '#platform/config.ts'
import { createDb, type Db } from '#platform/db/db.ts'
import { type OpenDatabase, openDatabase } from '#platform/db/open-database.ts'
import { loadKeys } from '#platform/keys.ts'
import { streamLines } from '#platform/list/stream.ts'
import { createLog } from '#platform/log.ts'
import { StartError } from '#platform/start-error.ts'
import { auditReport, type Copy } from './verify-audit-text.ts'

const pem = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g

const readKeys = (files: readonly string[]): Map<string, KeyObject> =>
  new Map(
    files.flatMap((file) => {
      const keys = [...readText(file).matchAll(pem)].map(([text]) => createPublicKey(text))
      if (keys.length === 0) throw new StartError(`${file} holds no public key in PEM.`)
      return keys.map((key): [string, KeyObject] => [checkpointKeyId(key), key])
    }),
  )

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new StartError(`${file} can not be read: ${(error as Error).message}.`)
  }
}

interface Source {
  name: string
  isDatabase: boolean
  open(): AsyncIterable<Uint8Array>
}

/** A file of checkpoints, or a folder of them; what is appended from now on does not count. */
const fileSource = async (path: string): Promise<Source> => {
  if (!existsSync(path)) throw new StartError(`There is no ${path}.`)
  const names = statSync(path).isDirectory() ? (await checkpointFiles(path)).map((name) => join(path, name)) : [path]
  const files = names.map((name) => ({ name, size: statSync(name).size })).filter(({ size }) => size > 0)
  return {
    name: path,
    isDatabase: false,
    async *open() {
      for (const { name, size } of files) yield* createReadStream(name, { end: size - 1 })
    },
  }
}

/** The longest of the copies, all compared to it. */
const chooseCopy = async (sources: readonly Source[]): Promise<{ longest: Source | null; copies: Copy[] }> => {
  let longest: Source | null = null
  const copies: Copy[] = []
  let most = 0
  for (const source of sources) {
    const { differs, counts } = await compareCheckpoints((longest ?? source).open(), source.open())
    copies.push({ name: source.name, isDatabase: source.isDatabase, count: counts[1], differs })
    if (longest === null || counts[1] > most) [longest, most] = [source, counts[1]]
  }
  return { longest, copies }
}

/** What the database lacks and another copy has was taken out of it: there it is written first. */
const withCopies = (verdict: TrailVerdict, copies: readonly Copy[]): TrailVerdict => {
  const most = Math.max(0, ...copies.map(({ count }) => count))
  const short = copies.find(({ isDatabase, count }) => isDatabase && count < most)
  const differs = copies.find((copy) => copy.differs !== null)?.differs ?? null
  const lacking =
    short === undefined ? null : { checkpoint: short.count + 1, fault: 'missing' as const, line: short.count + 1 }
  const brokenCheckpoint = verdict.brokenCheckpoint ?? differs ?? lacking
  return { ...verdict, brokenCheckpoint, ok: verdict.ok && brokenCheckpoint === null }
}

const verify = async (
  trail: () => AsyncIterable<Uint8Array>,
  sources: readonly Source[],
  keys: ReadonlyMap<string, KeyObject>,
): Promise<{ verdict: TrailVerdict; copies: Copy[] }> => {
  const { longest, copies } = await chooseCopy(sources)
  const verdict = await verifyTrail(trail(), longest === null ? null : { bytes: longest.open(), keys })
  return { verdict: withCopies(verdict, copies), copies }
}

const { values } = parseArgs({
  options: {
    file: { type: 'string' },
    database: { type: 'boolean', default: false },
    checkpoints: { type: 'string', multiple: true, default: [] },
    key: { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean', default: false },
  },
})

const ofFile = async (file: string) => {
  if (!existsSync(file)) throw new StartError(`There is no file ${file}.`)
  if (values.checkpoints.length > 0 && values.key.length === 0)
    throw new StartError('Checkpoints are worth nothing without the key that signed them: give --key as well.')
  const sources = await Promise.all(values.checkpoints.map(fileSource))
  return verify(() => createReadStream(file, { highWaterMark: 1 << 18 }), sources, readKeys(values.key))
}

const ofDatabase = async () => {
  const config = loadConfig(process.env, process.getuid?.() === 0)
  const keys = readKeys(values.key)
  if (values.key.length === 0) {
    // A key that is made now has signed nothing.
    if (!existsSync(config.keyFile))
      throw new StartError(`There is no key file ${config.keyFile}: give --key, or set PORTCULLIS_KEY_FILE.`)
    const { publicKey } = loadKeys(config.keyFile).audit
    keys.set(checkpointKeyId(publicKey), publicKey)
  }
  const dirs = values.checkpoints.length > 0 ? values.checkpoints : [config.auditDir].filter((dir) => existsSync(dir))
  // Before the database: what is written while this runs is there earlier than in a folder.
  const files = await Promise.all(dirs.map(fileSource))
  const log = createLog('error')
  // Who only reads needs neither the right to write there nor a database that a server would trust.
  const database: OpenDatabase =
    config.databaseUrl === null
      ? await openDatabase(config, log)
      : { connection: { connectionString: config.databaseUrl.reveal() }, stop: async () => {} }
  const db: Db = createDb({ connection: database.connection, max: 3, name: 'verify', log, statementTimeoutMs: 0 })
  try {
    const own: Source = { name: 'database', isDatabase: true, open: () => readCheckpointLines(db) }
    const sources = (await hasCheckpoints(db)) ? [...files, own] : files
    return await verify(() => streamLines(db, trailLines), sources, keys)
  } finally {
    await db.close()
    await database.stop()
  }
}

const run = async (): Promise<void> => {
  if ((values.file === undefined) === !values.database)
    throw new StartError('Give --file with an exported trail, or --database.')
  const { verdict, copies } = values.file === undefined ? await ofDatabase() : await ofFile(values.file)
  const lines = auditReport(verdict, copies)
  process.stdout.write(
    values.json ? `${JSON.stringify({ ...verdict, copies, report: lines })}\n` : `${lines.join('\n')}\n`,
  )
  process.exitCode = verdict.ok ? 0 : 1
}

// 1 says that the trail is broken; whatever keeps this from finding out is 2.
run().catch((error: unknown) => {
  process.stderr.write(`${error instanceof StartError ? error.message : String((error as Error).stack ?? error)}\n`)
  process.exitCode = 2
})
