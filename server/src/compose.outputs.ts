import { hostname } from 'node:os'
import { type NotificationsDeps, notificationsFeature } from '@portcullis/features/alerts/server/index.ts'
import { assetsFeature } from '@portcullis/features/assets/server/index.ts'
import { deliveriesFeature } from '@portcullis/features/deliveries/server/index.ts'
import { exportsFeature } from '@portcullis/features/reports/server/exports/index.ts'
import { reportsFeature } from '@portcullis/features/reports/server/index.ts'
import { linkBase } from '@portcullis/features/settings/server/index.ts'
import type { Timer } from '@portcullis/platform/server/timers.ts'
import packageFile from '../../package.json' with { type: 'json' }
import type { Base, ComposeOptions } from './compose.base.ts'
import type { Fleet } from './compose.fleet.ts'

/** Creates the outputs: to consumers of the inventory, SIEMs, webhooks, by mail, and as files. */
export const composeOutputs = (
  { config, clock, log, reach }: ComposeOptions,
  base: Base,
  { agents, peripherals, policy, insights }: Pick<Fleet, 'agents' | 'peripherals' | 'policy' | 'insights'>,
  { health }: Pick<NotificationsDeps, 'health'>,
) => {
  const { app, db, lists, bus, metrics, live, audit, events, envelope, resolve, settings, jobs, mail, accounts } = base
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
    hint: live.hint,
    authenticate: accounts.authenticate,
  })
  function source() {
    const domain = settings.now('SERVER_DOMAIN_NAME')
    const instance = domain === '' ? hostname() : new URL(linkBase(domain, reach().url)).hostname
    return { version: packageFile.version, instance }
  }
  const deliveries = deliveriesFeature(app, {
    ...lists,
    log,
    bus,
    audit,
    events,
    mail,
    resolve,
    source,
    metrics,
    hint: live.hint,
  })
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
    violations: insights.usableViolations,
    onAccepted: policy.onAccepted,
    onUnlinked: agents.onUnlinked,
    health,
    metrics,
    hint: live.hint,
  })
  const exports = exportsFeature(app, { ...lists, insights, logo: () => settings.now('CUSTOM_LOGIN_LOGO') })
  const reports = reportsFeature(app, {
    ...lists,
    log,
    audit,
    jobs,
    mail,
    files: exports.files,
    root: config.reportsDir,
    baseUrl: accounts.baseUrl,
    hint: live.hint,
  })

  const keptDays = (): number => Number(settings.now('VENDORA_RETENTION_DAYS_EVENTS'))
  const timers: Timer[] = [
    [250, 'asset sequencing', assets.sequence],
    [1_000, 'asset publishing', assets.publishSoon],
    [3_600_000, 'asset upkeep', assets.maintain],
    [1_000, 'alerts', notifications.run],
    [60_000, 'disconnected host alerts', notifications.watch.silence],
    [60_000, 'uncommon device alerts', notifications.watch.uncommon],
    [60_000, 'allowlist violation alerts', notifications.watch.violations],
    [3_600_000, 'alert upkeep', () => notifications.forget(keptDays())],
    [2_000, 'deliveries', deliveries.deliver],
    [3_600_000, 'delivery upkeep', deliveries.forget],
    [60_000, 'event summaries', events.summarise],
    [3_600_000, 'event upkeep', async () => events.forget(keptDays(), await deliveries.sentUpTo())],
    [5_000, 'report scheduling', reports.tick],
    [3_600_000, 'report upkeep', reports.maintain],
  ]
  return { assets, deliveries, notifications, exports, reports, timers }
}
