import { type ConfigGroupName, groupOfItem } from '@portcullis/contract'

/** Groups that decide who signs in, as what, and who receives set-password links. A second approver guards them. */
export const signInGroups = ['ldap', 'oidc', 'smtp', 'domain'] as const
export type SignInGroup = (typeof signInGroups)[number]

const freshGroups: ReadonlySet<ConfigGroupName> = new Set([...signInGroups, 'security'])

/** 0 switches the second approver off: no limit is higher. */
const hostsOf = (text: string): number => (Number(text) === 0 ? Number.POSITIVE_INFINITY : Number(text))

/** Items of other groups that guard something, and whether a change from one text to another weakens that guard. */
const weakens: Readonly<Record<string, (before: string, after: string) => boolean>> = {
  VENDORA_TWO_PERSON_LIMIT: (before, after) => hostsOf(after) > hostsOf(before),
}

/** Whether changing an item from one value in force to another needs fresh authentication. */
export const needsFresh = (name: string, before: string, after: string): boolean => {
  const group = groupOfItem(name)
  return (group !== undefined && freshGroups.has(group)) || weakens[name]?.(before, after) === true
}
