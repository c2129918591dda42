import { isZone } from '@portcullis/platform/server/wall-clock.ts'
import type { ConfigGroupName } from '#features/contract.ts'

/** A fault that involves several items of a group. */
export interface WholeFault {
  name: string
  message: string
}

/** Values of a group after a change, with defaults. For secrets, only whether they are set. */
export interface WholeGroup {
  text(name: string): string
  isSet(name: string): boolean
}

const needs = (group: WholeGroup, what: string, names: readonly string[]): WholeFault[] =>
  names.filter((name) => group.text(name) === '').map((name) => ({ name, message: `is required ${what}` }))

const isLocal = (url: string): boolean => /^ldaps?:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?\/?$/.test(url)

const checks: Readonly<Partial<Record<ConfigGroupName, (group: WholeGroup) => WholeFault[]>>> = {
  smtp: (group) => [
    ...(group.text('SMTP_HOST') === '' ? [] : needs(group, 'to send mail', ['SMTP_FROM'])),
    ...(group.text('SMTP_SECURITY') === 'none' && (group.isSet('SMTP_PASSWORD') || group.text('SMTP_USER') !== '')
      ? [
          {
            name: 'SMTP_SECURITY',
            message: 'must not be none with a user or password, which would be sent in clear text',
          },
        ]
      : []),
  ],
  ldap: (group) => {
    const urls = group
      .text('LDAP_URL')
      .split(/\s+/)
      .filter((url) => url !== '')
    const security = group.text('LDAP_SECURITY')
    const faults: WholeFault[] = []
    if (urls.some((url) => url.startsWith('ldaps:') !== (security === 'tls')))
      faults.push({ name: 'LDAP_SECURITY', message: 'must be tls with ldaps:// addresses, and only with them' })
    if (security === 'none' && !urls.every(isLocal))
      faults.push({ name: 'LDAP_SECURITY', message: 'must not be none, because passwords would be sent in clear text' })
    if (group.text('LDAP_ENABLED') !== 'true') return faults
    faults.push(...needs(group, 'for directory sign-in', ['LDAP_URL', 'LDAP_BASE_DN']))
    if (group.text('LDAP_BIND_DN') !== '' && !group.isSet('LDAP_BIND_PASSWORD'))
      faults.push({
        name: 'LDAP_BIND_PASSWORD',
        message: 'is required with a bind DN, because a bind without a password is anonymous',
      })
    if (['ADMINISTRATOR', 'MANAGER', 'USER'].every((name) => group.text(`LDAP_${name}_GROUP`) === ''))
      faults.push({
        name: 'LDAP_USER_GROUP',
        message: 'is required unless another group is set, otherwise nobody can sign in',
      })
    return faults
  },
  oidc: (group) => {
    if (group.text('OIDC_ENABLED') !== 'true') return []
    const faults = needs(group, 'for sign-in with the provider', ['OIDC_ISSUER', 'OIDC_CLIENT_ID'])
    if (['ADMINISTRATOR', 'MANAGER', 'USER'].every((name) => group.text(`OIDC_${name}_GROUP`) === ''))
      faults.push({
        name: 'OIDC_USER_GROUP',
        message: 'is required unless another group is set, otherwise nobody can sign in',
      })
    return faults
  },
  ise: (group) =>
    group.text('ISE_ENABLED') === 'true'
      ? [
          ...needs(group, 'to use Cisco ISE', ['ISE_URL', 'ISE_USER', 'ISE_ANC_POLICY']),
          ...(group.isSet('ISE_PASSWORD') ? [] : [{ name: 'ISE_PASSWORD', message: 'is required to use Cisco ISE' }]),
        ]
      : [],
  cact: (group) =>
    group.text('CACT_ENABLED') === 'true'
      ? [
          ...needs(group, 'to use CounterACT', ['CACT_URL', 'CACT_USER', 'CACT_DEX_ACCOUNT']),
          ...['CACT_PASSWORD', 'CACT_DEX_PASSWORD']
            .filter((name) => !group.isSet(name))
            .map((name) => ({ name, message: 'is required to use CounterACT' })),
        ]
      : [],
  backup: (group) => [
    ...(/^(?:[01]\d|2[0-3]):[0-5]\d$/.test(group.text('BACKUP_TIME'))
      ? []
      : [{ name: 'BACKUP_TIME', message: 'is not a time of day such as 02:15' }]),
    ...(isZone(group.text('BACKUP_TIME_ZONE'))
      ? []
      : [{ name: 'BACKUP_TIME_ZONE', message: 'is not an IANA time zone such as Europe/Berlin or UTC' }]),
  ],
  health: (group) => {
    const number = (name: string): number => Number(group.text(`VENDORA_HEALTH_${name}`))
    const below = (warning: string, error: string): WholeFault[] =>
      number(warning) > number(error)
        ? [{ name: `VENDORA_HEALTH_${warning}`, message: `must not be above VENDORA_HEALTH_${error}` }]
        : []
    return [
      ...below('DATABASE_WARNING_MS', 'DATABASE_ERROR_MS'),
      ...below('DISK_ERROR_PERCENT', 'DISK_WARNING_PERCENT'),
      ...below('QUEUE_WARNING', 'QUEUE_ERROR'),
      ...below('CLOCK_WARNING_SECONDS', 'CLOCK_ERROR_SECONDS'),
      ...below('BACKUP_WARNING_DAYS', 'BACKUP_ERROR_DAYS'),
    ]
  },
}

/** Returns the faults that involve several items of a group. */
export const wholeFaults = (name: ConfigGroupName, group: WholeGroup): WholeFault[] => checks[name]?.(group) ?? []
