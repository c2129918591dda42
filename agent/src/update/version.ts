/** Parses a semantic version (semver.org 2.0.0). Returns undefined if the text is not one. */
const parse = (text: string): { numbers: number[]; words: string[] } | undefined => {
  const match = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]{1,64}))?(?:\+[0-9A-Za-z.-]{1,64})?$/.exec(text)
  if (match === null) return undefined
  return { numbers: match.slice(1, 4).map(Number), words: match[4]?.split('.') ?? [] }
}

const compareWords = (a: string, b: string): number => {
  const [left, right] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (left && right) return Number(a) - Number(b)
  if (left !== right) return left ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

/** Returns whether a version is newer than another. Returns false if one of them is not a semantic version. */
export const isNewer = (candidate: string, than: string): boolean => {
  const a = parse(candidate)
  const b = parse(than)
  if (a === undefined || b === undefined) return false
  for (const [i, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[i] ?? 0)
    if (difference !== 0) return difference > 0
  }
  // A release is newer than its pre-releases.
  if (a.words.length === 0 || b.words.length === 0) return a.words.length === 0 && b.words.length > 0
  for (const [i, word] of a.words.entries()) {
    const other = b.words[i]
    if (other === undefined) return true
    const difference = compareWords(word, other)
    if (difference !== 0) return difference > 0
  }
  return false
}
