import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import {
  type Channel,
  eventCategories,
  groupLimits,
  maskedSecret,
  type NotificationGroup,
  type NotificationGroupChange,
  type QuietHours,
} from '#features/contract.ts'
import { strings } from './strings.ts'

/** A group as entered: numbers are still strings. */
export interface Draft {
  isEnabled: boolean
  minimumSeverity: NotificationGroup['minimumSeverity']
  /** Separated by commas. */
  hashtags: string
  /** Ids of the selected triggers. */
  on: readonly string[]
  digestMinutes: string
  isQuiet: boolean
  quiet: { from: string; to: string; timeZone: string; passSeverity: string }
  email: { isEnabled: boolean; recipients: string }
  /** `secret` is only what the user typed: the server never returns the stored one. */
  webhook: { isEnabled: boolean; url: string; secret: string; isSecretNew: boolean; ca: string }
  syslog: NotificationGroup['channels']['syslog']
}

const here = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

/** Returns whether the triggers of a group are categories of events. Such a group sends each event and no email. */
export const sendsEvents = ({ notifications }: Pick<NotificationGroup, 'notifications'>): boolean =>
  notifications.every(({ id }) => (eventCategories as readonly string[]).includes(id))

export const draftOf = (group: NotificationGroup): Draft => ({
  isEnabled: group.isEnabled,
  minimumSeverity: group.minimumSeverity,
  hashtags: group.hashtags.join(','),
  on: group.notifications.filter(({ isEnabled }) => isEnabled).map(({ id }) => id),
  digestMinutes: String(group.digestMinutes),
  isQuiet: group.quietHours !== null,
  quiet: {
    from: group.quietHours?.from ?? '22:00',
    to: group.quietHours?.to ?? '06:00',
    timeZone: group.quietHours?.timeZone ?? here(),
    passSeverity: group.quietHours === null ? 'Critical' : (group.quietHours.passSeverity ?? ''),
  },
  email: { isEnabled: group.channels.email.isEnabled, recipients: group.channels.email.recipients.join('\n') },
  webhook: {
    isEnabled: group.channels.webhook.isEnabled,
    url: group.channels.webhook.url,
    secret: '',
    isSecretNew: false,
    ca: group.channels.webhook.ca,
  },
  syslog: group.channels.syslog,
})

/** Returns whether the server has a secret for the webhook. */
export const hasSecret = (group: NotificationGroup): boolean => group.channels.webhook.secret !== ''

/** Returns the secret that the server has just generated, or null. */
export const freshSecretOf = ({ channels: { webhook } }: NotificationGroup): string | null =>
  webhook.secret === '' || webhook.secret === maskedSecret ? null : webhook.secret

/** Returns the recipients of a text: one per line, or separated as in mail programs. */
export const recipientsOf = (text: string): string[] =>
  text
    .split(/[\n,;]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')

const address = /^[^\s@<>"(),:;[\]\\]{1,64}@[^\s@<>"(),:;[\]\\]{1,190}$/

/** Returns the fault of a list of recipients, or null. */
export const recipientsFault = (text: string): string | null => {
  const all = recipientsOf(text)
  const bad = all.filter((one) => !address.test(one) || one.length > 254)
  if (bad.length > 0) {
    const list = bad.slice(0, 5).join(', ')
    if (bad.length > 5) return strings.badRecipientsMore({ list, more: bad.length - 5 })
    return strings.badRecipients({ count: bad.length, list })
  }
  if (all.length > groupLimits.recipients)
    return strings.tooManyRecipients({ count: all.length, max: groupLimits.recipients })
  return null
}

const quietOf = ({ isQuiet, quiet }: Draft): QuietHours | null =>
  isQuiet
    ? {
        from: quiet.from,
        to: quiet.to,
        timeZone: quiet.timeZone,
        passSeverity: quiet.passSeverity === '' ? null : (quiet.passSeverity as QuietHours['passSeverity']),
      }
    : null

type ChannelsChange = NonNullable<NotificationGroupChange['channels']>

/** Returns all entered members of the channels except a secret that the server keeps. */
const channelsOf = ({ email, webhook, syslog }: Draft): Required<ChannelsChange> => ({
  email: { isEnabled: email.isEnabled, recipients: recipientsOf(email.recipients) },
  webhook: {
    isEnabled: webhook.isEnabled,
    url: webhook.url.trim(),
    ca: webhook.ca,
    ...(webhook.isSecretNew ? { secret: '' } : webhook.secret === '' ? {} : { secret: webhook.secret.trim() }),
  },
  syslog: { ...syslog, address: syslog.address.trim() },
})

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** Returns the members of `after` that differ from those of `before`. */
const changed = <T extends object>(before: T, after: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(after).filter(([name, value]) => !isSame((before as Record<string, unknown>)[name], value)),
  ) as Partial<T>

const membersOf = (draft: Draft) => ({
  isEnabled: draft.isEnabled,
  minimumSeverity: draft.minimumSeverity,
  hashtags: draft.hashtags.split(',').filter((tag) => tag !== ''),
  digestMinutes: Number(draft.digestMinutes),
  quietHours: quietOf(draft),
})

/** Returns what a draft changes. Only changes are sent, so that two people do not undo each other's work. */
export const changeOf = (group: NotificationGroup, draft: Draft): Omit<NotificationGroupChange, 'id'> => {
  const before = draftOf(group)
  const notifications = group.notifications
    .filter(({ id, isEnabled }) => draft.on.includes(id) !== isEnabled)
    .map(({ id, isEnabled }) => ({ id, isEnabled: !isEnabled }))
  const [old, now] = [channelsOf(before), channelsOf(draft)]
  const channels = {
    email: changed(old.email, now.email),
    webhook: changed(old.webhook, now.webhook),
    syslog: changed(old.syslog, now.syslog),
  }
  const some = Object.fromEntries(Object.entries(channels).filter(([, members]) => Object.keys(members).length > 0))
  return {
    ...changed(membersOf(before), membersOf(draft)),
    ...(notifications.length === 0 ? {} : { notifications }),
    ...(Object.keys(some).length === 0 ? {} : { channels: some as ChannelsChange }),
  }
}

/** Returns the entered values of one channel for a test. */
export const testBodyOf = (draft: Draft, channel: Channel): ChannelsChange => ({
  [channel]: channelsOf(draft)[channel],
})

/** Returns the errors that the console finds without the server, by field. */
export const faultsOfDraft = (draft: Draft): Record<string, string> => {
  const faults: Record<string, string> = {}
  const recipients = recipientsFault(draft.email.recipients)
  if (recipients !== null) faults['channels.email.recipients'] = recipients
  const minutes = Number(draft.digestMinutes)
  if (draft.digestMinutes === '' || !Number.isInteger(minutes) || minutes < 0 || minutes > groupLimits.digestMinutes)
    faults.digestMinutes = strings.badMinutes({ max: groupLimits.digestMinutes })
  if (draft.isQuiet) {
    for (const end of ['from', 'to'] as const)
      if (!/^\d\d:\d\d$/.test(draft.quiet[end])) faults[`quietHours.${end}`] = strings.timeMissing
    if (draft.quiet.from === draft.quiet.to) faults['quietHours.to'] = strings.sameTime
  }
  return faults
}

/** Returns the server's message about a field as a sentence. */
const sentence = (message: string): string =>
  /^(must|is|are|holds|has|can|needs)\b/.test(message) ? strings.sentence({ message }) : message

/** Returns the errors that the server reported, by field; for a member of a list, with its position. */
export const faultsOfFailure = (failure: unknown): Record<string, string> => {
  if (!(failure instanceof CallFailure)) return {}
  // For a refused destination, the message contains the field.
  const [, named, fault] = /^body\.([\w.]+): (.+)$/s.exec(failure.message) ?? []
  if (failure.fields.length === 0 && named !== undefined && fault !== undefined) return { [named]: sentence(fault) }
  const faults: Record<string, string> = {}
  for (const { field, message } of failure.fields) {
    const fieldPath = field.startsWith('body.') ? field.slice('body.'.length) : ''
    const member = /\[(\d{1,9})\]|\.\d/.exec(fieldPath)
    const path = fieldPath.slice(0, member?.index)
    const index = member?.[1]
    if (path !== '')
      faults[path] ??= index === undefined ? sentence(message) : `${Number(index) + 1}: ${sentence(message)}`
  }
  return faults
}
