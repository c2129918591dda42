/** Wires the features by hand; the only file that knows them all. */
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { accountsFeature } from '#features/accounts/index.ts'
import { auditFeature } from '#features/audit/index.ts'
import type { Clock } from '#platform/clock.ts'
import type { Config } from '#platform/config.ts'
import { createBus } from '#platform/db/bus.ts'
import { createDb } from '#platform/db/db.ts'
import { migrate } from '#platform/db/migrate.ts'
import { createHttpApp } from '#platform/http/http-app.ts'
import type { Keys } from '#platform/keys.ts'
import type { Log } from '#platform/log.ts'
import type { PasswordCost } from '#platform/passwords.ts'

export interface ComposeOptions {
  config: Pick<Config, 'trustedProxies' | 'host' | 'port'>
  connection: pg.PoolConfig
  keys: Keys
  clock: Clock
  log: Log
  tls: { cert: string; key: string } | null
  /** Checks every answer against the contract; on in all tests. */
  validateResponses: boolean
  /** Work of a password hash; only tests make it cheap. */
  passwordCost?: PasswordCost
}

export type Server = Awaited<ReturnType<typeof compose>>

/** Builds the whole server on a database; nothing listens until the entry says so. */
export const compose = async ({
  config,
  connection,
  keys,
  clock,
  log,
  tls,
  validateResponses,
  passwordCost,
}: ComposeOptions) => {
  const db = createDb({ connection, max: 12, name: 'serve', log, statementTimeoutMs: 15_000 })
  const migrationDb = createDb({ connection, max: 1, name: 'migrate', log, statementTimeoutMs: 0 })
  const schemaVersion = await migrate(migrationDb, fileURLToPath(new URL('../migrations', import.meta.url))).finally(
    () => migrationDb.close(),
  )

  /** Where the server listens, for links while SERVER_DOMAIN_NAME is not set. */
  const serverUrl = (): string => {
    const scheme = tls === null ? 'http' : 'https'
    const bound = app.fastify.server.address()
    const port = typeof bound === 'object' && bound !== null ? bound.port : config.port
    return `${scheme}://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`
  }

  const app = await createHttpApp({
    log,
    authenticate: (token, ip) => accounts.authenticate(token, ip),
    redeemTicket: (ticket, ip) => accounts.redeemTicket(ticket, ip),
    allowedOrigins: () => [],
    trustedProxies: config.trustedProxies,
    tls,
    validateResponses,
  })
  const audit = auditFeature(app, { db, clock })
  const bus = createBus({ connection, log })
  const accounts = await accountsFeature(app, {
    db,
    clock,
    keys,
    audit,
    log,
    bus,
    license: async () => ({ primeAccountName: 'Community', licenseStatus: 'Activated' }),
    serverUrl,
    ...(passwordCost === undefined ? {} : { passwordCost }),
  })
  await bus.ready(4_000)
  app.seal()

  return {
    app,
    db,
    accounts,
    schemaVersion,
    close: async () => {
      await app.fastify.close()
      await bus.close()
      await db.close()
    },
  }
}
