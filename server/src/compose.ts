/** Wires the features by hand; the only file that knows them all. */
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { LiveHint } from '@portcullis/contract'
import type { Knowledge } from '@portcullis/domain'
import type pg from 'pg'
import { accountsFeature, accountsSealed } from '#features/accounts/index.ts'
import { actionsFeature } from '#features/actions/index.ts'
import { agentlessFeature, agentlessSealed } from '#features/agentless/index.ts'
import { agentsFeature, type Reach } from '#features/agents/index.ts'
import { assetsFeature } from '#features/assets/index.ts'
import { auditCheckpoints, auditFeature } from '#features/audit/index.ts'
import { backupFeature } from '#features/backup/index.ts'
import { commandsFeature } from '#features/commands/index.ts'
import { deliveriesFeature } from '#features/deliveries/index.ts'
import { directoryFeature } from '#features/directory/index.ts'
import { documentFeature } from '#features/document/index.ts'
import { eventsFeature } from '#features/events/index.ts'
import { exportsFeature } from '#features/exports/index.ts'
import { healthFeature, healthThresholds } from '#features/health/index.ts'
import { insightsFeature } from '#features/insights/index.ts'
import { jobsFeature } from '#features/jobs/index.ts'
import { knowledgeFeature } from '#features/knowledge/index.ts'
import { licenceFeature } from '#features/licence/index.ts'
import { mailFeature, mailSealed } from '#features/mail/index.ts'
import { nacFeature } from '#features/nac/index.ts'
import { notificationsFeature, notificationsSealed } from '#features/notifications/index.ts'
import { packagesFeature } from '#features/packages/index.ts'
import { peripheralsFeature } from '#features/peripherals/index.ts'
import { policyFeature } from '#features/policy/index.ts'
import { reportsFeature } from '#features/reports/index.ts'
import { rolloutsFeature } from '#features/rollouts/index.ts'
import { sealingFeature } from '#features/sealing/index.ts'
import { linkBase, settingsFeature, settingsSealed } from '#features/settings/index.ts'
import { tagsFeature } from '#features/tags/index.ts'
import type { Clock } from '#platform/clock.ts'
import type { Config } from '#platform/config.ts'
import { createBus } from '#platform/db/bus.ts'
import { createDb, type Tx } from '#platform/db/db.ts'
import { migrate } from '#platform/db/migrate.ts'
import { poolLimits } from '#platform/db/pool-limits.ts'
import { createDestinations } from '#platform/destinations.ts'
import { createEnvelope } from '#platform/envelope.ts'
import type { Actor } from '#platform/http/actor.ts'
import { createConsole } from '#platform/http/console.ts'
import { registerDocs } from '#platform/http/docs.ts'
import { createHttpApp } from '#platform/http/http-app.ts'
import type { Keys } from '#platform/keys.ts'
import { createLive } from '#platform/live.ts'
import type { Log } from '#platform/log.ts'
import { createMetrics } from '#platform/metrics.ts'
import type { PasswordCost } from '#platform/passwords.ts'
import { createRate } from '#platform/rate.ts'
import type { Secret } from '#platform/secret.ts'
import { createTracer } from '#platform/tracing/index.ts'
import packageFile from '../../package.json' with { type: 'json' }
import { createIngest, registerAgentPolicy } from './ingest/index.ts'

export interface ComposeOptions {
  config: Pick<
    Config,
    | 'trustedProxies'
    | 'dataDir'
    | 'licenceKeysFile'
    | 'keyFile'
    | 'outboundAllow'
    | 'reportsDir'
    | 'auditDir'
    | 'isAuditDirGiven'
    | 'natsUrl'
    | 'kafkaBrokers'
  > &
    Partial<Pick<Config, 'tracing'>>
  connection: pg.PoolConfig
  keys: Keys
  clock: Clock
  log: Log
  knowledge: Knowledge
  tls: { cert: string; key: string } | null
  /** Token of the agentless worker that is started beside this server; none when absent. */
  ownWorkerToken?: Secret
  /** How hosts reach this server; asked when a token is made, once the server listens. */
  reach(): Reach
  /** Folder of the built agent executables. */
  agentBuildDir: string
  /** Folder of the built console. */
  consoleDir: string
  /** Checks every answer against the contract; on in all tests. */
  validateResponses: boolean
  passwordCost?: PasswordCost
}

export type Server = Awaited<ReturnType<typeof compose>>

/** Builds the whole server on a database; nothing listens until the entry says so. */
export const compose = async (options: ComposeOptions) => {
  const { config, connection, keys, clock, log, reach } = options
  const migrationDb = createDb({ connection, max: 1, name: 'migrate', log, statementTimeoutMs: 0 })
  const migrations = fileURLToPath(new URL('../migrations', import.meta.url))
  const schemaVersion = await migrate(migrationDb, migrations).finally(() => migrationDb.close())

  const tracer = createTracer({ config: config.tracing ?? null, version: packageFile.version, clock, log })
  // Nobody waits longer than five seconds for an answer, whatever the database does.
  const db = createDb({ connection, max: poolLimits.serve, name: 'serve', log, statementTimeoutMs: 4_000, tracer })
  const exportDb = createDb({ connection, max: poolLimits.export, name: 'export', log, statementTimeoutMs: 0, tracer })
  const bus = createBus({ connection, log })
  const metrics = createMetrics()
  const checkInRate = createRate()
  const checkInCount = metrics.counter('portcullis_check_ins_total', 'Check-ins acknowledged.')
  const checkInDuration = metrics.histogram(
    'portcullis_check_in_duration_seconds',
    'Time from request to answer of a check-in.',
  )

  for (const what of ['exported', 'dropped'] as const)
    metrics.read(
      `portcullis_trace_spans_${what}_total`,
      'counter',
      `Spans of traces that were ${what}.`,
      () => tracer.counts()?.[what] ?? [],
    )
  const jobsEnded = metrics.counter(
    'portcullis_jobs_ended_total',
    'Jobs that this process ended, by kind and outcome.',
    ['kind', 'outcome'],
  )

  const app = await createHttpApp({
    log,
    authenticate: (token, ip) => accounts.authenticate(token, ip),
    redeemTicket: (ticket, ip) => accounts.redeemTicket(ticket, ip),
    allowedOrigins: () => {
      const domain = settings.now('SERVER_DOMAIN_NAME')
      return domain === '' ? [] : [new URL(linkBase(domain, reach().url)).host]
    },
    trustedProxies: config.trustedProxies,
    tls: options.tls,
    validateResponses: options.validateResponses,
    fallback: createConsole(options.consoleDir).answer,
    fastPath: (request, response) => ingest.fastPath(request, response),
    tracer,
  })
  const live = createLive(app, bus)
  const lists = { db, exportDb, clock }

  const audit = auditFeature(app, { db, clock })
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
  const events = eventsFeature(app, { ...lists, log })
  const tags = tagsFeature(app, { ...lists, audit })
  const envelope = createEnvelope(keys.sealing)
  const resolve = createDestinations(config.outboundAllow)
  const settings = await settingsFeature(app, {
    db,
    clock,
    log,
    bus,
    serverUrl: () => reach().url,
    resolve,
    audit,
    envelope,
    guards: {
      vendorA: (actor, next) => policy.guardItems(actor, next),
      ldap: (actor, next) => directory.guards.ldap(actor, next),
      ise: (actor, next) => nac.guards.ise(actor, next),
      cact: (actor, next) => nac.guards.cact(actor, next),
      oidc: (actor, next) => directory.guards.oidc(actor, next),
      license: (actor, next) => licence.guard(actor, next),
    },
  })
  const thresholds = await healthThresholds({ db, log, settings })
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
    ended: (kind, outcome) => jobsEnded.inc({ kind, outcome }),
    thresholds: () => ({ waitSeconds: thresholds('JOB_WAIT_SECONDS'), failed: thresholds('JOBS_FAILED') }),
  })
  sealingFeature(app, {
    db,
    audit,
    jobs,
    envelope,
    keys: keys.sealing,
    columns: [...settingsSealed, ...agentlessSealed, ...mailSealed, ...accountsSealed, ...notificationsSealed],
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
    follower: {
      attachment: (ref) => reports.follower.attachment(ref),
      outcome: (tx, ref, outcome) => reports.follower.outcome(tx, ref, outcome),
    },
  })
  const directory = directoryFeature(app, {
    db,
    clock,
    log,
    audit,
    keys,
    settings,
    resolve,
    accounts: {
      baseUrl: () => accounts.baseUrl(),
      signInAs: (identify, request, reply) => accounts.signInAs(identify, request, reply),
      withdrawSubject: (issuer, id, why) => accounts.withdrawSubject(issuer, id, why),
    },
  })
  const accounts = await accountsFeature(app, {
    directory: directory.port,
    providers: directory.providers,
    mail,
    db,
    clock,
    keys,
    envelope,
    audit,
    log,
    bus,
    license: licence.summary,
    serverUrl: () => reach().url,
    onChange: live.endViews,
    ...(options.passwordCost === undefined ? {} : { passwordCost: options.passwordCost }),
  })
  const packages = packagesFeature(app, {
    db,
    clock,
    keys,
    audit,
    dataDir: config.dataDir,
    verifySession: (token, nowSeconds) => agents.verifySession(token, nowSeconds),
    isRevoked: (agentId) => agents.isRevoked(agentId),
  })
  const agents = agentsFeature(app, {
    releaseKey: packages.releaseKey,
    ...lists,
    keys,
    audit,
    events,
    tags,
    reach,
    agentBuildDir: options.agentBuildDir,
    peripheralsOf: (agentId) => peripherals.ofAgent(agentId),
    policyOf: (agentId) => policy.ofAgent(agentId),
    assertMayDelete: (actor, uuids) => actions.assertMayDelete(actor, uuids),
    pendingCommandsOf: (agentId) => commands.pendingOf(agentId),
    debugLogsOf: (agentId) => commands.logsOf(agentId),
    beforeRemove: (tx, ids) => peripherals.forgetAgents(tx, ids),
    announceRemoved: async (tx, ids) => {
      await commands.forgetAgents(tx, ids)
      await live.announce(tx, { agents: [...ids], peripherals: [] })
      // Whichever replica holds their sockets closes them. A message holds some 200 ids (bus.ts, payloadLimit).
      for (let at = 0; at < ids.length; at += 150)
        await bus.publish(tx, 'agents-removed', { ids: ids.slice(at, at + 150) })
    },
  })
  const startJudging = (tx: Tx, actor: Pick<Actor, 'userName'>, version: string): Promise<string> =>
    jobs.enqueue(tx, actor, {
      kind: 'knowledge',
      title: `Judge all devices by knowledge ${version}`,
      data: { version },
    })
  const knowledge = await knowledgeFeature(app, {
    db,
    clock,
    keys,
    log,
    bus,
    audit,
    release: options.knowledge,
    effectOf: (other) => peripherals.rejudge.effectOf(other),
    startJudging,
    judging: (version) => peripherals.rejudge.progress(version),
  })
  const peripherals = peripheralsFeature(app, {
    ...lists,
    bus,
    agents,
    events,
    knowledge: knowledge.current,
    reassess: (tx, ids) => policy.reassess(tx, ids),
    startJudging: (tx) => jobs.enqueue(tx, { userName: 'system' }, { kind: 'knowledge', title: 'Judge a device anew' }),
  })
  jobs.handle('knowledge', {
    run: async (job) => {
      await knowledge.refresh()
      await peripherals.rejudge.run(job)
      return 'done'
    },
  })
  const wake = async (tx: Tx, ids: readonly string[]): Promise<void> => {
    for (let at = 0; at < ids.length; at += 150) await bus.publish(tx, 'wake', { ids: ids.slice(at, at + 150) })
  }
  const commands = commandsFeature(app, {
    ...lists,
    signingKey: keys.command.privateKey,
    audit,
    agents: agents.commandState,
    events,
    jobs,
    lifeHours: async (tx) => (await policy.settings(tx)).commandHours,
    wake,
    announce: live.announce,
  })
  const policy = policyFeature(app, {
    config: settings,
    ...lists,
    keys,
    log,
    bus,
    audit,
    jobs,
    agents,
    peripherals,
    commands,
    knowledgeHash: () => knowledge.forAgents().hash,
    administrators: accounts.administrators,
    refuseSettings: (actor, settings) => actions.refuseSettings(actor, settings),
    announce: live.announce,
    wake,
  })
  const actions = actionsFeature(app, {
    tags,
    db,
    clock,
    keys,
    audit,
    agents,
    commands,
    jobs,
    secondPersonAbove: async () => (await policy.twoPerson()).hosts,
    latestPackage: packages.latestPackage,
    approvePresent: policy.approvePresent,
    settle: () =>
      policy.drain().catch((error: unknown) => log.warn({ err: error }, 'decisions are made anew a second later')),
    saveSettings: policy.saveSettings,
    revertRollout: (tx, actor, rollout) => rollouts.revert(tx, actor, rollout),
  })
  const agentless = agentlessFeature(app, {
    ...lists,
    log,
    keys,
    envelope,
    audit,
    tags,
    agents,
    events,
    workerCommand: (token) => `npm run worker -- --server ${reach().url} --token ${token}`,
    ownWorkerToken: options.ownWorkerToken ?? null,
    lateMinutes: () => thresholds('WORKER_LATE_MINUTES'),
    announce: (tx) => live.announce(tx, { agents: [], peripherals: [] }),
  })
  const ingest = createIngest({
    agentless,
    db,
    clock,
    log,
    agents,
    peripherals,
    policy,
    commands,
    events,
    announce: live.announce,
    tracer,
    intervalSeconds: () => Number(settings.now('VENDORA_CHECKIN_SECONDS')),
    metrics: {
      checkIns: (n) => {
        checkInCount.inc({}, n)
        checkInRate.add(n)
      },
      checkInDuration: (ms) => checkInDuration.observe(ms / 1000),
    },
  })
  ingest.register(app)
  registerAgentPolicy(app, { clock, verifySession: agents.verifySession, policy, knowledge: knowledge.forAgents })
  bus.on('wake', ({ ids }) => (ids as string[]).forEach(ingest.wake.wake))
  bus.on('agents-removed', ({ ids }) => ingest.wake.drop(ids as string[]))
  const nac = nacFeature(app, {
    ...lists,
    log,
    bus,
    audit,
    events,
    settings,
    resolve,
    announce: (tx, agents) => live.announce(tx, { agents, peripherals: [] }),
  })
  const assets = assetsFeature(app, {
    ...lists,
    log,
    bus,
    audit,
    jobs,
    metrics,
    natsUrl: config.natsUrl,
    kafkaBrokers: config.kafkaBrokers,
    resolve,
    hint: (tx) => live.hint(tx, 'assets'),
    authenticate: accounts.authenticate,
  })
  const source = () => {
    const domain = settings.now('SERVER_DOMAIN_NAME')
    const instance = domain === '' ? hostname() : new URL(linkBase(domain, reach().url)).hostname
    return { version: packageFile.version, instance }
  }
  const hintOf = (hint: LiveHint) => (tx: Tx) => live.hint(tx, hint)
  const deliveries = deliveriesFeature(app, {
    ...lists,
    log,
    bus,
    audit,
    events,
    mail,
    resolve,
    source,
    plans: () => notifications.plans(),
    webhookOf: (groupId) => notifications.webhookOf(groupId),
    isRecipient: (groupId, address) => notifications.isRecipient(groupId, address),
    metrics,
    hint: hintOf('deliveries'),
  })
  const insights = insightsFeature(app, { ...lists, knowledge: knowledge.current })
  const notifications = notificationsFeature(app, {
    db,
    clock,
    audit,
    events,
    mail,
    deliveries,
    envelope,
    resolve,
    source,
    baseUrl: async () => linkBase(settings.now('SERVER_DOMAIN_NAME'), reach().url),
    silentHours: () => Number(settings.now('VENDORA_SILENT_HOURS')),
    findings: peripherals.findings,
    uncommon: insights.uncommonNow,
    violations: insights.violationsNow,
    overall: () => health.overall(),
    metrics,
    hint: hintOf('notices'),
  })
  const health = await healthFeature(app, {
    ...lists,
    log,
    events,
    announce: async (tx) => {
      await live.hint(tx, 'health')
      await live.announce(tx, { agents: [], peripherals: [] })
    },
    thresholds,
    metrics,
    pools: { serve: db, export: exportDb },
    jobs: jobs.figures,
    mailsWaiting: mail.waiting,
    wakeSockets: ingest.wake.size,
    license: licence.summary,
    fleet: agents.totals,
    ingest: () => ({ queueDepth: ingest.depth(), checkInsPerSecond: checkInRate.perSecond() }),
    dataDir: config.dataDir,
    knowledgeAge: knowledge.age,
    followers: async () => [{ name: 'notices', behind: await notifications.behind() }],
    newestBackup: () => backup.newest(),
    probes: {
      'job queue': jobs.health,
      'agentless worker': agentless.health,
      mail: mail.health,
      deliveries: deliveries.health,
      licence: licence.health,
      LDAP: directory.health,
      ISE: nac.health('ise'),
      CACT: nac.health('cact'),
      'asset stream': assets.health,
      reports: () => reports.health(),
      audit: checkpoints.health,
    },
    root: fileURLToPath(new URL('../..', import.meta.url)),
  })
  const exports = exportsFeature(app, { ...lists, insights })
  const reports = reportsFeature(app, {
    ...lists,
    log,
    audit,
    jobs,
    mail,
    files: exports.files,
    root: config.reportsDir,
    baseUrl: accounts.baseUrl,
    hint: (tx) => live.hint(tx, 'reports'),
  })
  documentFeature(app, { db, settings, tags, notifications, policy })
  const backup = backupFeature(app, {
    db,
    exportDb,
    clock,
    log,
    audit,
    keyFile: config.keyFile,
    version: packageFile.version,
  })
  const rollouts = rolloutsFeature(app, {
    db,
    exportDb,
    clock,
    log,
    audit,
    events,
    commands,
    packages,
    release: actions.release,
    refuseRevert: actions.refuseRevert,
    announce: (tx) => live.announce(tx, { agents: [], peripherals: [] }),
  })
  registerDocs(app, packageFile.version)
  app.seal()
  await bus.ready(4_000)
  await knowledge.catchUp()

  const every = (milliseconds: number, what: string, work: () => Promise<unknown>): NodeJS.Timeout =>
    setInterval(() => {
      work().catch((error: unknown) => log.warn({ err: error }, `${what} failed`))
    }, milliseconds).unref()

  return {
    app,
    db,
    bus,
    settings,
    checkpoints,
    events,
    mail,
    notifications,
    deliveries,
    licence,
    accounts,
    agents,
    policy,
    ingest,
    jobs,
    commands,
    rollouts,
    agentless,
    nac,
    assets,
    health,
    thresholds,
    tracer,
    reports,
    schemaVersion,
    /** Starts what runs by the clock; tests call the parts themselves. */
    startTimers: () => {
      jobs.beat().catch((error: unknown) => log.warn({ err: error }, 'saying that jobs are taken failed'))
      const timers = [
        every(2_000, 'checkpoints of the audit trail', checkpoints.run),
        every(1_000, 'noticing silent agents', ingest.sweep),
        every(250, 'placing assets', assets.sequence),
        every(1_000, 'publishing assets', assets.publishSoon),
        every(3_600_000, 'asset upkeep', assets.maintain),
        every(5_000, 'polls', agentless.maintain),
        every(60_000, 'reading the configuration', settings.refresh),
        every(5_000, 'sending mail', mail.deliver),
        every(1_000, 'notices', notifications.run),
        every(2_000, 'deliveries', deliveries.deliver),
        every(60_000, 'looking for silent hosts', notifications.watch.silence),
        every(60_000, 'looking for uncommon devices', notifications.watch.uncommon),
        every(60_000, 'looking for devices without a rule', notifications.watch.violations),
        every(5_000, 'ordering reports', reports.tick),
        every(3_600_000, 'report upkeep', reports.maintain),
        every(2_000, 'carrying out quarantines', nac.run),
        every(5_000, 'looking for what to quarantine', nac.watch),
        every(5_000, 'applying the licence', licence.apply),
        every(120_000, 'account upkeep', accounts.maintain),
        every(60_000, 'asking the directory', accounts.checkDirectoryAccounts),
        every(300_000, 'directory upkeep', directory.maintain),
        every(120_000, 'nonce upkeep', agents.forgetNonces),
        every(2_000, 'ending rules', policy.endOver),
        every(1_000, 'decisions by changed tags', policy.drain),
        every(60_000, 'checking rules', policy.checkSeals),
        every(10_000, 'expiring commands', commands.expire),
        every(5_000, 'rollouts', rollouts.advance),
        every(5_000, 'taking jobs over', async () => jobs.wake()),
        every(1_000, 'measuring the event loop', health.sample),
        every(15_000, 'saying that jobs are taken', jobs.beat),
        every(15_000, 'looking at the parts of the product', health.watch),
        every(3_600_000, 'removing old events', () =>
          deliveries
            .sentUpTo()
            .then((upTo) => events.forget(Number(settings.now('VENDORA_RETENTION_DAYS_EVENTS')), upTo)),
        ),
        every(3_600_000, 'delivery upkeep', deliveries.forget),
        every(3_600_000, 'notice upkeep', () =>
          notifications.forget(Number(settings.now('VENDORA_RETENTION_DAYS_EVENTS'))),
        ),
        every(3_600_000, 'job upkeep', jobs.forget),
        every(3_600_000, 'upkeep of the history of health', health.forget),
        every(3_600_000, 'command upkeep', commands.forget),
      ]
      return () => timers.forEach(clearInterval)
    },
    close: async () => {
      live.close()
      await assets.close()
      ingest.wake.close()
      await app.fastify.close()
      await exports.close()
      await jobs.close()
      await ingest.drain()
      await health.close()
      await bus.close()
      await exportDb.close()
      await db.close()
      await tracer.close()
    },
  }
}
