/** Limits for uncommon devices. Each can be set as a config item; an invalid value counts as not set. */
const items = {
  maxHosts: { name: 'VENDORA_UNCOMMON_MAX_HOSTS', value: 3, from: 1, to: 1_000 },
  /** Share of the active hosts, 0 to 1. */
  maxShare: { name: 'VENDORA_UNCOMMON_MAX_SHARE', value: 0.01, from: 0, to: 1 },
  minPopulation: { name: 'VENDORA_UNCOMMON_MIN_POPULATION', value: 20, from: 1, to: 1_000_000 },
} as const

export type UncommonSettings = Record<keyof typeof items, number>

export const settingNames: readonly string[] = Object.values(items).map((item) => item.name)

/** Returns the settings in force; a value out of range counts as not set. */
export const readSettings = (stored: ReadonlyMap<string, string>): UncommonSettings => {
  function inForce(key: keyof typeof items): number {
    const { name, value, from, to } = items[key]
    const text = stored.get(name)?.trim() ?? ''
    const set = Number(text)
    return text !== '' && set >= from && set <= to ? set : value
  }
  return { maxHosts: inForce('maxHosts'), maxShare: inForce('maxShare'), minPopulation: inForce('minPopulation') }
}

/**
 * Returns the maximum number of hosts with an uncommon device. One host always qualifies: 1 % of fewer than a hundred
 * hosts is less than one. Otherwise nothing would be uncommon in the smallest fleets that the minimum population
 * admits.
 */
export const hostLimit = ({ maxHosts, maxShare }: UncommonSettings, population: number): number =>
  Math.max(1, Math.min(maxHosts, Math.floor(maxShare * population + 1e-9)))
