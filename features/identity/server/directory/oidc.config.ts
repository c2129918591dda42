import type { ResolveDestination } from '@portcullis/platform/server/destinations.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import type { UserProfile } from '#features/contract.ts'
import { certificatesOf, type GroupValues } from '#features/settings/server/index.ts'

export interface OidcConfig {
  resolve: ResolveDestination
  isOn: boolean
  /** Label of the sign-in button. */
  name: string
  issuer: string
  clientId: string
  /** Decrypted only when needed. Null: a public client, protected by PKCE alone. */
  clientSecret: () => Secret | null
  /** Trusted PEM certificates; they replace those of the system. */
  ca: readonly string[]
  scope: string
  nameClaim: string
  groupsClaim: string
  /** Values of the groups claim that give a profile, highest profile first. */
  groups: readonly { profile: UserProfile; value: string }[]
}

export const oidcConfigOf = (values: GroupValues<'oidc'>, resolve: ResolveDestination): OidcConfig => ({
  resolve,
  isOn: values.flag('OIDC_ENABLED'),
  name: values.text('OIDC_NAME'),
  issuer: values.text('OIDC_ISSUER'),
  clientId: values.text('OIDC_CLIENT_ID'),
  clientSecret: () => values.secret('OIDC_CLIENT_SECRET'),
  ca: certificatesOf(values.text('OIDC_CA')),
  scope: [...new Set(['openid', ...values.text('OIDC_SCOPES').split(/\s+/)])].filter((one) => one !== '').join(' '),
  nameClaim: values.text('OIDC_USERNAME_CLAIM'),
  groupsClaim: values.text('OIDC_GROUPS_CLAIM'),
  groups: (
    [
      [10, 'OIDC_ADMINISTRATOR_GROUP'],
      [20, 'OIDC_MANAGER_GROUP'],
      [30, 'OIDC_USER_GROUP'],
    ] as const
  )
    .map(([profile, name]) => ({ profile, value: values.text(name) }))
    .filter(({ value }) => value !== ''),
})
