import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { SealedColumn } from '@portcullis/platform/server/sealed-column.ts'
import {
  alertTimes,
  assignAlerts,
  closeAlerts,
  commentAlerts,
  countNotices,
  dismissHealthNotice,
  dismissRiskNotice,
  endAlertMute,
  getNotice,
  listAlertMutes,
  listHealthNotices,
  listNotificationGroups,
  listRiskNotices,
  listWaitingNotices,
  muteAlert,
  pinHealthNotice,
  pinRiskNotice,
  readHealthNotices,
  readRiskNotices,
  reopenAlerts,
  snoozeAlerts,
  testNotificationChannel,
  updateNotificationGroup,
} from '#features/contract.ts'
import { createAlertsRead } from './alerts.read.ts'
import { createInbox } from './alerts.service.ts'
import { createCasesRead } from './cases.read.ts'
import { createCases } from './cases.service.ts'
import { createChannelTest } from './channel-test.ts'
import type { AlertsContext } from './context.ts'
import { createDispatch } from './dispatch.ts'
import { createFollower } from './follower.ts'
import { createGroups, webhookContext } from './groups.service.ts'
import { createWatchers } from './watchers.ts'

export type AlertsApi = ReturnType<typeof alertsFeature>

export const alertsSealed: readonly SealedColumn[] = [
  { table: 'notification_groups', key: 't.group_id::text', column: 'webhook_secret', context: webhookContext },
]

/** Wires the alerts from events, the inbox of each account, and the notification groups. */
export const alertsFeature = (app: HttpApp, context: AlertsContext) => {
  const read = createAlertsRead(context.db)
  const groups = createGroups(context)
  context.deliveries.forGroups(groups)
  const dispatch = createDispatch(context, groups, read)
  const casesRead = createCasesRead(context.db)
  const cases = createCases(context, casesRead)
  const follower = createFollower(context, dispatch.note, cases)
  const inbox = createInbox(context, read, cases, casesRead)
  context.policy.onAccepted(inbox.closeAccepted)
  context.agents.onUnlinked(inbox.closeDuplicates)
  const watchers = createWatchers(context, cases, dispatch.note)
  const channelTest = createChannelTest(context, groups)

  context.metrics.read('portcullis_notices_behind', 'gauge', 'Events not yet processed for alerts.', inbox.behind)
  context.metrics.read('portcullis_notices', 'gauge', 'Alerts that are neither closed nor snoozed.', async () => {
    const { riskNotifications, systemHealth } = await read.counts(null)
    return [
      { labels: { kind: 'risk' }, value: riskNotifications },
      { labels: { kind: 'health' }, value: systemHealth },
    ]
  })
  app.register(countNotices, ({ actor }) => inbox.counts(actor))
  app.register(listRiskNotices, ({ actor, query }) => inbox.risk(actor, query))
  app.register(listHealthNotices, ({ actor }) => inbox.health(actor))
  app.register(dismissRiskNotice, ({ actor, body }) => inbox.dismiss(actor, 'risk', body.id))
  app.register(dismissHealthNotice, ({ actor, body }) => inbox.dismiss(actor, 'health', body))
  app.register(pinRiskNotice, ({ actor, body }) => inbox.pin(actor, 'risk', body.id, body.isPinned))
  app.register(pinHealthNotice, ({ actor, body }) => inbox.togglePin(actor, 'health', body))
  app.register(readRiskNotices, ({ actor }) => inbox.markRead(actor, 'risk'))
  app.register(readHealthNotices, ({ actor }) => inbox.markRead(actor, 'health'))
  app.register(getNotice, ({ params }) => inbox.details(params.id))
  app.register(assignAlerts, ({ actor, body }) => cases.assign(actor, body))
  app.register(snoozeAlerts, ({ actor, body }) => cases.snooze(actor, body))
  app.register(closeAlerts, ({ actor, body }) => cases.close(actor, body))
  app.register(reopenAlerts, ({ actor, body }) => cases.reopen(actor, body.ids))
  app.register(commentAlerts, ({ actor, body }) => cases.comment(actor, body))
  app.register(listAlertMutes, () => cases.mutes())
  app.register(muteAlert, ({ actor, body }) => cases.mute(actor, body))
  app.register(endAlertMute, ({ actor, params }) => cases.endMute(actor, params.id))
  app.register(alertTimes, () => cases.times())
  app.register(listWaitingNotices, () => dispatch.waiting())
  app.register(listNotificationGroups, () => groups.list())
  app.register(updateNotificationGroup, ({ actor, body }) => groups.update(actor, body))
  app.register(testNotificationChannel, ({ actor, body }) => channelTest(actor, body))

  return {
    /** Aggregates the new events, ends snoozes, and enqueues the messages that are due. */
    run: async (): Promise<void> => {
      await follower.run()
      await cases.wake()
      await dispatch.run()
    },
    watch: watchers,
    listGroups: groups.list,
    validateGroups: groups.validate,
    changeGroups: groups.changeAll,
    lockGroups: groups.lock,
    behind: inbox.behind,
    forget: inbox.forget,
  }
}
