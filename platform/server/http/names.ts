const at = (row: readonly number[], index: number): number => row[index] ?? 0

/** Returns the Levenshtein distance, for "did you mean". The cost is the product of the lengths, which are short. */
const distance = (a: string, b: string): number => {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++)
      current[j] = Math.min(
        at(previous, j) + 1,
        at(current, j - 1) + 1,
        at(previous, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
      )
    previous = current
  }
  return at(previous, b.length)
}

/** Returns the known name closest to an unknown one, or undefined if none is close enough to help. */
export const nearest = (name: string, known: Iterable<string>): string | undefined => {
  const wanted = name.slice(0, 64).toLowerCase()
  let best: string | undefined
  // A third of the letters may differ, and two letters of a short name.
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

/** Returns the message for an unknown name: the closest known one and all known ones. */
export const unknownName = (name: string, known: Iterable<string>, is = 'is unknown'): string => {
  const all = [...known]
  const near = nearest(name, all)
  const meant = near === undefined ? is : `${is}; did you mean ${near}?`
  return all.length === 0 ? is : `${meant}; known names: ${all.join(', ')}`
}

/** Returns the message for a value outside an enumeration: the closest one and all of them. */
export const unknownValue = (value: string, known: Iterable<string>, form = ''): string => {
  const all = [...known]
  const near = nearest(value, all)
  return `must be one of ${all.join(', ')}${form}${near === undefined ? '' : `; did you mean ${near}?`}`
}

/** Maps known names by their lower-case form. A Map, so that `constructor` is not a known name. */
export const foldedNames = (names: Iterable<string>): ReadonlyMap<string, string> =>
  new Map([...names].map((name) => [name.toLowerCase(), name]))

/** Returns whether a text has NUL or half of a surrogate pair, which PostgreSQL or UTF-8 cannot store. */
export const isBadText = (text: string): boolean => text.includes('\u0000') || !text.isWellFormed()
