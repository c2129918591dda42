const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/**
 * Merges two changes of the same values: what only the other person changed is theirs, everything else is mine. `groups`
 * are fields that only make sense together.
 */
export const merged = <T extends object>(
  base: T,
  theirs: T,
  mine: T,
  groups: readonly (readonly (keyof T)[])[] = [],
): T => {
  const grouped = new Set(groups.flat())
  const single = (Object.keys(mine) as (keyof T)[]).filter((key) => !grouped.has(key)).map((key) => [key])
  const result = { ...mine }
  for (const keys of [...groups, ...single])
    if (keys.every((key) => isSame(mine[key], base[key]))) for (const key of keys) result[key] = theirs[key]
  return result
}
