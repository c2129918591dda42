/** Levenshtein distance, for "did you mean". Inputs are short names; cost is the product of their lengths. */
const distance = (a: string, b: string): number => {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++)
      current[j] = Math.min(
        (previous[j] as number) + 1,
        (current[j - 1] as number) + 1,
        (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1),
      )
    previous = current
  }
  return previous[b.length] as number
}

/** The known name nearest to an unknown one; undefined: none is near, and a guess would only puzzle. */
const nearest = (name: string, known: Iterable<string>): string | undefined => {
  const wanted = name.slice(0, 64).toLowerCase()
  let best: string | undefined
  // A third of it may be wrong, and two letters of a short one.
  let least = Math.max(2, Math.ceil(wanted.length / 3)) + 1
  for (const candidate of known) {
    const d = distance(wanted, candidate.toLowerCase())
    if (d < least) {
      least = d
      best = candidate
    }
  }
  return best
}

/** The message about an unknown name: the closest known one, and all that are known. */
export const unknownName = (name: string, known: Iterable<string>, is = 'is unknown'): string => {
  const all = [...known]
  const near = nearest(name, all)
  const meant = near === undefined ? is : `${is}; did you mean ${near}?`
  return all.length === 0 ? is : `${meant}; known are ${all.join(', ')}`
}

/** The message about a value that an enumeration does not have: the closest one, and all that it has. */
export const unknownValue = (value: string, known: Iterable<string>, form = ''): string => {
  const all = [...known]
  const near = nearest(value, all)
  return `must be one of ${all.join(', ')}${form}${near === undefined ? '' : `; did you mean ${near}?`}`
}

/** Known names by their lower-case form. A Map, so that `constructor` is no name. */
export const foldedNames = (names: Iterable<string>): ReadonlyMap<string, string> =>
  new Map([...names].map((name) => [name.toLowerCase(), name]))

/** NUL or half of a surrogate pair: what PostgreSQL or UTF-8 cannot hold. */
export const isBadText = (text: string): boolean => text.includes('\u0000') || !text.isWellFormed()
