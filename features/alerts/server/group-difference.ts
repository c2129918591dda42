import { createHash } from 'node:crypto'
import type { GroupConfig } from './groups.ts'

const list = (off: readonly string[]): string => (off.length === 0 ? 'none' : off.join(', '))

/** Hides the path of the webhook address, which often holds a token: the audit trail shows only that it changed. */
const address = ({ channels: { webhook } }: GroupConfig): string => {
  const url = URL.parse(webhook.url)
  return url === null
    ? 'none'
    : `${url.origin}/… (${createHash('sha256').update(webhook.url).digest('hex').slice(0, 8)})`
}

/** Returns digests of the trusted certificates, enough to show that they changed. */
const certificates = ({ channels: { webhook, syslog } }: GroupConfig): string =>
  [webhook.ca, syslog.ca]
    .map((pem) => (pem === '' ? 'the system’s' : createHash('sha256').update(pem).digest('hex').slice(0, 12)))
    .join(' and ')

/** Describes the changes of a group; empty: none that people see. */
export const difference = (before: GroupConfig, after: GroupConfig): string =>
  [
    ['minimum severity', before.minimumSeverity, after.minimumSeverity],
    ['tags', list(before.hashtags), list(after.hashtags)],
    ['enabled', String(before.isEnabled), String(after.isEnabled)],
    ['switched off', list(before.off), list(after.off)],
    ['mail', String(before.channels.email.isEnabled), String(after.channels.email.isEnabled)],
    ['recipients', list(before.channels.email.recipients), list(after.channels.email.recipients)],
    ['webhook', String(before.channels.webhook.isEnabled), String(after.channels.webhook.isEnabled)],
    ['webhook address', address(before), address(after)],
    [
      'syslog',
      JSON.stringify({ ...before.channels.syslog, ca: '' }),
      JSON.stringify({ ...after.channels.syslog, ca: '' }),
    ],
    ['certificates', certificates(before), certificates(after)],
    ['digest minutes', String(before.digestMinutes), String(after.digestMinutes)],
    ['quiet hours', JSON.stringify(before.quietHours), JSON.stringify(after.quietHours)],
  ]
    .filter(([, from, to]) => from !== to)
    .map(([name, from, to]) => `${name}: ${from} → ${to}`)
    .join('; ')
    .slice(0, 3_000)
