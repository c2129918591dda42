import { cleanText, isOddText } from '@portcullis/domain'
import { userNameLimits } from '#features/contract.ts'
import type { ExternalPerson } from '../accounts/index.ts'
import type { OidcConfig } from './oidc.config.ts'
import type { OidcCause } from './oidc.fault.ts'

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

/** Why claims give no profile, for the log and the audit trail. */
export interface GroupsFault {
  kind: Extract<OidcCause, `groups-${string}`>
  message: string
  /** Whether the provider said that the person is in none of the groups. Otherwise the membership is unknown. */
  isLost: boolean
}

/** Characters that join several values into one string. */
const joins = /[;,|\s]/

/** Returns why no configured group is among the values of the groups claim. */
const groupsFaultOf = (claims: Claims, name: string, value: unknown): GroupsFault => {
  const unknown = (kind: GroupsFault['kind'], message: string): GroupsFault => ({ kind, message, isLost: false })
  if (value === undefined || value === null) {
    // Entra ID names the claims that it left out, or says so in one flag.
    const isOverage = claimOf(claims, '_claim_names') !== undefined || claimOf(claims, 'hasgroups') !== undefined
    return isOverage
      ? unknown(
          'groups-overage',
          `the provider left out the claim ${name} because the person is in too many groups. Configure it to send app roles, or only the groups assigned to this application`,
        )
      : unknown(
          'groups-missing',
          `the claim ${name} is missing. Configure the provider to add it to the ID token or to userinfo, or correct the name of the groups claim here`,
        )
  }
  if (typeof value === 'string') {
    const message = `the claim ${name} contains one string, which equals no configured group. If it joins several groups, configure the provider to send a list`
    return joins.test(value) || value === ''
      ? unknown('groups-joined', message)
      : { kind: 'groups-none', message, isLost: true }
  }
  if (!Array.isArray(value) || value.some((one) => typeof one !== 'string'))
    return unknown(
      'groups-unreadable',
      `the claim ${name} is not a list of strings. Configure the provider to send a list of strings`,
    )
  const count = value.length === 1 ? '1 value' : `${value.length} values`
  return {
    kind: 'groups-none',
    message: `the claim ${name} contains ${count}, and none is a configured group`,
    isLost: true,
  }
}

/** The person that claims describe. `profile` is null without a matching group, `userName` without a usable name. */
export interface ClaimedPerson
  extends Omit<ExternalPerson, 'profile' | 'userName' | 'issuer' | 'id' | 'authenticatedAt'> {
  userName: string | null
  profile: ExternalPerson['profile'] | null
  /** Set if `profile` is null. */
  fault: GroupsFault | null
}

export const personOf = (
  config: Pick<OidcConfig, 'groups' | 'groupsClaim' | 'nameClaim'>,
  claims: Claims,
): ClaimedPerson => {
  const value = claimOf(claims, config.groupsClaim)
  const given = [value].flat()
  const profile = config.groups.find((group) => given.includes(group.value))?.profile ?? null
  return {
    source: 'OIDC',
    userName: userNameOf(claims, config.nameClaim),
    profile,
    fault: profile === null ? groupsFaultOf(claims, config.groupsClaim, value) : null,
    firstName: textOf(claims, 'given_name', 100),
    lastName: textOf(claims, 'family_name', 100),
    email: textOf(claims, 'email', 254),
    phone: textOf(claims, 'phone_number', 50) || null,
  }
}
