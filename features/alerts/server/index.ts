import {
  countNotices,
  dismissHealthNotice,
  dismissRiskNotice,
  getNotice,
  listHealthNotices,
  listNotificationGroups,
  listRiskNotices,
  listWaitingNotices,
  pinHealthNotice,
  pinRiskNotice,
  readHealthNotices,
  readRiskNotices,
  testNotificationChannel,
  type UncommonPeripheral,
  updateNotificationGroup,
} from '@portcullis/contract'
import type { SiemSource } from '@portcullis/domain'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import type { ResolveDestination } from '@portcullis/platform/server/destinations.ts'
import type { Envelope } from '@portcullis/platform/server/envelope.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { Hint } from '@portcullis/platform/server/live.ts'
import type { Metrics } from '@portcullis/platform/server/metrics.ts'
import type { SealedColumn } from '@portcullis/platform/server/sealed-column.ts'
import type { AgentsApi } from '#features/agents/server/index.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { DeliveriesApi } from '#features/deliveries/server/index.ts'
import type { MailApi } from '#features/deliveries/server/mail/index.ts'
import type { UsableViolation } from '#features/devices/server/insights/index.ts'
import type { EventsApi } from '#features/events/server/index.ts'
import type { PolicyApi } from '#features/policy/server/index.ts'
import { createAlertsRead } from './alerts.read.ts'
import { createInbox } from './alerts.service.ts'
import { createAlertsStore } from './alerts.store.ts'
import { createChannelTest } from './channel-test.ts'
import { createDispatch } from './dispatch.ts'
import { createFollower } from './follower.ts'
import { createGroups, webhookContext } from './groups.service.ts'
import { createGroupsStore } from './groups.store.ts'
import type { Findings } from './matched.ts'
import type { HealthPort } from './ports.ts'
import { createWatchers } from './watchers.ts'

export type NotificationsApi = ReturnType<typeof notificationsFeature>

/** Columns of this feature that hold sealed texts. */
export const notificationsSealed: readonly SealedColumn[] = [
  { table: 'notification_groups', key: 't.group_id::text', column: 'webhook_secret', context: webhookContext },
]

export interface NotificationsDeps {
  db: Db
  clock: Clock
  audit: Audit
  events: Pick<EventsApi, 'append' | 'head' | 'follow' | 'some'>
  mail: Pick<MailApi, 'send'>
  deliveries: Pick<DeliveriesApi, 'enqueue' | 'about' | 'begin' | 'forGroups'>
  envelope: Envelope
  resolve: ResolveDestination
  source(): SiemSource
  baseUrl(): Promise<string>
  silentHours(): number
  findings: Findings
  /** Null: the fleet is too small for this insight. */
  uncommon(): Promise<readonly UncommonPeripheral[] | null>
  violations(limit: number): Promise<readonly UsableViolation[]>
  /** Closes the alert about a model whose findings people accepted. */
  onAccepted: PolicyApi['onAccepted']
  /** Closes the alerts about hosts that have no possible duplicate left. */
  onUnlinked: AgentsApi['onUnlinked']
  health: HealthPort
  metrics: Metrics
  hint: Hint
}

/** Wires the alerts from events, the inbox of each account, and the notification groups. */
export const notificationsFeature = (app: HttpApp, deps: NotificationsDeps) => {
  const store = createAlertsStore()
  const read = createAlertsRead(deps.db)
  const groupsStore = createGroupsStore()
  const groups = createGroups({ ...deps, store: groupsStore })
  deps.deliveries.forGroups(groups)
  const dispatch = createDispatch({ ...deps, store: groupsStore, groups, read })
  const follower = createFollower({ ...deps, store, notify: dispatch.note })
  const notices = createInbox({ ...deps, store, read })
  deps.onAccepted(notices.closeAccepted)
  deps.onUnlinked(notices.closeDuplicates)
  const watchers = createWatchers({ ...deps, store })
  const channelTest = createChannelTest({ ...deps, groups })

  deps.metrics.read('portcullis_notices_behind', 'gauge', 'Events not yet processed for alerts.', notices.behind)
  deps.metrics.read('portcullis_notices', 'gauge', 'Alerts that are not dismissed.', async () => {
    const { riskNotifications, systemHealth } = await read.counts(null)
    return [
      { labels: { kind: 'risk' }, value: riskNotifications },
      { labels: { kind: 'health' }, value: systemHealth },
    ]
  })
  app.register(countNotices, ({ actor }) => notices.counts(actor))
  app.register(listRiskNotices, ({ actor, query }) => notices.risk(actor, query))
  app.register(listHealthNotices, ({ actor }) => notices.health(actor))
  app.register(dismissRiskNotice, ({ actor, body }) => notices.dismiss(actor, 'risk', body.id))
  app.register(dismissHealthNotice, ({ actor, body }) => notices.dismiss(actor, 'health', body))
  app.register(pinRiskNotice, ({ actor, body }) => notices.pin(actor, 'risk', body.id, body.isPinned))
  app.register(pinHealthNotice, ({ actor, body }) => notices.togglePin(actor, 'health', body))
  app.register(readRiskNotices, ({ actor }) => notices.markRead(actor, 'risk'))
  app.register(readHealthNotices, ({ actor }) => notices.markRead(actor, 'health'))
  app.register(getNotice, ({ params }) => notices.details(params.id))
  app.register(listWaitingNotices, () => dispatch.waiting())
  app.register(listNotificationGroups, () => groups.list())
  app.register(updateNotificationGroup, ({ actor, body }) => groups.update(actor, body))
  app.register(testNotificationChannel, ({ actor, body }) => channelTest(actor, body))

  return {
    /** Aggregates the new events and enqueues the messages that are due. */
    run: async (): Promise<void> => {
      await follower.run()
      await dispatch.run()
    },
    watch: watchers,
    listGroups: groups.list,
    validateGroups: groups.validate,
    changeGroups: groups.changeAll,
    lockGroups: groups.lock,
    behind: notices.behind,
    forget: notices.forget,
  }
}
