/** Wires the features without a framework. Only this file and its parts know all of them. */
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { healthFeature } from '@portcullis/features/health/server/index.ts'
import { backupFeature } from '@portcullis/features/operations/server/backup/index.ts'
import { documentFeature } from '@portcullis/features/operations/server/document/index.ts'
import { registerDocs } from '@portcullis/platform/server/http/docs.ts'
import { startTimers, type Timer } from '@portcullis/platform/server/timers.ts'
import packageFile from '../../package.json' with { type: 'json' }
import { type ComposeOptions, composeBase } from './compose.base.ts'
import { composeFleet } from './compose.fleet.ts'
import { composeOutputs } from './compose.outputs.ts'

export type { ComposeOptions } from './compose.base.ts'

export type Server = Awaited<ReturnType<typeof compose>>

/** Builds the whole server on a database. Nothing listens until the entry starts it. */
export const compose = async (options: ComposeOptions) => {
  const { config, clock, log } = options
  const base = await composeBase(options, {
    tagGate: {
      measure: (q, changes) => policy.tagGate.measure(q, changes),
      worksAgain: (q, changes) => policy.tagGate.worksAgain(q, changes),
      approve: (tx, actor, changes, order) => policy.tagGate.approve(tx, actor, changes, order),
      settle: (actor, outcome) => policy.tagGate.settle(actor, outcome),
    },
    fastPath: (request, response) => ingest.fastPath(request, response),
  })
  const { app, db, exportDb, lists, bus, metrics, tracer, live, audit, checkpoints, events, tags, schemaVersion } = base
  const { settings, changeRequests, thresholds, licence, jobs, mail, directory, accounts } = base
  const fleet = await composeFleet(options, base)
  const { agents, knowledge, policy, commands, agentless, feeds, ingest, nac, packages, rollouts } = fleet
  const outputs = composeOutputs(options, base, fleet, { health: { overall: () => health.overall() } })
  const { assets, deliveries, notifications, exports, reports } = outputs
  const health = await healthFeature(app, {
    ...lists,
    log,
    events,
    announce: async (tx, change) => {
      await live.hint(tx, 'health')
      await live.announce(tx, change)
    },
    thresholds,
    metrics,
    pools: { serve: db, export: exportDb },
    jobs: jobs.figures,
    mailsWaiting: mail.waiting,
    wakeSockets: ingest.wake.size,
    license: licence.summary,
    fleet: agents.totals,
    hostClocks: agents.wrongClocks,
    ingest: ingest.figures,
    dataDir: config.dataDir,
    knowledgeAge: knowledge.age,
    followers: async () => [{ name: 'alerts', behind: await notifications.behind() }],
    newestBackup: () => backup.newest(),
    scheduledBackups: () => backup.health(),
    isSetUp: async () => (await Promise.all([db, exportDb].map(accounts.hasAccounts))).every(Boolean),
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
      'policy rules': policy.integrity.health,
    },
    root: fileURLToPath(new URL('../..', import.meta.url)),
  })
  documentFeature(app, { db, settings, tags, notifications, policy })
  const backup = backupFeature(app, {
    db,
    exportDb,
    clock,
    log,
    audit,
    jobs,
    settings,
    hint: live.hint,
    dataDir: config.dataDir,
    drill: {
      entry: fileURLToPath(new URL('entry/restore.ts', import.meta.url)),
      // The user of the embedded database can enter its data directory, but not that of a server without one.
      dir: config.databaseUrl === null ? config.dataDir : tmpdir(),
    },
    version: packageFile.version,
  })
  registerDocs(app, packageFile.version)
  app.seal()
  await bus.ready(4_000)
  await knowledge.catchUp()

  const timers: Timer[] = [
    ...base.timers,
    ...fleet.timers,
    ...outputs.timers,
    [1_000, 'event loop measurement', health.sample],
    [15_000, 'health probes', health.watch],
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
    notifications,
    deliveries,
    licence,
    accounts,
    changeRequests,
    agents,
    policy,
    ingest,
    jobs,
    commands,
    packages,
    rollouts,
    agentless,
    feeds,
    nac,
    assets,
    health,
    backup,
    thresholds,
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
      await health.close()
      await bus.close()
      await exportDb.close()
      await db.close()
      await tracer.close()
    },
  }
}
