import { type ConfigChange, type ConfigGroupName, configGroups, groupOfItem } from '#features/contract.ts'

/** Groups that decide who signs in, as what, and who receives set-password links. A second approver guards them. */
export const signInGroups = ['ldap', 'oidc', 'smtp', 'domain'] as const
export type SignInGroup = (typeof signInGroups)[number]

/** Returns whether a change relaxes the requirement of a second factor: switches it off, or gives more time. */
const relaxesFactor = ({ name, from, to }: ConfigChange): boolean =>
  name === 'SECURITY_FACTOR_GRACE_DAYS'
    ? Number(to || graceDays) > Number(from || graceDays)
    : groupOfItem(name) === 'security' && from === 'true' && to !== 'true'
const graceDays = configGroups.security.items.SECURITY_FACTOR_GRACE_DAYS.default

/** Returns whether a change needs a second approver because it decides who can sign in, or how. */
export const isSignInChange = (change: ConfigChange): boolean =>
  signInGroups.some((group) => groupOfItem(change.name) === group) || relaxesFactor(change)

const freshGroups: ReadonlySet<ConfigGroupName> = new Set([...signInGroups, 'security', 'backup'])

/** 0 switches the second approver off, so it counts as the highest limit. */
const hostsOf = (text: string): number => (Number(text) === 0 ? Number.POSITIVE_INFINITY : Number(text))

/** For items of other groups that guard something: returns whether a change weakens the guard. */
const weakens: Readonly<Record<string, (before: string, after: string) => boolean>> = {
  VENDORA_WINDOWS_ENFORCEMENT: (before, after) => before !== 'true' && after === 'true',
  VENDORA_TWO_PERSON_LIMIT: (before, after) => hostsOf(after) > hostsOf(before),
}

/** Returns whether a change of an item needs fresh authentication. */
export const needsFresh = (name: string, before: string, after: string): boolean => {
  const group = groupOfItem(name)
  return (group !== undefined && freshGroups.has(group)) || weakens[name]?.(before, after) === true
}
