/**
 * Runs the whole product on one machine; `start.ts` loads it. Prints the address and, on the first run, the first
 * credentials.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { systemClock } from '@portcullis/platform/server/clock.ts'
import type { Config } from '@portcullis/platform/server/config.ts'
import { prepareDataDir } from '@portcullis/platform/server/data-dir.ts'
import { openDatabase } from '@portcullis/platform/server/db/open-database.ts'
import { createIdleMemory } from '@portcullis/platform/server/idle-memory.ts'
import { surviveShortages } from '@portcullis/platform/server/last-resort.ts'
import { createLog, defaultLogLevel, type Log } from '@portcullis/platform/server/log.ts'
import { createLogFile, logFileOf } from '@portcullis/platform/server/log-file.ts'
import { assertDataDirFree } from '@portcullis/platform/server/postgres/index.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import { StartError, startProblemOf } from '@portcullis/platform/server/start-error.ts'
import { every } from '@portcullis/platform/server/timers.ts'
import type { Server } from '../compose.ts'
import { chooseAddress } from './address.ts'
import { composeFor } from './composed.ts'
import { demoSize, startDemo } from './demo.ts'
import { assertKeyFileOf } from './key-file-check.ts'
import { ownConfig } from './local.ts'
import { startOwnWorker } from './own-worker.ts'
import { tryToListen } from './try-to-listen.ts'

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const listenFault = ({ host, port }: Config, { code, message }: NodeJS.ErrnoException): StartError =>
  code === 'EADDRINUSE'
    ? new StartError(`Port ${port} on ${host} is already in use. Stop the other program or set PORTCULLIS_PORT.`)
    : new StartError(`Cannot listen on ${host}:${port}: ${message}.`)

/** Listens and returns the port: 0 in the configuration means any. */
const listen = (server: Server, config: Config): Promise<number> =>
  server.app.listen(config.host, config.port).catch((error: NodeJS.ErrnoException) => {
    throw listenFault(config, error)
  })

/**
 * Throws if this server cannot run beside what already runs on this machine, before it creates or changes anything.
 * @throws StartError
 */
const assertAlone = async (config: Config): Promise<void> => {
  if (config.databaseUrl === null) assertDataDirFree(config.dataDir)
  if (config.port === 0) return
  const fault = await tryToListen(config)
  if (fault !== null) throw listenFault(config, fault)
}

/** Returns memory to the system when the server becomes idle. Requires `--expose-gc`. */
const returnIdleMemory = (log: Log): (() => void) => {
  const collect = globalThis.gc
  if (collect === undefined) return () => {}
  const look = createIdleMemory({
    // A regular collection does not return freed pages to the system.
    collect: () => collect({ type: 'major', execution: 'sync', flavor: 'last-resort' }),
    cpuMs: () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1_000
    },
    nowMs: () => performance.now(),
    residentBytes: process.memoryUsage.rss,
  })
  return every(10_000, 'return of idle memory', look, log)
}

/** Starts everything; adds to `stops` what has to be undone, in order. */
const start = async (config: Config, demoHosts: number, log: Log, stops: (() => Promise<unknown>)[]): Promise<void> => {
  await assertAlone(config)
  // Reports, checkpoints and certificates are stored there, even with an external database.
  prepareDataDir(config.dataDir)
  const database = await openDatabase(config, log)
  stops.push(database.stop)
  await assertKeyFileOf(config, database.connection, log)
  const address = await chooseAddress(config, systemClock.now())
  let { port } = config
  const workerToken = new Secret(randomBytes(32).toString('base64url'))
  const server = await composeFor(config, {
    connection: database.connection,
    log,
    tls: address.tls,
    ownWorkerToken: workerToken,
    reach: () => address.reach(port),
    validateResponses: config.validateResponses,
  })
  stops.push(server.close)
  port = await listen(server, config)
  // Runs after the server listens: a start that fails because its port is in use must not use up the only password.
  const credentials = await server.accounts.ensureFirstAdministrator(config.adminPassword)
  // Nobody can add a rule to a new database before its empty set is sealed.
  await server.policy.integrity.maintain()
  const stopTimers = server.startTimers()
  stops.push(async () => stopTimers())
  const stopReturning = returnIdleMemory(log)
  stops.push(async () => stopReturning())
  const worker = startOwnWorker({
    url: address.reach(port).url,
    caFile: address.isOwnCa ? join(config.dataDir, 'tls', 'ca.crt') : null,
    token: workerToken,
    isNeeded: server.agentless.needsWorker,
    log,
  })
  stops.push(worker.stop)
  stops.push(async () => {
    if (config.drainSeconds === 0) return
    // Behind a load balancer, health checks fail first, and then the server stops.
    server.app.drain()
    log.info({ seconds: config.drainSeconds }, 'draining before the stop')
    await setTimeout(config.drainSeconds * 1_000)
  })
  say(`Portcullis is at ${address.reach(port).url}`)
  if (address.isOwnCa)
    say('Its own CA issued the certificate. A browser warns about it once. Agents trust this CA only.')
  if (config.databaseUrl === null) say(`Data: ${config.dataDir}`)
  if (credentials !== null)
    say(`First sign-in: user ${credentials.userName}, password ${credentials.password} (change it after signing in)`)
  if (demoHosts > 0) {
    const { dataDir } = config
    const demo = await startDemo({
      agents: server.agents,
      url: address.reach(port).url,
      hosts: demoHosts,
      dataDir,
      say,
    })
    stops.push(demo.stop)
  }
}

const main = async (): Promise<void> => {
  const demoHosts = demoSize(process.argv.slice(2))
  const config = ownConfig()
  const log = createLog(
    config.logLevel ?? defaultLogLevel(process.stdout.isTTY === true),
    createLogFile(logFileOf(config.dataDir)),
  )
  surviveShortages(log)
  const stops: (() => Promise<unknown>)[] = []
  let stopping: Promise<void> | null = null
  function stop(): Promise<void> {
    stopping ??= (async () => {
      for (const one of stops.reverse())
        await one().catch((error: unknown) => log.error({ err: error }, 'stopping failed'))
    })()
    return stopping
  }
  // A second signal changes nothing: killing a stopping server would leave its database running.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop().then(() => process.exit(0)))
  try {
    await start(config, demoHosts, log, stops)
  } catch (error) {
    await stop()
    throw error
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${startProblemOf(error)}\n`)
  process.exit(1)
})
