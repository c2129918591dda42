/** Writes the support bundle of `portcullis doctor --bundle`: one compressed tar file that a person can read. */
import { closeSync, existsSync, fstatSync, linkSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, hostname, loadavg, release, totalmem, uptime, userInfo } from 'node:os'
import { join } from 'node:path'
import { type ConfigKind, configGroups } from '@portcullis/features/contract.ts'
import { type Config, type Environment, secretVariables } from '@portcullis/platform/server/config.ts'
import { logFileOf } from '@portcullis/platform/server/log-file.ts'
import { StartError } from '@portcullis/platform/server/start-error.ts'
import packageFile from '../../../../../package.json' with { type: 'json' }
import type { Finding } from '../finding.ts'
import type { DatabaseForBundle } from './bundle.read.ts'
import { aggregated, linesOf } from './log-lines.ts'
import { scrubbedLabels } from './metric-labels.ts'
import { isSecretMember, redacted } from './redact.ts'
import { createScrub, type Scrub } from './scrub.ts'
import { tarOf } from './tar.ts'
import { readVocabulary } from './vocabulary.ts'

/** Most bytes of one log in a bundle: its newest. */
const logLimit = 2 * 1024 * 1024

export interface BundleInput {
  root: string
  env: Environment
  config: Config | null
  findings: readonly Finding[]
  database: DatabaseForBundle | null
  /** Response of `/metrics`; null: the server does not run, or refuses. */
  metrics: string | null
  keepPersonal: boolean
  now: number
}

/** Kinds of settings whose values contain no name. All other values are only reported as set. */
const openKinds: ReadonlySet<ConfigKind> = new Set(['boolean', 'integer', 'share', 'choice', 'color'])
/** Kinds whose values are left out even with personal data. */
const closedKinds: ReadonlySet<ConfigKind> = new Set(['secret', 'certificates', 'image', 'licence'])

/** Variables whose values contain no name. */
const openVariables: ReadonlySet<string> = new Set([
  'PORTCULLIS_PORT',
  'PORTCULLIS_LOG_LEVEL',
  'PORTCULLIS_DRAIN_SECONDS',
  'PORTCULLIS_VALIDATE_RESPONSES',
  'PORTCULLIS_NO_NODE_DOWNLOAD',
  'OTEL_SDK_DISABLED',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
])
/** Variables that may be named. */
const ourVariables = /^(?:PORTCULLIS_|OTEL_|DATABASE_URL|NATS_URL|KAFKA_BROKERS|NODE_OPTIONS$|TZ$|LANG$|LC_)/

const environmentOf = (env: Environment, scrub: Scrub): Record<string, string> =>
  Object.fromEntries(
    Object.keys(env)
      .filter((name) => ourVariables.test(name) && env[name] !== '')
      .sort()
      // An unknown name may contain anything.
      .map((name) => [scrub(name), openVariables.has(name) ? scrub(env[name] ?? '') : 'set']),
  )

const settingsOf = (
  rows: DatabaseForBundle['settings'],
  { keepPersonal, scrub }: { keepPersonal: boolean; scrub: Scrub },
): Record<string, string> => {
  const stored = new Map(rows.map(({ name, value }) => [name, value]))
  return Object.fromEntries(
    Object.values(configGroups).flatMap(({ items }) =>
      Object.entries(items).flatMap(([name, { kind }]): [string, string][] => {
        if (!stored.has(name)) return []
        const value = stored.get(name) ?? null
        const isShown = value !== null && (openKinds.has(kind) || (keepPersonal && !closedKinds.has(kind)))
        return [[name, isShown ? scrub(value) : value === '' ? 'empty' : 'set']]
      }),
    ),
  )
}

/** Returns the newest part of a file, from the start of a line; empty if it cannot be read. */
const tailOf = (path: string): string => {
  if (!existsSync(path)) return ''
  try {
    const fd = openSync(path, 'r')
    try {
      const { size } = fstatSync(fd)
      const from = Math.max(0, size - logLimit)
      const buffer = Buffer.alloc(size - from)
      const text = buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, from))
      return from === 0 ? text : text.slice(text.indexOf('\n') + 1)
    } finally {
      closeSync(fd)
    }
  } catch {
    return ''
  }
}

/** Returns the secrets that this command can read, to remove them from every text. */
const secretsOf = (env: Environment, config: Config | null): string[] => {
  const given = secretVariables.flatMap((name) => {
    const file = env[`${name}_FILE`]
    const text = file ? tailOf(file).trim() : (env[name] ?? '')
    const password = URL.canParse(text) ? decodeURIComponent(new URL(text).password) : ''
    return [text, password]
  })
  const keys = config === null ? [] : (tailOf(config.keyFile).match(/[\w+/-]{16,}={0,2}/g) ?? [])
  return [...given, ...keys].filter((text) => text !== '')
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** Applies a function to every text in a value, and removes the values of members that are named like a secret. */
const mapped = (value: unknown, change: Scrub, isSecret = false): unknown => {
  if (Array.isArray(value)) return value.map((one) => mapped(one, change, isSecret))
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [change(name), mapped(one, change, isSecret || isSecretMember(name))]),
    )
  if (isSecret && (typeof value === 'string' || typeof value === 'number')) return redacted
  return typeof value === 'string' ? change(value) : value
}

const contents: Readonly<Record<string, string>> = {
  'findings.txt': 'results of all checks of the doctor',
  'versions.json': 'versions of the product, Node.js and the system; processors and memory',
  'environment.json': 'environment variables: values of a few, and which others are set',
  'settings.json': 'settings that differ from an empty installation: numbers and choices, and which others are set',
  'health.json': 'state of each part of the server, and its last changes',
  'database.json': 'migrations, size of each table, jobs by state, last backups',
  'statements.json': 'slow statements, with placeholders instead of values',
  'metrics.txt': 'metrics of the running server',
  'server.log': 'newest lines of the server log',
  'postgres.log': 'newest lines of the database log, without statements and values',
}

const readmeOf = (names: readonly string[], { keepPersonal, now }: BundleInput): string =>
  [
    `Support bundle of Portcullis ${packageFile.version}, created ${new Date(now).toISOString()}.`,
    '',
    keepPersonal
      ? 'Passwords, keys, tokens and certificates were removed. A message of another system may still contain one in a form that the server does not know.'
      : 'It contains no password, key, token or certificate.',
    keepPersonal
      ? 'It CONTAINS names and addresses, because it was created with --include-personal-data.'
      : 'Names, addresses, serial numbers and paths are replaced with pseudonyms such as ~3fa9c17b. The same word has the same pseudonym in all files of this bundle, and another one in the next bundle. Nobody can reverse them. --include-personal-data keeps names and addresses.',
    'Read it before you send it.',
    '',
    ...names.map((name) => `${name.padEnd(18)} ${contents[name] ?? ''}`),
    '',
  ].join('\n')

/** Returns the files of a bundle, by name. */
const bundleFiles = (input: BundleInput): Map<string, string> => {
  const { root, env, config, findings, database, metrics, keepPersonal } = input
  const user = userInfo().username
  const scrub = createScrub({
    vocabulary: readVocabulary(root),
    names: [hostname(), ...(user === 'root' ? [] : [user]), ...(database?.names ?? [])],
    secrets: secretsOf(env, config),
    keepPersonal,
  })
  const files = new Map<string, string>()
  files.set(
    'findings.txt',
    findings
      .map(
        ({ name, status, seen, whatToDo }) =>
          `${status} ${name}: ${scrub(seen)}${whatToDo === '' ? '' : `\n  ${scrub(whatToDo)}`}\n`,
      )
      .join(''),
  )
  files.set(
    'versions.json',
    json({
      product: packageFile.version,
      node: process.versions.node,
      platform: `${process.platform} ${process.arch}`,
      kernel: scrub(release().split('-')[0] ?? ''),
      glibc: (process.report?.getReport() as { header?: { glibcVersionRuntime?: string } } | undefined)?.header
        ?.glibcVersionRuntime,
      processors: availableParallelism(),
      memoryBytes: totalmem(),
      loadAverage: loadavg(),
      machineUptimeSeconds: Math.round(uptime()),
    }),
  )
  files.set('environment.json', json(environmentOf(env, scrub)))
  const log = config === null ? '' : `${tailOf(`${logFileOf(config.dataDir)}.1`)}${tailOf(logFileOf(config.dataDir))}`
  if (database !== null) {
    const { settings, health, healthChanges, statements, names: _names, ...rest } = database
    files.set('settings.json', json(settingsOf(settings, { keepPersonal, scrub })))
    files.set('health.json', json(mapped({ health, changes: healthChanges }, scrub)))
    files.set('database.json', json(mapped(rest, scrub)))
    files.set('statements.json', json(mapped({ fromLog: aggregated(log), fromDatabase: statements }, scrub)))
  } else files.set('statements.json', json(mapped({ fromLog: aggregated(log) }, scrub)))
  // Names of metrics and their help are constants of the product. Only the values of labels could be data.
  if (metrics !== null) files.set('metrics.txt', scrubbedLabels(metrics, scrub))
  files.set('server.log', linesOf(log, (value) => mapped(value, scrub), scrub).join(''))
  if (config?.databaseUrl === null)
    files.set(
      'postgres.log',
      tailOf(join(config.dataDir, 'postgres.log'))
        .split('\n')
        // Details and statements contain values of rows.
        .filter((line) => / (?:LOG|WARNING|ERROR|FATAL|PANIC): {2}/.test(line))
        .map((line) => `${scrub(line)}\n`)
        .join(''),
    )
  return new Map([['README.txt', readmeOf([...files.keys()], input)], ...files])
}

/**
 * Writes the bundle to a new file that only its owner can read.
 * @throws StartError
 */
export const writeBundle = (path: string, input: BundleInput): { bytes: number; files: string[] } => {
  const files = bundleFiles(input)
  const bytes = tarOf(files, input.now)
  const temporary = `${path}.part`
  try {
    writeFileSync(temporary, bytes, { mode: 0o600, flag: 'wx', flush: true })
    try {
      // A link never replaces a file, unlike a rename.
      linkSync(temporary, path)
    } finally {
      rmSync(temporary, { force: true })
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new StartError(
      code === 'EEXIST'
        ? `${path} already exists. Choose another file.`
        : code === 'ENOSPC'
          ? `There is no space left for ${path}. Choose another folder.`
          : `Cannot write ${path}: ${message}.`,
    )
  }
  return { bytes: bytes.length, files: [...files.keys()] }
}

/** Returns whether a bundle can be written to this path. Called before the checks, which take a while. */
export const assertFree = (path: string): void => {
  if (existsSync(path)) throw new StartError(`${path} already exists. Choose another file.`)
  // Reading the parent folder fails for a missing one, with the reason.
  if (!existsSync(join(path, '..'))) throw new StartError(`The folder of ${path} does not exist. Create it first.`)
}
