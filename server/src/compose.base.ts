import { fileURLToPath } from 'node:url'
import type { Knowledge } from '@portcullis/domain'
import { agentlessSealed } from '@portcullis/features/agentless/server/index.ts'
import type { Reach } from '@portcullis/features/agents/server/index.ts'
import { addLatestEvents } from '@portcullis/features/agents/server/index.ts'
import { licenceFeature } from '@portcullis/features/agents/server/licence/index.ts'
import { notificationsSealed } from '@portcullis/features/alerts/server/index.ts'
import { auditCheckpoints, auditFeature } from '@portcullis/features/audit/server/index.ts'
import type { ReleaseKeySource } from '@portcullis/features/builds/server/index.ts'
import { changeRequestsFeature, changeRequestsSealed } from '@portcullis/features/change-requests/server/index.ts'
import { mailFeature, mailSealed } from '@portcullis/features/deliveries/server/mail/index.ts'
import { eventsFeature } from '@portcullis/features/events/server/index.ts'
import { accountsFeature, accountsSealed } from '@portcullis/features/identity/server/accounts/index.ts'
import { directoryFeature } from '@portcullis/features/identity/server/directory/index.ts'
import { jobsFeature } from '@portcullis/features/jobs/server/index.ts'
import { sealingFeature } from '@portcullis/features/operations/server/sealing/index.ts'
import { linkBase, settingsFeature, settingsSealed } from '@portcullis/features/settings/server/index.ts'
import { type TagGate, tagsFeature } from '@portcullis/features/tags/server/index.ts'
import { assertNotHalfRestored } from '@portcullis/platform/server/backup/index.ts'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import type { Config } from '@portcullis/platform/server/config.ts'
import { createBus } from '@portcullis/platform/server/db/bus.ts'
import { createDb } from '@portcullis/platform/server/db/db.ts'
import { migrate } from '@portcullis/platform/server/db/migrate.ts'
import { type Patience, usualPatience } from '@portcullis/platform/server/db/patience.ts'
import { poolLimits } from '@portcullis/platform/server/db/pool-limits.ts'
import { createDestinations } from '@portcullis/platform/server/destinations.ts'
import { createEnvelope } from '@portcullis/platform/server/envelope.ts'
import { createConsole } from '@portcullis/platform/server/http/console.ts'
import { createHttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { HttpOptions } from '@portcullis/platform/server/http/http-options.ts'
import { isLoopbackHost, localAccessPurpose } from '@portcullis/platform/server/http/local-caller.ts'
import type { Keys } from '@portcullis/platform/server/keys.ts'
import { createLive } from '@portcullis/platform/server/live.ts'
import type { Log } from '@portcullis/platform/server/log.ts'
import { createMetrics } from '@portcullis/platform/server/metrics.ts'
import type { PasswordCost } from '@portcullis/platform/server/passwords.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import type { Timer } from '@portcullis/platform/server/timers.ts'
import { createTracer } from '@portcullis/platform/server/tracing/index.ts'
import type pg from 'pg'
import packageFile from '../../package.json' with { type: 'json' }

export interface ComposeOptions {
  config: Pick<
    Config,
    | 'host'
    | 'trustedProxies'
    | 'proxyProtocolFrom'
    | 'dataDir'
    | 'licenceKeysFile'
    | 'keyFile'
    | 'outboundAllow'
    | 'outboundProxy'
    | 'reportsDir'
    | 'auditDir'
    | 'isAuditDirGiven'
    | 'natsUrl'
    | 'kafkaBrokers'
  > &
    Partial<Pick<Config, 'tracing' | 'databaseUrl'>>
  connection: pg.PoolConfig
  keys: Keys
  clock: Clock
  log: Log
  knowledge: Knowledge
  tls: { cert: string; key: string } | null
  /** Token of the agentless worker that the server starts; absent: none. */
  ownWorkerToken?: Secret
  /** Returns the address at which hosts reach this server. Called after the server listens, when a token is created. */
  reach(): Reach
  /** The release key, read at start; null: none is configured, so no package is accepted. */
  releaseKey: ReleaseKeySource | null
  agentBuildDir: string
  consoleDir: string
  /** Validates every answer against the contract; on in all tests. */
  validateResponses: boolean
  passwordCost?: PasswordCost
  /** Default: `usualPatience`. */
  patience?: Patience
}

/** The features above it that the base calls. */
export interface Upwards {
  /** Measures tag changes of hosts. */
  tagGate: TagGate
  /** Answers requests before the router does. */
  fastPath: NonNullable<HttpOptions['fastPath']>
}

export type Base = Awaited<ReturnType<typeof composeBase>>

/**
 * Creates the database, HTTP and the features that all others use: audit trail, events, configuration, jobs, mail,
 * accounts.
 */
export const composeBase = async (options: ComposeOptions, { tagGate, fastPath }: Upwards) => {
  const { config, connection, keys, clock, log, reach, patience = usualPatience } = options
  const connectTimeoutMs = patience.connectMs
  const migrationDb = createDb({
    connection,
    max: 1,
    name: 'migrate',
    log,
    statementTimeoutMs: 0,
    connectTimeoutMs,
  })
  const migrations = fileURLToPath(new URL('../migrations', import.meta.url))
  const schemaVersion = await assertNotHalfRestored(migrationDb)
    .then(() => migrate(migrationDb, migrations))
    .finally(() => migrationDb.close())

  const tracer = createTracer({ config: config.tracing ?? null, version: packageFile.version, clock, log })
  const db = createDb({
    connection,
    max: poolLimits.serve,
    name: 'serve',
    log,
    statementTimeoutMs: patience.statementMs,
    connectTimeoutMs,
    tracer,
  })
  const exportDb = createDb({
    connection,
    max: poolLimits.export,
    name: 'export',
    log,
    statementTimeoutMs: 0,
    connectTimeoutMs,
    tracer,
  })
  const bus = createBus({ connection, log })
  const metrics = createMetrics()
  for (const what of ['exported', 'dropped'] as const)
    metrics.read(
      `portcullis_trace_spans_${what}_total`,
      'counter',
      `Spans of traces that were ${what}.`,
      () => tracer.counts()?.[what] ?? [],
    )
  const publicUrl = (): URL | null => {
    const domain = settings.now('SERVER_DOMAIN_NAME')
    return domain === '' ? null : new URL(linkBase(domain, reach().url))
  }
  // Behind a proxy or balancer on this machine every caller looks local. A public address of another name implies one.
  const isOpenLocally = (): boolean =>
    isLoopbackHost(config.host) &&
    config.trustedProxies.length + config.proxyProtocolFrom.length === 0 &&
    isLoopbackHost(publicUrl()?.hostname ?? config.host)
  const app = await createHttpApp({
    log,
    clock,
    authenticate: (token, ip) => accounts.authenticate(token, ip),
    redeemTicket: (ticket, ip) => accounts.redeemTicket(ticket, ip),
    allowedOrigins: () => {
      const url = publicUrl()
      return url === null ? [] : [url.host]
    },
    localAccess: { isOpen: isOpenLocally, key: keys.derive(localAccessPurpose) },
    trustedProxies: config.trustedProxies,
    proxyProtocolFrom: config.proxyProtocolFrom,
    tls: options.tls,
    validateResponses: options.validateResponses,
    fallback: createConsole(options.consoleDir).answer,
    fastPath,
    tracer,
    metrics,
  })
  const live = createLive(app, bus)
  const lists = { db, exportDb, clock }

  const audit = auditFeature(app, lists)
  const checkpoints = auditCheckpoints(app, {
    ...lists,
    log,
    audit,
    key: keys.audit,
    dir: config.auditDir,
    mayMakeDir: !config.isAuditDirGiven,
    anchor: { keyFile: config.keyFile, key: keys.derive('audit anchor') },
  })
  await checkpoints.prepare()
  const events = eventsFeature(app, { ...lists, log, metrics, hosts: { addLatestEvents } })
  const tags = tagsFeature(app, { ...lists, audit, gate: tagGate })
  const envelope = createEnvelope(keys.sealing)
  const resolve = createDestinations(config.outboundAllow, undefined, config.outboundProxy)
  const settings = await settingsFeature(app, {
    db,
    clock,
    log,
    bus,
    serverUrl: () => reach().url,
    resolve,
    audit,
    envelope,
  })
  const changeRequests = changeRequestsFeature(app, {
    db,
    clock,
    keys,
    envelope,
    audit,
    events,
    settings,
  })
  const thresholds = settings.threshold
  const licence = licenceFeature(app, {
    db,
    clock,
    log,
    settings,
    keysFile: config.licenceKeysFile,
    warnDays: () => thresholds('LICENCE_DAYS'),
  })
  const jobs = jobsFeature(app, {
    db,
    clock,
    log,
    bus,
    audit,
    tracer,
    metrics,
    thresholds: () => ({ waitSeconds: thresholds('JOB_WAIT_SECONDS'), failed: thresholds('JOBS_FAILED') }),
  })
  sealingFeature(app, {
    db,
    audit,
    jobs,
    envelope,
    keys: keys.sealing,
    columns: [
      ...settingsSealed,
      ...agentlessSealed,
      ...mailSealed,
      ...accountsSealed,
      ...notificationsSealed,
      ...changeRequestsSealed,
    ],
  })
  const mail = mailFeature(app, {
    db,
    clock,
    log,
    bus,
    envelope,
    audit,
    settings,
    resolve: async (host) => (await resolve(host)).address,
  })
  const accounts = await accountsFeature(app, {
    changeRequests,
    directory: {
      isOn: () => directory.port.isOn(),
      signIn: (given, beforeBind) => directory.port.signIn(given, beforeBind),
      standings: (known) => directory.port.standings(known),
      providers: () => directory.port.providers(),
    },
    mail,
    db,
    clock,
    keys,
    envelope,
    audit,
    events,
    log,
    bus,
    settings,
    license: licence.summary,
    serverUrl: () => reach().url,
    onChange: live.endViews,
    ...(options.passwordCost === undefined ? {} : { passwordCost: options.passwordCost }),
  })
  const directory = directoryFeature(app, { db, clock, log, audit, keys, settings, resolve, accounts })

  const timers: Timer[] = [
    [2_000, 'checkpoints of the audit trail', checkpoints.run],
    [60_000, 'configuration refresh', settings.refresh],
    [5_000, 'mail delivery', mail.deliver],
    [5_000, 'licence update', licence.apply],
    [60_000, 'second approver upkeep', changeRequests.maintain],
    [120_000, 'account upkeep', accounts.maintain],
    [60_000, 'directory account check', accounts.checkDirectoryAccounts],
    [300_000, 'directory upkeep', directory.maintain],
    [5_000, 'job takeover', jobs.wakeDue],
    [15_000, 'job heartbeat', jobs.beat],
    [3_600_000, 'job upkeep', jobs.forget],
  ]
  return {
    app,
    db,
    exportDb,
    lists,
    bus,
    metrics,
    patience,
    tracer,
    live,
    audit,
    checkpoints,
    events,
    tags,
    envelope,
    resolve,
    settings,
    changeRequests,
    thresholds,
    licence,
    jobs,
    mail,
    directory,
    accounts,
    schemaVersion,
    timers,
  }
}
