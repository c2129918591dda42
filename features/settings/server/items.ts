import { type ConfigGroup, type ConfigItem, configGroups } from '#features/contract.ts'

const items = new Map<string, ConfigItem>(
  Object.values<ConfigGroup>(configGroups).flatMap((group) => Object.entries(group.items)),
)

/** Names of all items, sorted. */
export const allItems: readonly string[] = [...items.keys()].sort()

/** Returns an item by name. Callers pass only names of the contract. */
export const itemOf = (name: string): ConfigItem => {
  const item = items.get(name)
  if (item === undefined) throw new Error(`config item ${name} does not exist`)
  return item
}

export const isSecret = (name: string): boolean => itemOf(name).kind === 'secret'
export const defaultOf = (name: string): string => itemOf(name).default
