import { type Channel, channels, type NotificationGroup } from '#features/contract.ts'
import { channelLabels } from '../shared/labels.ts'
import { strings } from './strings.ts'

/** A channel of a group in a few words. */
export interface Chip {
  channel: Channel
  label: string
  /** `on`; `off`: set up but off; `idle`: on but without effect. */
  state: 'on' | 'off' | 'idle'
  /** Why it has no effect. */
  why?: string
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? url

/** Returns the channels that a group has set up. `hasMail` is null if the user may not know. */
export const chipsOf = ({ channels: set }: Pick<NotificationGroup, 'channels'>, hasMail: boolean | null): Chip[] =>
  channels.flatMap((channel): Chip[] => {
    const target = {
      email: set.email.recipients.length === 0 ? '' : strings.recipientCount({ count: set.email.recipients.length }),
      webhook: set.webhook.url === '' ? '' : hostOf(set.webhook.url),
      syslog: set.syslog.address === '' ? '' : `${set.syslog.address}, ${set.syslog.protocol}, ${set.syslog.format}`,
    }[channel]
    if (target === '' && !set[channel].isEnabled) return []
    const label = `${channelLabels[channel]}: ${target}`
    if (!set[channel].isEnabled) return [{ channel, label, state: 'off' }]
    if (channel === 'email' && hasMail === false)
      return [{ channel, label, state: 'idle', why: strings.noMailServerWhy }]
    return [{ channel, label, state: 'on' }]
  })

/** Returns the triggers and timing of a group, in a few words each. */
export const termsOf = (group: NotificationGroup): string[] => {
  const off = group.notifications.filter(({ isEnabled }) => !isEnabled).length
  return [
    group.minimumSeverity === 'Debug' ? strings.everySeverity : strings.orWorse({ name: group.minimumSeverity }),
    ...(off === 0
      ? []
      : [
          strings.triggerCount({
            on: group.notifications.length - off,
            all: group.notifications.length,
          }),
        ]),
    ...(group.hashtags.length === 0
      ? []
      : [strings.tagList({ tags: group.hashtags.map((tag) => `#${tag}`).join(' ') })]),
    ...(group.digestMinutes === 0 ? [] : [strings.batched({ minutes: group.digestMinutes })]),
    ...(group.quietHours === null
      ? []
      : [
          strings.quietTerm({
            from: group.quietHours.from,
            to: group.quietHours.to,
            timeZone: group.quietHours.timeZone,
          }),
        ]),
  ]
}
