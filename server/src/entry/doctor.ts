/** Runs `portcullis doctor`: checks an installation on its machine, whether the server runs or not. Only reads. */
import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { systemClock } from '@portcullis/platform/server/clock.ts'
import { type Config, type Environment, loadConfig, unknownVariables } from '@portcullis/platform/server/config.ts'
import { connectionOf } from '@portcullis/platform/server/db/connection.ts'
import { localAccessPurpose, localProof } from '@portcullis/platform/server/http/local-caller.ts'
import { type Keys, loadKeys } from '@portcullis/platform/server/keys.ts'
import { createLog } from '@portcullis/platform/server/log.ts'
import { runningEmbedded, startEmbeddedPostgres } from '@portcullis/platform/server/postgres/index.ts'
import { StartError } from '@portcullis/platform/server/start-error.ts'
import { backups } from './doctor/backups.ts'
import { type DatabaseForBundle, readForBundle } from './doctor/bundle/bundle.read.ts'
import { assertFree, type BundleInput, writeBundle } from './doctor/bundle/bundle.ts'
import { certificate } from './doctor/certificate.ts'
import { checkDatabase, schema } from './doctor/database.ts'
import { connect, createDoctorRead } from './doctor/doctor.read.ts'
import {
  auditFolder,
  dataDirectory,
  freeSpace,
  hasOwnCluster,
  keyFile,
  licenceKeys,
  reportsFolder,
  secretFiles,
} from './doctor/files.ts'
import { check, error, type Finding, ok, reasonOf, warning } from './doctor/finding.ts'
import { listening } from './doctor/listening.ts'
import { builds, fileDescriptors, memory, nodeVersion, variables } from './doctor/machine.ts'
import { configuredTargets, environmentTargets, type Outbound, outbound, outboundItems } from './doctor/outbound.ts'
import { releaseKey } from './doctor/release-key.ts'
import { rules } from './doctor/rules.ts'
import { serverKeyFile } from './doctor/server-environment.ts'
import { runCommand } from './local.ts'
import { askOwnServer } from './own-server.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const migrations = fileURLToPath(new URL('../../migrations', import.meta.url))
const uid = process.getuid?.() ?? -1

interface DatabaseSeen {
  findings: Finding[]
  targets: Outbound[]
  /** Null if it cannot be read. */
  domainName: string | null
  /** Contents for a bundle; null if none is wanted or the database cannot be read. */
  forBundle: DatabaseForBundle | null
}

const nothing = (...findings: Finding[]): DatabaseSeen => ({
  findings,
  targets: [],
  domainName: null,
  forBundle: null,
})

/** Opens the database to check: the external one, the one of a running server, or its own, started for the check. */
const openDatabase = async (
  config: Config,
): Promise<{ connection: Parameters<typeof connect>[0]; stop(): Promise<void> } | Finding> => {
  if (config.databaseUrl !== null)
    return { connection: connectionOf(config.databaseUrl.reveal(), createLog('silent')), stop: async () => {} }
  if (!hasOwnCluster(config)) return ok('database', 'none yet; the first start creates it')
  const running = runningEmbedded(config.dataDir)
  if (running !== null) return { connection: { ...running.connection }, stop: async () => {} }
  const { uid: owner } = statSync(config.dataDir)
  // The server could not write to files that root creates there.
  if (uid === 0 && owner !== 0)
    return warning(
      'database',
      'stopped, so it was not checked',
      `Run this command as user ${owner}, who owns the data directory.`,
    )
  const started = await startEmbeddedPostgres({ dataDir: config.dataDir, log: createLog('silent') })
  return { connection: { ...started.connection }, stop: started.stop }
}

const keysOf = (config: Config): Keys | null => {
  try {
    return existsSync(config.keyFile) ? loadKeys(config.keyFile) : null
  } catch {
    return null
  }
}

const lookAtDatabase = async (config: Config, isRunning: boolean, isForBundle: boolean): Promise<DatabaseSeen> => {
  let stop = async (): Promise<void> => {}
  try {
    const opened = await openDatabase(config)
    if ('seen' in opened) return nothing(opened)
    stop = opened.stop
    const client = await connect(opened.connection)
    try {
      const read = createDoctorRead(client)
      const facts = await read.facts(() => systemClock.now())
      const applied = await read.migrations()
      const isReadable = applied !== null
      const items = isReadable ? await read.items([...outboundItems, 'SERVER_DOMAIN_NAME']) : new Map<string, string>()
      const channels = isReadable ? await read.channels().catch(() => []) : []
      const floor = isReadable ? await read.floor() : 0
      return {
        findings: [
          ok('database', 'it responds'),
          ...checkDatabase(facts, isRunning),
          schema(applied, floor, migrations),
          ...(await rules(isReadable ? await read.ruleSet() : null, keysOf(config))),
          ...backups(isReadable ? await read.backups() : null, systemClock.now(), isRunning),
        ],
        targets: configuredTargets(items, channels),
        domainName: items.get('SERVER_DOMAIN_NAME') ?? '',
        forBundle: isForBundle && isReadable ? await readForBundle(client) : null,
      }
    } finally {
      await client.end().catch(() => {})
    }
  } catch (fault) {
    return nothing(
      error(
        'database',
        `cannot use it: ${reasonOf(fault)}`,
        config.databaseUrl === null
          ? `See ${config.dataDir}/postgres.log.`
          : 'Check that it runs, and check host, name, user and password in DATABASE_URL.',
      ),
    )
  } finally {
    await stop()
  }
}

const configOf = (env: Environment): Config | Finding => {
  const unknown = unknownVariables(env)
  try {
    return loadConfig(Object.fromEntries(Object.entries(env).filter(([name]) => !unknown.includes(name))), uid === 0)
  } catch (fault) {
    return error(
      'configuration',
      reasonOf(fault),
      'Correct the configuration: the server does not start with it. Most checks were skipped.',
    )
  }
}

type Examined = Pick<BundleInput, 'findings' | 'config' | 'database' | 'metrics'>

/** Returns the metrics; null if the server does not answer or the key file cannot be read. */
const metricsOf = async (config: Config): Promise<string | null> => {
  if (!existsSync(config.keyFile)) return null
  try {
    const token = localProof(loadKeys(config.keyFile).derive(localAccessPurpose), systemClock.now())
    const { status, text } = await askOwnServer(config, 5_000, { path: '/metrics', most: 4_000_000, token })
    return status === 200 ? text : null
  } catch {
    return null
  }
}

const examine = async (env: Environment, isForBundle: boolean): Promise<Examined> => {
  const first = [nodeVersion(process.versions.node), builds(root), variables(unknownVariables(env))]
  const config = configOf(env)
  if ('seen' in config) return { findings: [...first, config], config: null, database: null, metrics: null }
  const { dataDir } = config
  const pid = runningEmbedded(dataDir)?.pid ?? null
  const { answer, findings: port } = await listening(config, pid)
  const database = await lookAtDatabase(config, answer !== null, isForBundle)
  const certificates = () =>
    certificate(config, {
      now: systemClock.now(),
      domainName: database.domainName,
      served: answer?.fingerprint ?? null,
    })
  const looks = [
    check('open files', () => fileDescriptors(pid)),
    check('memory', () => memory(config.databaseUrl === null)),
    check('data directory', () => dataDirectory(config, uid)),
    check('free space', () => freeSpace('free space', dataDir)),
    check('key file', () => keyFile(config, uid, hasOwnCluster(config) || database.domainName !== null)),
    check('other secrets', () => secretFiles(config, env)),
    check('reports', () => reportsFolder(config)),
    check('audit checkpoints', () => auditFolder(config, uid)),
    check('licence keys', () => licenceKeys(config)),
    check('release key', () =>
      releaseKey(config, `${root}build/agent/manifest.json`, serverKeyFile(pid, answer !== null)),
    ),
    check('TLS certificate', certificates),
    check('port', () => port),
    check('database', () => database.findings),
    check('outbound', () =>
      outbound(config, [...database.targets, ...environmentTargets(config, env.OTEL_EXPORTER_OTLP_ENDPOINT)]),
    ),
  ]
  return {
    findings: [...first, ...(await Promise.all(looks)).flat()],
    config,
    database: database.forBundle,
    metrics: isForBundle && answer !== null ? await metricsOf(config) : null,
  }
}

const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`

const shown = (findings: readonly Finding[]): string => {
  const width = Math.max(...findings.map(({ name }) => name.length))
  return findings
    .flatMap(({ name, status, seen, whatToDo }) => [
      `${status.padEnd(7)}  ${name.padEnd(width)}  ${seen}`,
      ...(whatToDo === '' ? [] : [`${' '.repeat(9 + width)}  → ${whatToDo}`]),
    ])
    .join('\n')
}

const run = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      bundle: { type: 'string' },
      'include-personal-data': { type: 'boolean', default: false },
    },
  })
  const { json, bundle: path, 'include-personal-data': keepPersonal } = values
  if (path === undefined && keepPersonal) throw new StartError('--include-personal-data requires --bundle.')
  if (path !== undefined) assertFree(path)
  const examined = await examine(process.env, path !== undefined)
  const { findings } = examined
  const count = (status: Finding['status']): number => findings.filter((one) => one.status === status).length
  const isGood = count('error') === 0
  const written =
    path === undefined
      ? null
      : writeBundle(path, { ...examined, root, env: process.env, keepPersonal, now: systemClock.now() })
  if (json)
    process.stdout.write(
      `${JSON.stringify({ ok: isGood, findings, ...(written === null ? {} : { bundle: { file: path, ...written } }) })}\n`,
    )
  else {
    process.stdout.write(
      `${shown(findings)}\n${count('ok')} ok, ${counted(count('warning'), 'warning')}, ${counted(count('error'), 'error')}\n`,
    )
    if (written !== null)
      process.stdout.write(
        `\nSupport bundle: ${path} (${written.bytes.toLocaleString('en')} bytes, ${written.files.length} files). ${
          keepPersonal
            ? 'It contains names and addresses. Secrets were removed; read it before you send it.'
            : 'It contains no secrets, and pseudonyms instead of names and addresses.'
        } Read it before you send it.\n`,
      )
  }
  // An installation with errors is the reason for a bundle, not its failure.
  process.exitCode = isGood || written !== null ? 0 : 1
}

runCommand(run)
