import { invalid } from '@portcullis/platform/server/app-error.ts'
import { fold as foldCase } from '@portcullis/platform/server/list/columns.ts'
import { parseSyslogAddress } from '@portcullis/platform/server/syslog/index.ts'
import { maskedSecret, type NotificationGroupChange } from '#features/contract.ts'
import { certificatesOf } from '#features/settings/server/index.ts'
import type { GroupConfig, GroupDefinition } from './groups.ts'
import { isTimeZone } from './quiet-hours.ts'

/** Removes repetitions and keeps the first spelling. */
const unique = (values: readonly string[]): string[] =>
  [...new Map([...values].reverse().map((value) => [foldCase(value), value])).values()].reverse()

/** Masks the path and query of a webhook URL, because they often contain a token. */
export const maskedUrl = (text: string): string => {
  const url = URL.parse(text)
  if (url === null) return ''
  return url.pathname === '/' && url.search === '' ? text : `${url.origin}/${maskedSecret}`
}

type WebhookChange = NonNullable<NonNullable<NotificationGroupChange['channels']>['webhook']>

const isMasked = (text: string): boolean => {
  const url = URL.parse(text)
  return url?.pathname === `/${maskedSecret}` && url.search === ''
}

/** Returns the URL after a change. A masked URL means the stored one, if origin and certificates are unchanged. */
const urlAfter = (before: GroupConfig['channels']['webhook'], change: WebhookChange | undefined): string => {
  const url = change?.url ?? maskedUrl(before.url)
  if (!isMasked(url)) return url
  const field = 'body.channels.webhook.url'
  if (maskedUrl(url) !== maskedUrl(before.url))
    throw invalid(field, 'must be the full URL, because no URL of this host is stored')
  // Otherwise the stored path could go to a server that only the new certificates trust.
  if ((change?.ca ?? before.ca) !== before.ca)
    throw invalid(field, 'must be the full URL, because the trusted certificates change')
  return before.url
}

/** Merges a change into a group. Secrets stay as given. */
export const merged = (
  definition: GroupDefinition,
  before: GroupConfig,
  change: NotificationGroupChange,
): GroupConfig => {
  const known = new Set(definition.switches.map(({ id }) => id))
  const off = new Set(before.off)
  for (const [i, { id, isEnabled }] of (change.notifications ?? []).entries()) {
    if (!known.has(id))
      throw invalid(
        `body.notifications[${i}].id`,
        `is not a notification of this group. It has: ${[...known].join(', ')}`,
      )
    if (isEnabled) off.delete(id)
    else off.add(id)
  }
  return {
    minimumSeverity: change.minimumSeverity ?? before.minimumSeverity,
    hashtags: unique(change.hashtags ?? before.hashtags),
    isEnabled: change.isEnabled ?? before.isEnabled,
    off: [...off].sort(),
    channels: {
      email: { ...before.channels.email, ...change.channels?.email },
      webhook: {
        ...before.channels.webhook,
        ...change.channels?.webhook,
        url: urlAfter(before.channels.webhook, change.channels?.webhook),
      },
      syslog: { ...before.channels.syslog, ...change.channels?.syslog },
    },
    digestMinutes: change.digestMinutes ?? before.digestMinutes,
    quietHours: change.quietHours === undefined ? before.quietHours : change.quietHours,
  }
}

/** Parses and checks the address of a webhook. */
export const webhookUrl = (text: string): URL => {
  const url = URL.parse(text)
  const field = 'body.channels.webhook.url'
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw invalid(field, 'must start with https://')
  if (url.username !== '' || url.password !== '')
    throw invalid(field, 'must not contain a user name or password; put a token into its path or query')
  if (url.hash !== '') throw invalid(field, 'must not end with a fragment (#)')
  return url
}

const assertCertificates = (field: string, text: string): void => {
  if (text.trim() !== '' && certificatesOf(text).length === 0)
    throw invalid(field, 'does not contain a PEM certificate')
}

/** Checks the rules of a group beyond its schema. Each error names the member. */
export const assertGroup = (definition: GroupDefinition, { channels, hashtags, quietHours }: GroupConfig): void => {
  const { email, webhook, syslog } = channels
  if (definition.kind === 'SystemHealth' && hashtags.length > 0)
    throw invalid('body.hashtags', 'must be empty, because server health has no tags')
  for (const [i, tag] of hashtags.entries())
    if (/[,;#\p{Cc}]/u.test(tag))
      throw invalid(`body.hashtags[${i}]`, 'is not a tag: it contains a comma, semicolon, # or control character')
  if (email.isEnabled && !definition.channels.includes('email'))
    throw invalid(
      'body.channels.email.isEnabled',
      'must be false, because this group sends single events, which are not mailed',
    )
  if (email.isEnabled && email.recipients.length === 0)
    throw invalid('body.channels.email.recipients', 'must not be empty while mail is enabled')
  if (webhook.isEnabled || webhook.url !== '') webhookUrl(webhook.url)
  assertCertificates('body.channels.webhook.ca', webhook.ca)
  if ((syslog.isEnabled || syslog.address !== '') && parseSyslogAddress(syslog.address, syslog.protocol) === null)
    throw invalid('body.channels.syslog.address', 'must be a host, host:port or [IPv6]:port')
  assertCertificates('body.channels.syslog.ca', syslog.ca)
  if (quietHours !== null) {
    if (!isTimeZone(quietHours.timeZone))
      throw invalid('body.quietHours.timeZone', 'is not a known time zone; use an IANA name such as Europe/Berlin')
    if (quietHours.from === quietHours.to) throw invalid('body.quietHours.to', 'must differ from `from`')
  }
}

/** Removes repeated recipients. */
export const withRecipients = (config: GroupConfig): GroupConfig => ({
  ...config,
  channels: {
    ...config.channels,
    email: { ...config.channels.email, recipients: unique(config.channels.email.recipients) },
  },
})
