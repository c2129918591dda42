import { cleanText, mustExist } from '@portcullis/domain'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import { severityNames } from '#features/contract.ts'
import { layOut, subjectLine } from '#features/deliveries/server/mail/index.ts'
import type { AlertDetails, AlertsRead } from './alerts.read.ts'
import type { AlertsContext } from './context.ts'
import { dueOf, gapAfter } from './due.ts'
import type { GroupsService } from './groups.service.ts'
import { createGroupsStore } from './groups.store.ts'
import type { Group } from './groups.ts'
import type { AlertNews, News } from './news.ts'

/** Alerts per message; the rest follows in the next one. */
const mostOfMessage = 500
/** Alerts with text in one mail; it gives the number of further ones. */
const mostOfMail = 50

/** Returns whether a group notifies about an alert of this severity on hosts with these tags. */
const isOf = (
  { definition, config }: Group,
  news: Pick<AlertNews, 'list' | 'id'>,
  { severity, tags }: { severity: number; tags: ReadonlySet<string> },
): boolean => {
  const of = news.list === 'risk' ? 'notices' : 'subsystems'
  return (
    config.isEnabled &&
    definition.of === of &&
    definition.switches.some(({ id }) => id === news.id) &&
    !config.off.includes(news.id) &&
    severity <= severityNames.indexOf(config.minimumSeverity) &&
    (config.hashtags.length === 0 || config.hashtags.some((tag) => [...tags].some((one) => fold(one) === fold(tag))))
  )
}

/** Returns why a group is notified now; null: it is not. */
const newsFor = (group: Group, news: AlertNews): News | null => {
  if (!isOf(group, news, news)) return null
  if (news.news !== null) return news.news
  return news.before !== null && !isOf(group, news, news.before) ? 'opened' : null
}

/** Labels severity and state, for example `Critical, again`. */
const stateOf = ({ news, severityString, kind }: AlertDetails & { news: News }): string =>
  news === 'resolved'
    ? kind === 'health'
      ? 'OK'
      : 'OK, over'
    : `${severityString}${news === 'reopened' ? ', again' : ''}`

const subjectOf = (alerts: readonly (AlertDetails & { news: News })[]): string => {
  const [first] = alerts as [AlertDetails & { news: News }]
  const one = `[${stateOf(first)}] ${first.title}`
  return subjectLine(alerts.length === 1 ? one : `${alerts.length} alerts, most severe: ${one}`)
}

/** Returns the current state: a subsystem may have changed while the message waited. */
const newsNow = ({ kind, status }: AlertDetails, news: News): News =>
  kind !== 'health' ? news : status === 'OK' ? 'resolved' : news === 'resolved' ? 'reopened' : news

const times = (alert: AlertDetails): string =>
  alert.count === 1
    ? `Once, ${alert.lastTime}.`
    : `${alert.count.toLocaleString('en')} times, first ${alert.creationTime}, last ${alert.lastTime}.`

/** Returns the address of an alert in the console. A health alert leads to the page with the remedies. */
const addressOf = (base: string, { id, kind, link }: AlertDetails): string =>
  kind === 'health' ? `${base}${link}` : `${base}/notices?open=${id}`

/** Names up to three hosts, for example `Hosts: WS-1, WS-2, WS-3 and 9 more`. Empty: the title names the only one. */
const hostsLine = ({ hosts, hostsCount }: AlertDetails): string[] => {
  if (hostsCount < 2 || hosts.length === 0) return []
  const more = hostsCount - hosts.length
  const names = hosts.map(({ hostIdentifier }) => cleanText(hostIdentifier, 200)).join(', ')
  return [`Hosts: ${names}${more > 0 ? ` and ${more.toLocaleString('en')} more` : ''}`]
}

/** Notifies groups of alerts: at once, batched, or after quiet hours. */
export const createDispatch = (
  { db, clock, deliveries, settings }: AlertsContext,
  groups: GroupsService,
  read: AlertsRead,
) => {
  const store = createGroupsStore()
  function mailOf(group: Group, alerts: readonly (AlertDetails & { news: News })[], base: string) {
    const more = alerts.length - mostOfMail
    const [only, ...others] = alerts
    return {
      subject: subjectOf(alerts),
      ...layOut({
        subject: '',
        heading: only !== undefined && others.length === 0 ? only.title : `${alerts.length} alerts`,
        paragraphs: [
          ...alerts
            .slice(0, mostOfMail)
            .map((alert) =>
              [
                `${stateOf(alert)}: ${alert.title}`,
                ...hostsLine(alert),
                cleanText(alert.description, 600),
                times(alert),
                addressOf(base, alert),
              ].join('\n'),
            ),
          ...(more > 0 ? [`The console shows ${more} more.`] : []),
          `You receive this mail because you are a recipient of the notification group "${group.definition.groupName}".`,
        ],
        link: { text: 'View all alerts', url: `${base}/notices` },
      }),
    }
  }

  const webhookBody = (group: Group, alerts: readonly (AlertDetails & { news: News })[], base: string): string =>
    JSON.stringify({
      type: 'notices',
      timestamp: new Date(clock.now()).toISOString(),
      data: {
        group: group.definition.groupName,
        notices: alerts.map(({ link, ...alert }) => ({ ...alert, url: addressOf(base, { link, ...alert }) })),
      },
    })

  /** Writes one message of a group and channel. Returns true if another may be due. */
  const sendOne = (groupId: number, channel: 'email' | 'webhook', base: string): Promise<boolean> =>
    db.transaction(async (tx) => {
      if (!(await store.tryNotify(tx, groupId, channel))) return false
      const group = (await groups.read(tx)).find(({ definition }) => definition.id === groupId)
      if (group === undefined || !group.config.isEnabled || !group.config.channels[channel].isEnabled) {
        await store.endPending(tx, groupId, channel, null)
        return false
      }
      const { rows, last } = await store.pending(tx, groupId, channel, mostOfMessage)
      const { ready } = dueOf(group.config, channel, rows, last, clock.now())
      if (ready.length === 0) return false
      const news = new Map(ready.map((row) => [row.notice_id, row.news as News]))
      const alerts = (await read.some(tx, [...news.keys()])).map((alert) => ({
        ...alert,
        news: newsNow(alert, mustExist(news.get(alert.id), 'the news of an alert')),
      }))
      await store.endPending(tx, groupId, channel, [...news.keys()])
      if (alerts.length > 0) {
        const title = subjectOf(alerts)
        const about = {
          groupId,
          groupName: group.definition.groupName,
          channel,
          title,
          notices: alerts.map(({ id }) => id),
        }
        if (channel === 'email') {
          const body = JSON.stringify(mailOf(group, alerts, base))
          await deliveries.enqueue(
            tx,
            group.config.channels.email.recipients.map((destination) => ({ ...about, destination, body })),
          )
        } else {
          const destination = new URL(group.config.channels.webhook.url).host
          await deliveries.enqueue(tx, [{ ...about, destination, body: webhookBody(group, alerts, base) }])
        }
        const now = clock.now()
        const isStreak = last.at !== null && now - last.at.getTime() < 2 * gapAfter(last.streak)
        await store.recordSent(tx, groupId, channel, new Date(now), isStreak ? last.streak + 1 : 0)
      }
      return rows.length === mostOfMessage
    })

  return {
    /** Records which groups to notify, in the transaction that updates the alerts. */
    note: async (tx: Tx, news: readonly AlertNews[]): Promise<void> => {
      if (news.length === 0) return
      const all = await groups.read(tx)
      await store.addPending(
        tx,
        all.flatMap((group) =>
          news.flatMap((one) => {
            const why = newsFor(group, one)
            return why === null
              ? []
              : (['email', 'webhook'] as const)
                  .filter((channel) => group.config.channels[channel].isEnabled)
                  .map((channel) => ({ ...one, groupId: group.definition.id, channel, news: why }))
          }),
        ),
        new Date(clock.now()),
      )
    },

    /** Returns the pending notifications and what they wait for. */
    waiting: async () => {
      const [keys, all] = await Promise.all([store.waiting(db), groups.read(db)])
      const found = await Promise.all(
        keys.map(async ({ group_id, channel }) => {
          const group = all.find(({ definition }) => definition.id === group_id)
          const { rows, last } = await store.pending(db, group_id, channel, mostOfMessage)
          if (group === undefined || rows.length === 0) return []
          const { at, isForQuietHours } = dueOf(group.config, channel, rows, last, clock.now())
          return [
            {
              groupId: group_id,
              groupName: group.definition.groupName,
              channel,
              notices: rows.length,
              since: new Date(Math.min(...rows.map(({ since }) => since.getTime()))).toISOString(),
              isForQuietHours,
              nextAt: new Date(at).toISOString(),
            },
          ]
        }),
      )
      return found.flat()
    },

    /** Enqueues the messages that are due. */
    run: async (): Promise<void> => {
      const waiting = await store.waiting(db)
      if (waiting.length === 0) return
      const base = settings.baseUrl()
      for (const { group_id, channel } of waiting) while (await sendOne(group_id, channel, base));
    },
  }
}
