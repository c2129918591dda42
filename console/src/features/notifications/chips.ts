import { type Channel, channels, type NotificationGroup } from '@portcullis/contract'
import { channelWords } from '../../ui/notices/labels.ts'
import { strings } from './strings.ts'

/** A channel of a group in a few words. */
export interface Chip {
  channel: Channel
  words: string
  /** `on`; `off`: set up, and switched off; `idle`: on, and of no effect. */
  state: 'on' | 'off' | 'idle'
  /** Why it is of no effect. */
  why?: string
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? url

/** The channels that a group has set up. `hasMail` is null where the reader may not know. */
export const chipsOf = ({ channels: set }: Pick<NotificationGroup, 'channels'>, hasMail: boolean | null): Chip[] =>
  channels.flatMap((channel): Chip[] => {
    const target = {
      email:
        set.email.recipients.length === 0
          ? ''
          : `${set.email.recipients.length} ${set.email.recipients.length === 1 ? 'recipient' : 'recipients'}`,
      webhook: set.webhook.url === '' ? '' : hostOf(set.webhook.url),
      syslog: set.syslog.address === '' ? '' : `${set.syslog.address}, ${set.syslog.protocol}, ${set.syslog.format}`,
    }[channel]
    if (target === '' && !set[channel].isEnabled) return []
    const words = `${channelWords[channel]}: ${target}`
    if (!set[channel].isEnabled) return [{ channel, words, state: 'off' }]
    if (channel === 'email' && hasMail === false)
      return [{ channel, words, state: 'idle', why: strings.noMailServerIsSetUp3 }]
    return [{ channel, words, state: 'on' }]
  })

/** When and of what a group tells, in a few words each. */
export const termsOf = (group: NotificationGroup): string[] => {
  const off = group.notifications.filter(({ isEnabled }) => !isEnabled).length
  return [
    group.minimumSeverity === 'Debug'
      ? 'every severity'
      : strings.minimumseverityOrWorse({ minimumSeverity: group.minimumSeverity }),
    ...(off === 0
      ? []
      : [
          strings.notificationsOfNotifications2Kinds({
            notifications: group.notifications.length - off,
            notifications2: group.notifications.length,
          }),
        ]),
    ...(group.hashtags.length === 0
      ? []
      : [strings.tagsHashtags({ hashtags: group.hashtags.map((tag) => `#${tag}`).join(' ') })]),
    ...(group.digestMinutes === 0 ? [] : [strings.gatheredForDigestminutesMin({ digestMinutes: group.digestMinutes })]),
    ...(group.quietHours === null
      ? []
      : [
          strings.quietFromToToTimezone({
            from: group.quietHours.from,
            to: group.quietHours.to,
            timeZone: group.quietHours.timeZone,
          }),
        ]),
  ]
}
