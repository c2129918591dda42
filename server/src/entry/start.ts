/** `npm start`: the whole product on one machine. Prints the address and, on the first run, the first credentials. */
import { fileURLToPath } from 'node:url'
import { loadKnowledge } from '#features/knowledge/index.ts'
import { systemClock } from '#platform/clock.ts'
import { loadConfig } from '#platform/config.ts'
import { loadKeys } from '#platform/keys.ts'
import { createLog } from '#platform/log.ts'
import { startEmbeddedPostgres } from '#platform/postgres/index.ts'
import { StartError } from '#platform/start-error.ts'
import { compose } from '../compose.ts'

const fromRoot = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.')

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const run = async (): Promise<void> => {
  const config = loadConfig(process.env, process.getuid?.() === 0)
  const log = createLog(config.logLevel)
  const database =
    config.databaseUrl === null
      ? await startEmbeddedPostgres({
          dataDir: config.dataDir,
          log: log as never,
          onCrash: (crash) => log.error({ crash }, 'the database stopped; restarting it'),
        })
      : null
  const stops: (() => Promise<unknown>)[] = database === null ? [] : [() => database.stop()]
  const stop = async (code: number): Promise<void> => {
    for (const one of stops.reverse())
      await one().catch((error: unknown) => log.error({ err: error }, 'stopping failed'))
    process.exit(code)
  }
  try {
    const keys = loadKeys(config.keyFile)
    let address = `http://${config.host}:${config.port}`
    const server = await compose({
      config,
      connection: database?.connection ?? { connectionString: config.databaseUrl?.reveal() },
      keys,
      clock: systemClock,
      log,
      knowledge: await loadKnowledge(fromRoot('knowledge')),
      tls: null,
      reach: () => ({ url: address, caKeyHash: null, reachableFromElsewhere: !isLoopback(config.host) }),
      agentBuildDir: fromRoot('build/agent'),
      consoleDir: fromRoot('build/console'),
      validateResponses: false,
    })
    stops.push(() => server.close())
    const credentials = await server.accounts.ensureFirstAdministrator(config.adminPassword)
    address = await server.app.fastify
      .listen({ host: config.host, port: config.port })
      .catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'EADDRINUSE'
          ? new StartError(
              `Port ${config.port} on ${config.host} is in use. Set PORTCULLIS_PORT to another one, or stop the process that has it.`,
            )
          : new StartError(`Can not listen on ${config.host}:${config.port}: ${error.message}.`)
      })
    const stopTimers = server.startTimers()
    say(`Portcullis is at ${address}`)
    stops.push(async () => stopTimers())
    if (config.databaseUrl === null) say(`Data: ${config.dataDir}`)
    if (credentials !== null)
      say(`First sign-in: user ${credentials.userName}, password ${credentials.password} (to be changed at once)`)
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop(0))
  } catch (error) {
    say(
      error instanceof StartError
        ? error.message
        : `The server can not start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    )
    await stop(1)
  }
}

run().catch((error: unknown) => {
  process.stderr.write(`${error instanceof StartError ? error.message : String((error as Error).stack)}\n`)
  process.exit(1)
})
