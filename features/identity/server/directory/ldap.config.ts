import type { ResolveDestination } from '@portcullis/platform/server/destinations.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import type { UserProfile } from '#features/contract.ts'
import { certificatesOf, type GroupValues } from '#features/settings/server/index.ts'
import type { LdapSecurity } from './ldap.socket.ts'

export interface LdapConfig {
  resolve: ResolveDestination
  isOn: boolean
  /** Up to three addresses, tried in order. */
  urls: readonly string[]
  security: LdapSecurity
  /** Trusted PEM certificates; they replace those of the system. */
  ca: readonly string[]
  /** Empty: searches are anonymous. */
  bindDn: string
  /** Decrypted only when needed. Null if it is not set. */
  bindPassword: () => Secret | null
  baseDn: string
  /** Empty: the name attribute must equal the name. */
  userFilter: string
  nameAttribute: string
  groupAttribute: string
  /** Configured groups that give a profile, highest profile first. */
  groups: readonly { profile: UserProfile; dn: string }[]
}

export const ldapConfigOf = (values: GroupValues<'ldap'>, resolve: ResolveDestination): LdapConfig => ({
  resolve,
  isOn: values.flag('LDAP_ENABLED'),
  urls: values
    .text('LDAP_URL')
    .split(/\s+/)
    .filter((url) => url !== ''),
  security: values.text('LDAP_SECURITY') as LdapSecurity,
  ca: certificatesOf(values.text('LDAP_CA')),
  bindDn: values.text('LDAP_BIND_DN'),
  bindPassword: () => values.secret('LDAP_BIND_PASSWORD'),
  baseDn: values.text('LDAP_BASE_DN'),
  userFilter: values.text('LDAP_USER_FILTER'),
  nameAttribute: values.text('LDAP_USERNAME_ATTRIBUTE'),
  groupAttribute: values.text('LDAP_GROUP_ATTRIBUTE'),
  groups: (
    [
      [10, 'LDAP_ADMINISTRATOR_GROUP'],
      [20, 'LDAP_MANAGER_GROUP'],
      [30, 'LDAP_USER_GROUP'],
    ] as const
  )
    .map(([profile, name]) => ({ profile, dn: values.text(name) }))
    .filter(({ dn }) => dn !== ''),
})
