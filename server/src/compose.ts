/** Wires the capabilities without a framework, lower tiers first. Only this file knows all of them. */
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Knowledge } from '@portcullis/domain'
import { agentlessFeature, agentlessSealed } from '@portcullis/features/agentless/server/index.ts'
import { addLatestEvents, agentsFeature } from '@portcullis/features/agents/server/index.ts'
import { licenceFeature } from '@portcullis/features/agents/server/licence/index.ts'
import { alertsFeature, alertsSealed } from '@portcullis/features/alerts/server/index.ts'
import { assetsFeature } from '@portcullis/features/assets/server/index.ts'
import { auditCheckpoints, auditFeature } from '@portcullis/features/audit/server/index.ts'
import { buildsFeature, type ReleaseKeySource } from '@portcullis/features/builds/server/index.ts'
import { windowsFeature } from '@portcullis/features/builds/server/windows/index.ts'
import { changeRequestsFeature, changeRequestsSealed } from '@portcullis/features/change-requests/server/index.ts'
import { commandsFeature } from '@portcullis/features/commands/server/index.ts'
import * as contract from '@portcullis/features/contract.ts'
import { deliveriesFeature } from '@portcullis/features/deliveries/server/index.ts'
import { mailFeature, mailSealed } from '@portcullis/features/deliveries/server/mail/index.ts'
import { devicesFeature } from '@portcullis/features/devices/server/index.ts'
import { insightsFeature } from '@portcullis/features/devices/server/insights/index.ts'
import { eventsFeature } from '@portcullis/features/events/server/index.ts'
import { feedsFeature } from '@portcullis/features/feeds/server/index.ts'
import { healthFeature } from '@portcullis/features/health/server/index.ts'
import { bulkFeature } from '@portcullis/features/hosts/server/bulk/index.ts'
import { heldPortsFeature } from '@portcullis/features/hosts/server/held-ports/index.ts'
import { hostsFeature } from '@portcullis/features/hosts/server/index.ts'
import { accountsFeature, accountsSealed } from '@portcullis/features/identity/server/accounts/index.ts'
import { directoryFeature } from '@portcullis/features/identity/server/directory/index.ts'
import { ingestFeature } from '@portcullis/features/ingest/server/index.ts'
import { jobsFeature } from '@portcullis/features/jobs/server/index.ts'
import { knowledgeFeature } from '@portcullis/features/knowledge/server/index.ts'
import { backupFeature } from '@portcullis/features/operations/server/backup/index.ts'
import { documentFeature } from '@portcullis/features/operations/server/document/index.ts'
import { sealingFeature } from '@portcullis/features/operations/server/sealing/index.ts'
import { overviewFeature } from '@portcullis/features/overview/server/index.ts'
import { policyFeature } from '@portcullis/features/policy/server/index.ts'
import { quarantineFeature } from '@portcullis/features/quarantine/server/index.ts'
import { exportsFeature } from '@portcullis/features/reports/server/exports/index.ts'
import { reportsFeature } from '@portcullis/features/reports/server/index.ts'
import { rolloutsFeature } from '@portcullis/features/rollouts/server/index.ts'
import { settingsFeature, settingsSealed } from '@portcullis/features/settings/server/index.ts'
import { tagsFeature } from '@portcullis/features/tags/server/index.ts'
import { viewsFeature } from '@portcullis/features/views/server/index.ts'
import { assertNotHalfRestored } from '@portcullis/platform/server/backup/index.ts'
import type { Context } from '@portcullis/platform/server/context.ts'
import { createBus } from '@portcullis/platform/server/db/bus.ts'
import { createDb } from '@portcullis/platform/server/db/db.ts'
import { migrate } from '@portcullis/platform/server/db/migrate.ts'
import { type Patience, usualPatience } from '@portcullis/platform/server/db/patience.ts'
import { poolLimits } from '@portcullis/platform/server/db/pool-limits.ts'
import { createDestinations } from '@portcullis/platform/server/destinations.ts'
import { createEnvelope } from '@portcullis/platform/server/envelope.ts'
import { createClientAddress } from '@portcullis/platform/server/http/client-address.ts'
import { createConsole } from '@portcullis/platform/server/http/console.ts'
import { registerDocs } from '@portcullis/platform/server/http/docs.ts'
import { createHttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { isLoopbackHost, localAccessPurpose } from '@portcullis/platform/server/http/local-caller.ts'
import { createLive } from '@portcullis/platform/server/live.ts'
import { createMetrics } from '@portcullis/platform/server/metrics.ts'
import type { PasswordCost } from '@portcullis/platform/server/passwords.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import { startTimers, type Timer } from '@portcullis/platform/server/timers.ts'
import { createTracer } from '@portcullis/platform/server/tracing/index.ts'
import type pg from 'pg'
import packageFile from '../../package.json' with { type: 'json' }

export interface ComposeOptions extends Pick<Context, 'config' | 'keys' | 'clock' | 'log' | 'reach'> {
  connection: pg.PoolConfig
  knowledge: Knowledge
  tls: { cert: string; key: string } | null
  /** Token of the agentless worker that the server starts; absent: none. */
  ownWorkerToken?: Secret
  /** The release key, read at start; null: none is configured, so no package is accepted. */
  releaseKey: ReleaseKeySource | null
  agentBuildDir: string
  consoleDir: string
  helpDir: string
  /** Validates every answer against the contract; on in all tests. */
  validateResponses: boolean
  passwordCost?: PasswordCost
  /** Default: `usualPatience`. */
  patience?: Patience
}

export type Server = Awaited<ReturnType<typeof compose>>

/** Brings the schema up to date and returns its version. */
const migrated = async ({ connection, log, patience = usualPatience }: ComposeOptions) => {
  const db = createDb({
    connection,
    max: 1,
    name: 'migrate',
    log,
    statementTimeoutMs: 0,
    connectTimeoutMs: patience.connectMs,
  })
  return assertNotHalfRestored(db)
    .then(() => migrate(db, fileURLToPath(new URL('../migrations', import.meta.url))))
    .finally(() => db.close())
}

/** Builds the whole server on a database. Nothing listens until the entry starts it. */
export const compose = async (options: ComposeOptions) => {
  const { config, connection, keys, clock, log, reach, patience = usualPatience } = options
  const { version } = packageFile
  const schemaVersion = await migrated(options)

  const tracer = createTracer({ config: config.tracing ?? null, version, clock, log })
  const pool = { connection, log, connectTimeoutMs: patience.connectMs, tracer }
  const db = createDb({ ...pool, max: poolLimits.serve, name: 'serve', statementTimeoutMs: patience.statementMs })
  const exportDb = createDb({ ...pool, max: poolLimits.export, name: 'export', statementTimeoutMs: 0 })
  const bus = createBus({ connection, log })
  const metrics = createMetrics()
  for (const what of ['exported', 'dropped'] as const)
    metrics.read(
      `portcullis_trace_spans_${what}_total`,
      'counter',
      `Spans of traces that were ${what}.`,
      () => tracer.counts()?.[what] ?? [],
    )
  // Behind a proxy or balancer on this machine every caller looks local. A public address of another name implies one.
  const isOpenLocally = (): boolean =>
    isLoopbackHost(config.host) &&
    config.trustedProxies.length + config.proxyProtocolFrom.length === 0 &&
    isLoopbackHost(settings.publicUrl()?.hostname ?? config.host)
  const app = await createHttpApp({
    log,
    clock,
    authenticate: (token, ip) => accounts.authenticate(token, ip),
    redeemTicket: (ticket, ip) => accounts.redeemTicket(ticket, ip),
    allowedOrigins: () => {
      const url = settings.publicUrl()
      return url === null ? [] : [url.host]
    },
    localAccess: { isOpen: isOpenLocally, key: keys.derive(localAccessPurpose) },
    trustedProxies: config.trustedProxies,
    proxyProtocolFrom: config.proxyProtocolFrom,
    tls: options.tls,
    validateResponses: options.validateResponses,
    fallback: createConsole(options).answer,
    fastPath: (request, response) => ingest.fastPath(request, response),
    tracer,
    metrics,
  })
  const live = createLive(app, bus)
  const context: Context = {
    config,
    db,
    exportDb,
    clock,
    log,
    bus,
    keys,
    envelope: createEnvelope(keys.sealing),
    metrics,
    tracer,
    resolve: createDestinations(config.outboundAllow, undefined, config.outboundProxy),
    announce: live.announce,
    hint: live.hint,
    reach,
    version,
  }

  // Each tier receives what the lower ones are.
  const audit = auditFeature(app, context)
  const checkpoints = auditCheckpoints(app, { ...context, audit })
  await checkpoints.prepare()
  const events = eventsFeature(app, { ...context, hosts: { addLatestEvents } })
  const tier1 = { ...context, audit, events }

  const tags = tagsFeature(app, {
    ...tier1,
    gate: {
      measure: (q, changes) => policy.tagGate.measure(q, changes),
      worksAgain: (q, changes) => policy.tagGate.worksAgain(q, changes),
      approve: (tx, actor, changes, order) => policy.tagGate.approve(tx, actor, changes, order),
      settle: (actor, outcome) => policy.tagGate.settle(actor, outcome),
    },
  })
  const settings = await settingsFeature(app, tier1)
  viewsFeature(app, tier1)
  const tier2 = { ...tier1, tags, settings }

  const jobs = jobsFeature(app, tier2)
  const changeRequests = changeRequestsFeature(app, tier2)
  const licence = licenceFeature(app, tier2)
  const mail = mailFeature(app, tier2)
  const deliveries = deliveriesFeature(app, { ...tier2, mail })
  const agents = agentsFeature(app, { ...tier2, agentBuildDir: options.agentBuildDir })
  const tier3 = { ...tier2, jobs, changeRequests, licence, mail, deliveries, agents }

  const knowledge = await knowledgeFeature(app, {
    ...tier3,
    release: options.knowledge,
    evaluation: {
      effectOf: (other) => peripherals.reevaluation.effectOf(other),
      progress: (version) => peripherals.reevaluation.progress(version),
    },
  })
  const commands = commandsFeature(app, tier3)
  const accounts = await accountsFeature(app, {
    ...tier3,
    directory: {
      isOn: () => directory.port.isOn(),
      signIn: (given, beforeBind) => directory.port.signIn(given, beforeBind),
      standings: (known) => directory.port.standings(known),
      providers: () => directory.port.providers(),
    },
    onChange: live.endViews,
    ...(options.passwordCost === undefined ? {} : { passwordCost: options.passwordCost }),
  })
  const directory = directoryFeature(app, { ...tier3, accounts })
  const tier4 = { ...tier3, knowledge, commands, accounts }

  const builds = buildsFeature(app, { ...tier4, releaseKey: options.releaseKey })
  const windows = windowsFeature(app, tier4)
  const peripherals = devicesFeature(app, {
    ...tier4,
    decisions: { reassess: (...given) => policy.reassess(...given) },
  })
  const insights = insightsFeature(app, tier4)
  const tier5 = { ...tier4, builds, windows, peripherals, insights }

  const policy = policyFeature(app, tier5)
  const agentless = agentlessFeature(app, {
    ...tier5,
    ownWorkerToken: options.ownWorkerToken ?? null,
  })
  const quarantine = quarantineFeature(app, tier5)
  const assets = assetsFeature(app, tier5)
  const tier6 = { ...tier5, policy, agentless }

  const heldPorts = heldPortsFeature(app, tier6)
  const bulk = bulkFeature(app, tier6)
  hostsFeature(app, { ...tier6, bulk })
  const rollouts = rolloutsFeature(app, tier6)
  const alerts = alertsFeature(app, {
    ...tier6,
    health: { overall: () => health.overall() },
  })
  const tier7 = { ...tier6, heldPorts, alerts }

  const ingest = ingestFeature(app, {
    ...tier7,
    addressOf: createClientAddress(config.trustedProxies),
    maxWaitMs: patience.batchMs,
  })
  const tier8 = { ...tier7, ingest }

  const feeds = feedsFeature(app, tier8)
  const exports = exportsFeature(app, tier8)
  const reports = reportsFeature(app, { ...tier8, files: exports.files })
  sealingFeature(app, {
    ...tier8,
    columns: [
      ...settingsSealed,
      ...agentlessSealed,
      ...mailSealed,
      ...accountsSealed,
      ...alertsSealed,
      ...changeRequestsSealed,
    ],
  })
  documentFeature(app, tier8)
  const backup = backupFeature(app, {
    ...tier8,
    drill: {
      entry: fileURLToPath(new URL('entry/restore.ts', import.meta.url)),
      // The user of the embedded database can enter its data directory, but not that of a server without one.
      dir: config.databaseUrl === null ? config.dataDir : tmpdir(),
    },
  })

  const health = await healthFeature(app, {
    ...tier8,
    backup,
    followers: async () => [{ name: 'alerts', behind: await alerts.behind() }],
    isSetUp: async () => (await Promise.all([db, exportDb].map(accounts.hasAccounts))).every(Boolean),
    probes: {
      'job queue': jobs.health,
      'agentless worker': agentless.health,
      mail: mail.health,
      deliveries: deliveries.health,
      licence: licence.health,
      LDAP: directory.health,
      ISE: quarantine.health('ise'),
      CACT: quarantine.health('cact'),
      'asset stream': assets.health,
      reports: reports.health,
      audit: checkpoints.health,
      'policy rules': policy.integrity.health,
    },
    root: fileURLToPath(new URL('../..', import.meta.url)),
  })
  const overview = overviewFeature(app, tier8)
  registerDocs(app, version, contract)
  app.seal()
  await bus.ready(4_000)
  await knowledge.catchUp()

  const keptDays = (): number => Number(settings.now('VENDORA_RETENTION_DAYS_EVENTS'))
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
    [1_000, 'disconnected host detection', ingest.sweep],
    [5_000, 'agentless polls', agentless.maintain],
    [5_000, 'feed upkeep', feeds.maintain],
    [2_000, 'quarantine updates', quarantine.run],
    [5_000, 'quarantine detection', quarantine.watch],
    [120_000, 'nonce upkeep', agents.forgetNonces],
    [2_000, 'rule expiry', policy.endOver],
    [1_000, 'decision updates', policy.drain],
    [60_000, 'rule seal check', policy.checkSeals],
    [60_000, 'shadowed rules', async () => void (await policy.findShadowed())],
    [3_600_000, 'use of rules', policy.countUse],
    [60_000, 'rule set check', policy.integrity.maintain],
    [60_000, 'rule fingerprints', policy.adoptFingerprints],
    [60_000, 'risk of removed devices', peripherals.halveFindings],
    [10_000, 'command expiry', commands.expire],
    [3_600_000, 'command upkeep', commands.forget],
    [600_000, 'command key retirement', async () => keys.command.forgetRetired(clock.now())],
    [5_000, 'rollouts', rollouts.advance],
    [60_000, 'expired build removal', builds.discardExpired],
    [250, 'asset sequencing', assets.sequence],
    [1_000, 'asset publishing', assets.publishSoon],
    [3_600_000, 'asset upkeep', assets.maintain],
    [1_000, 'alerts', alerts.run],
    [60_000, 'disconnected host alerts', alerts.watch.silence],
    [60_000, 'uncommon device alerts', alerts.watch.uncommon],
    [60_000, 'allowlist violation alerts', alerts.watch.violations],
    [3_600_000, 'decision upkeep', () => peripherals.forgetDecisions(keptDays())],
    [3_600_000, 'alert upkeep', () => alerts.forget(keptDays())],
    [2_000, 'deliveries', deliveries.deliver],
    [3_600_000, 'delivery upkeep', deliveries.forget],
    [60_000, 'event summaries', events.summarise],
    [3_600_000, 'event upkeep', async () => events.forget(keptDays(), await deliveries.sentUpTo())],
    [5_000, 'report scheduling', reports.tick],
    [3_600_000, 'report upkeep', reports.maintain],
    [1_000, 'event loop measurement', health.sample],
    [15_000, 'health probes', health.watch],
    [300_000, 'numbers of the day', overview.note],
    [3_600_000, 'health history upkeep', health.forget],
    [15_000, 'backup scheduling', backup.tick],
  ]

  return {
    app,
    db,
    bus,
    settings,
    checkpoints,
    events,
    mail,
    alerts,
    deliveries,
    licence,
    accounts,
    changeRequests,
    agents,
    policy,
    ingest,
    jobs,
    commands,
    builds,
    rollouts,
    agentless,
    feeds,
    quarantine,
    peripherals,
    assets,
    health,
    overview,
    backup,
    thresholds: settings.threshold,
    tracer,
    reports,
    schemaVersion,
    /** Starts the periodic tasks; tests call the tasks themselves. */
    startTimers: () => {
      jobs.beat().catch((error: unknown) => log.warn({ err: error }, 'the job heartbeat failed'))
      return startTimers(timers, log)
    },
    close: async () => {
      live.close()
      await assets.close()
      ingest.wake.close()
      await app.fastify.close()
      await exports.close()
      const withoutJobs = jobs.close()
      backup.close()
      await withoutJobs
      await ingest.drain()
      await deliveries.close()
      await health.close()
      await bus.close()
      await exportDb.close()
      await db.close()
      await tracer.close()
    },
  }
}
