// Invariant: In all tests, also end-to-end tests, every JSON answer is checked against the contract.

import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ReleaseKeySource } from '@portcullis/features/builds/server/index.ts'
import { loadKnowledge } from '@portcullis/features/knowledge/server/index.ts'
import { createDb } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { type Keys, loadKeys } from '@portcullis/platform/server/keys.ts'
import { createLog } from '@portcullis/platform/server/log.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import type { TracingConfig } from '@portcullis/platform/server/tracing/index.ts'
import type { InjectOptions, LightMyRequestResponse as Response } from 'fastify'
import { inject } from 'vitest'
import { compose } from '../src/compose.ts'
import { createFakeClock, dropDatabase, longPatience, templateDatabase } from './database.ts'
import { keptContract } from './kept-contract.ts'

export { createFakeClock }

export const adminPassword = 'correct horse battery'
/** Parameters of a hash that takes about 2 ms. The real one takes 30. */
const cheapPasswords = { memory: 64, passes: 1, parallelism: 1 }

/** Loaded once per test file. */
const knowledge = loadKnowledge(new URL('../../knowledge', import.meta.url).pathname)

export interface TestAppOptions {
  /** Database of another test app, for a second replica. */
  database?: string
  clock?: ReturnType<typeof createFakeClock>
  /** Keys of the other replica. */
  keys?: Keys
  /** Key folder of another test app, for a second replica. */
  keyDir?: string
  /** Address of a database proxy that can fail (`createDatabaseProxy`). The server then waits as long as usual. */
  through?: { host: string; port: number }
  consoleDir?: string
  helpDir?: string
  agentBuildDir?: string
  /** Names the address on which it listens in commands for hosts. Default: http://portcullis.test. */
  showsAddress?: boolean
  adminPassword?: string
  /** Listens on a free port of 127.0.0.1, for tests that need sockets: check-ins, wake sockets, raw bytes. */
  listen?: boolean
  logLevel?: string
  /** Gets each line of the log from level info on. */
  logTo?: { write(line: string): void }
  /** Allowed loopback networks, also for webhooks over plain HTTP. Default: all, because test peers run here. */
  outboundAllow?: string[]
  /** Address on which the server is configured to listen. */
  host?: string
  /** Networks of proxies whose X-Forwarded-For counts. */
  trustedProxies?: string[]
  /** Networks of balancers whose connections begin with a PROXY header. */
  proxyProtocolFrom?: string[]
  natsUrl?: string
  kafkaBrokers?: string[]
  /** Directory of the second sink of audit checkpoints. */
  auditDir?: string
  /** Release key of this server. None by default. */
  releaseKey?: ReleaseKeySource | null
  tracing?: TracingConfig
}

export type TestApp = Awaited<ReturnType<typeof startTestApp>>

/** Starts the whole server on its own clone of the migrated template database. Requests bypass the network. */
export const startTestApp = async (options: TestAppOptions = {}) => {
  const connection = inject('postgres')
  const database = options.database ?? `t_${randomBytes(6).toString('hex')}`
  const log = createLog(options.logLevel ?? (options.logTo === undefined ? 'silent' : 'fatal'), options.logTo ?? null)
  const assertContractKept = keptContract(log)
  const admin = createDb({
    connection,
    max: 1,
    name: 'clone',
    log,
    statementTimeoutMs: 0,
    connectTimeoutMs: longPatience.connectMs,
  })
  if (options.database === undefined)
    await admin.withClient((client) =>
      client.query(`CREATE DATABASE ${database} TEMPLATE ${templateDatabase} STRATEGY file_copy`),
    )
  const clock = options.clock ?? createFakeClock()
  const keyDir = options.keyDir ?? mkdtempSync(join(tmpdir(), 'portcullis-keys-'))
  let address: string | null = null
  const server = await compose({
    config: {
      host: options.host ?? '127.0.0.1',
      trustedProxies: options.trustedProxies ?? [],
      proxyProtocolFrom: options.proxyProtocolFrom ?? [],
      outboundAllow: options.outboundAllow ?? ['127.0.0.0/8', '::1'],
      outboundProxy: null,
      dataDir: keyDir,
      licenceKeysFile: join(keyDir, 'licence-keys.pem'),
      keyFile: join(keyDir, 'key'),
      tracing: options.tracing ?? null,
      reportsDir: join(keyDir, 'reports'),
      auditDir: options.auditDir ?? join(keyDir, 'audit-checkpoints'),
      isAuditDirGiven: options.auditDir !== undefined,
      kafkaBrokers: options.kafkaBrokers ?? [],
      natsUrl: options.natsUrl === undefined ? null : new Secret(options.natsUrl),
    },
    connection: { ...connection, ...options.through, database },
    keys: options.keys ?? loadKeys(join(keyDir, 'key')),
    clock,
    log,
    knowledge: await knowledge,
    tls: null,
    reach: () => ({
      url: (options.showsAddress === true ? address : null) ?? 'http://portcullis.test',
      caKeyHash: null,
      reachableFromElsewhere: false,
    }),
    releaseKey: options.releaseKey ?? null,
    agentBuildDir: options.agentBuildDir ?? keyDir,
    consoleDir: options.consoleDir ?? keyDir,
    helpDir: options.helpDir ?? keyDir,
    validateResponses: true,
    passwordCost: cheapPasswords,
    ...(options.through === undefined ? { patience: longPatience } : {}),
  })
  await server.accounts.ensureFirstAdministrator(new Secret(options.adminPassword ?? adminPassword))
  // A clone counts as new, however long the tests have run.
  if (options.database === undefined) await server.db.execute(sql`update schema_migrations set applied_at = now()`)
  address = options.listen === true ? `http://127.0.0.1:${await server.app.listen('127.0.0.1', 0)}` : null

  const request = (given: InjectOptions): Promise<Response> => server.app.fastify.inject(given)
  /** Signs in with LocalLogin and returns the token. */
  const signIn = async (username = 'admin', password = adminPassword): Promise<string> => {
    const answer = await request({
      method: 'POST',
      url: '/prime/webui/Auth/LocalLogin',
      payload: { username, password },
    })
    if (answer.statusCode !== 200) throw new Error(`sign-in of ${username}: ${answer.statusCode} ${answer.body}`)
    return answer.json().token
  }
  let adminToken = ''
  let adminTokenEnds = 0
  const as = (token: string | undefined) => ({
    get: (url: string, headers: Record<string, string> = {}) =>
      request({
        method: 'GET',
        url,
        headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
      }),
    post: (url: string, payload?: unknown, headers: Record<string, string> = {}) =>
      request({
        method: 'POST',
        url,
        headers: {
          ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...headers,
        },
        ...(payload === undefined ? {} : { payload: typeof payload === 'string' ? payload : JSON.stringify(payload) }),
      }),
    put: (url: string, payload: unknown) =>
      request({
        method: 'PUT',
        url,
        headers: {
          'content-type': 'application/json',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        payload: JSON.stringify(payload),
      }),
    delete: (url: string, payload?: unknown) =>
      request({
        method: 'DELETE',
        url,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(payload === undefined ? {} : { payload: JSON.stringify(payload) }),
      }),
  })
  return {
    ...server,
    server,
    get address(): string {
      if (address === null) throw new Error('startTestApp needs the option listen')
      return address
    },
    clock,
    database,
    /** Connects to the database of this server. */
    connection: { ...connection, database },
    keyDir,
    request,
    signIn,
    /** Returns requests with a token. Undefined: anonymous. */
    as,
    /** Returns requests of the first Administrator. */
    admin: async () => {
      // A session is fresh for 5 minutes of the fake clock.
      if (clock.now() >= adminTokenEnds) {
        adminToken = await signIn()
        adminTokenEnds = clock.now() + 4 * 60_000
      }
      return as(adminToken)
    },
    close: async () => {
      await server.close()
      if (options.database === undefined) await dropDatabase(admin, database)
      await admin.close()
      if (options.keyDir === undefined) rmSync(keyDir, { recursive: true, force: true })
      assertContractKept()
    },
  }
}
