/**
 * Runs `portcullis verify-audit`: checks an audit trail against its chain and its checkpoints. Needs no server, and for
 * files no database.
 */
import type { KeyObject } from 'node:crypto'
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkpointKeyId, compareCheckpoints, type TrailVerdict, verifyTrail } from '@portcullis/domain'
import {
  checkpointFiles,
  formerKeysFile,
  hasCheckpoints,
  publicKeysOf,
  readCheckpointLines,
  trailLines,
} from '@portcullis/features/audit/server/index.ts'
import { connectionOf } from '@portcullis/platform/server/db/connection.ts'
import { openDatabase } from '@portcullis/platform/server/db/open-database.ts'
import { loadKeys } from '@portcullis/platform/server/keys.ts'
import { streamLines } from '@portcullis/platform/server/list/stream.ts'
import { StartError } from '@portcullis/platform/server/start-error.ts'
import { ownConfig, problemOf, withDatabase } from './local.ts'
import { auditReport, type Copy, type Verdict } from './verify-audit-text.ts'

const readKeys = (files: readonly string[]): Map<string, KeyObject> =>
  new Map(
    files.flatMap((file) => {
      const keys = publicKeysOf(readText(file))
      if (keys.length === 0) throw new StartError(`${file} contains no public key in PEM format.`)
      return keys
    }),
  )

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new StartError(`Cannot read ${file}: ${(error as Error).message}.`)
  }
}

interface Source {
  name: string
  isDatabase: boolean
  open(): AsyncIterable<Uint8Array>
}

/** Reads a file of checkpoints, or a folder of them. Checkpoints that are appended later do not count. */
const fileSource = async (path: string): Promise<Source> => {
  if (!existsSync(path)) throw new StartError(`${path} does not exist.`)
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

/** Returns why an unbroken trail is not, or not fully, proven. */
const doubts = ({ records, covered }: TrailVerdict, copies: readonly Copy[], missing: readonly string[]): string[] => [
  ...missing.map((dir) => `the checkpoint folder ${dir} does not exist`),
  ...copies
    .filter(({ count, isDatabase }) => count === 0 && !isDatabase)
    .map(({ name }) => `${name} has no checkpoint`),
  ...(records === 0 ? ['the trail has no records, and nothing proves that it never had any'] : []),
  ...(records > 0 && covered === null ? ['no checkpoint covers a record'] : []),
]

/**
 * Reports checkpoints that only other copies contain as removed from the database, because they are written there
 * first.
 */
const withCopies = (verdict: TrailVerdict, copies: readonly Copy[], missing: readonly string[]): Verdict => {
  const most = Math.max(0, ...copies.map(({ count }) => count))
  const short = copies.find(({ isDatabase, count }) => isDatabase && count < most)
  const differs = copies.find((copy) => copy.differs !== null)?.differs ?? null
  const lacking =
    short === undefined ? null : { checkpoint: short.count + 1, fault: 'missing' as const, line: short.count + 1 }
  const brokenCheckpoint = verdict.brokenCheckpoint ?? differs ?? lacking
  const isBroken = !verdict.ok || brokenCheckpoint !== null
  const notProven = isBroken ? [] : doubts(verdict, copies, missing)
  return { ...verdict, brokenCheckpoint, notProven, ok: !isBroken && notProven.length === 0 }
}

const verify = async (
  trail: () => AsyncIterable<Uint8Array>,
  sources: readonly Source[],
  keys: ReadonlyMap<string, KeyObject>,
  missing: readonly string[] = [],
): Promise<{ verdict: Verdict; copies: Copy[] }> => {
  const { longest, copies } = await chooseCopy(sources)
  const verdict = await verifyTrail(trail(), longest === null ? null : { bytes: longest.open(), keys })
  return { verdict: withCopies(verdict, copies, missing), copies }
}

const readOptions = () => {
  try {
    return parseArgs({
      options: {
        file: { type: 'string' },
        database: { type: 'boolean', default: false },
        checkpoints: { type: 'string', multiple: true, default: [] },
        key: { type: 'string', multiple: true, default: [] },
        json: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new StartError((error as Error).message)
  }
}
type Options = ReturnType<typeof readOptions>

const ofFile = async (file: string, values: Options) => {
  if (!existsSync(file)) throw new StartError(`The file ${file} does not exist.`)
  if (values.checkpoints.length > 0 && values.key.length === 0)
    throw new StartError('Checkpoints prove nothing without the key that signed them. Add --key.')
  const sources = await Promise.all(values.checkpoints.map(fileSource))
  return verify(() => createReadStream(file, { highWaterMark: 1 << 18 }), sources, readKeys(values.key))
}

const ofDatabase = async (values: Options) => {
  const config = ownConfig()
  const keys = readKeys(values.key)
  if (values.key.length === 0) {
    // A new key would not have signed anything.
    if (!existsSync(config.keyFile))
      throw new StartError(`The key file ${config.keyFile} does not exist. Use --key, or set PORTCULLIS_KEY_FILE.`)
    const { publicKey } = loadKeys(config.keyFile).audit
    keys.set(checkpointKeyId(publicKey), publicKey)
    const former = formerKeysFile(config.keyFile)
    if (existsSync(former)) for (const [id, key] of readKeys([former])) keys.set(id, key)
  }
  const expected = values.checkpoints.length > 0 ? values.checkpoints : [config.auditDir]
  const missing = values.checkpoints.length > 0 ? [] : expected.filter((dir) => !existsSync(dir))
  const dirs = expected.filter((dir) => !missing.includes(dir))
  // Reads the folders before the database, because new checkpoints are written to the database first.
  const files = await Promise.all(dirs.map(fileSource))
  // Reading requires neither write access nor a database that passes the server's checks.
  const open: typeof openDatabase = async (_, log) =>
    config.databaseUrl === null
      ? openDatabase(config, log)
      : { connection: connectionOf(config.databaseUrl.reveal(), log), stop: async () => {} }
  return withDatabase(config, { name: 'verify', max: 3, open }, async (db) => {
    const own: Source = { name: 'database', isDatabase: true, open: () => readCheckpointLines(db) }
    const sources = (await hasCheckpoints(db)) ? [...files, own] : files
    return verify(() => streamLines(db, trailLines), sources, keys, missing)
  })
}

const run = async (): Promise<void> => {
  const values = readOptions()
  if ((values.file === undefined) === !values.database)
    throw new StartError('Give --file with an exported trail, or --database.')
  const { verdict, copies } = values.file === undefined ? await ofDatabase(values) : await ofFile(values.file, values)
  const lines = auditReport(verdict, copies)
  process.stdout.write(
    values.json ? `${JSON.stringify({ ...verdict, copies, report: lines })}\n` : `${lines.join('\n')}\n`,
  )
  process.exitCode = verdict.ok ? 0 : verdict.notProven.length > 0 ? 2 : 1
}

// Exit code 1 means a broken trail; 2 means that the check could not be completed.
const fail = (error: unknown): void => {
  process.stderr.write(`${problemOf(error)}\n`)
  process.exitCode = 2
}
process.once('uncaughtException', (error) => {
  fail(error)
  process.exit()
})
run().catch(fail)
