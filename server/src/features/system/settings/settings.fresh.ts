import { type ConfigGroupName, groupOfItem } from '@portcullis/contract'

/** Groups that decide who signs in, as what, and who receives set-password links. A second approver guards them. */
export const signInGroups = ['ldap', 'oidc', 'smtp', 'domain'] as const
export type SignInGroup = (typeof signInGroups)[number]

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
