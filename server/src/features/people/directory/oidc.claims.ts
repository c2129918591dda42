import { userNameLimits } from '@portcullis/contract'
import { cleanText, isOddText } from '@portcullis/domain'
import type { ExternalPerson } from '#features/people/accounts/index.ts'
import type { OidcConfig } from './oidc.config.ts'

export type Claims = Readonly<Record<string, unknown>>

/** Returns a claim by its name, or by a path of names: `realm_access.roles`. */
export const claimOf = (claims: Claims, name: string): unknown => {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Claims)[part]
  }
  return value
}

const textOf = (claims: Claims, name: string, max: number): string => {
  const value = claimOf(claims, name)
  return typeof value === 'string' ? cleanText(value, max) : ''
}

/** Returns the user name. Null if the provider sent no usable one. */
const userNameOf = (claims: Claims, name: string): string | null => {
  const value = claimOf(claims, name)
  if (typeof value !== 'string' || value.trim() !== value || isOddText(value)) return null
  return value.length >= userNameLimits.min && value.length <= userNameLimits.max ? value : null
}

/** The person that claims describe. `profile` is null without a matching group, `userName` without a usable name. */
export interface ClaimedPerson
  extends Omit<ExternalPerson, 'profile' | 'userName' | 'issuer' | 'id' | 'authenticatedAt'> {
  userName: string | null
  profile: ExternalPerson['profile'] | null
}

export const personOf = (config: OidcConfig, claims: Claims): ClaimedPerson => {
  const given = [claimOf(claims, config.groupsClaim)].flat()
  const profile = config.groups.find(({ value }) => given.includes(value))?.profile ?? null
  return {
    source: 'OIDC',
    userName: userNameOf(claims, config.nameClaim),
    profile,
    firstName: textOf(claims, 'given_name', 100),
    lastName: textOf(claims, 'family_name', 100),
    email: textOf(claims, 'email', 254),
    phone: textOf(claims, 'phone_number', 50) || null,
  }
}
