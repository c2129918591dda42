/**
 * Computes the visual order of a line of mixed directions with Unicode's bidirectional algorithm. The line has no
 * formatting characters, because visible-text.ts replaces them with their names.
 */

const rightToLeft =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u
const digit = /\p{Nd}/u
const letter = /\p{L}/u

export const hasRightToLeft = (text: string): boolean => rightToLeft.test(text)

type Class = 'L' | 'R' | 'D' | 'N'

const classOf = (character: string): Class => {
  // Digits before scripts, because Arabic digits run to the right too.
  if (digit.test(character)) return 'D'
  if (rightToLeft.test(character)) return 'R'
  return letter.test(character) ? 'L' : 'N'
}

/**
 * Returns the direction of a neighbour. The text's edges and letters to the right count as L; so do digits among them.
 */
const sideOf = (neighbour: Class | undefined): 'L' | 'R' => (neighbour === undefined || neighbour === 'L' ? 'L' : 'R')

/**
 * Returns the level of each character: even runs to the right, odd to the left. A cell as a whole runs to the right,
 * like its table, whatever its first letter.
 */
export const levelsOf = (characters: readonly string[]): number[] => {
  let strong: Class = 'L'
  const resolved = characters.map((character): Class => {
    const own = classOf(character)
    if (own === 'L' || own === 'R') strong = own
    return own === 'D' && strong === 'L' ? 'L' : own
  })
  for (let from = 0; from < resolved.length; from++) {
    if (resolved[from] !== 'N') continue
    let to = from
    while (resolved[to] === 'N') to++
    resolved.fill(sideOf(resolved[from - 1]) === 'R' && sideOf(resolved[to]) === 'R' ? 'R' : 'L', from, to)
    from = to
  }
  const level = { L: 0, R: 1, D: 2, N: 0 }
  return resolved.map((c) => level[c])
}

/** Orders runs from left to right, as they are drawn. */
export const visualRuns = <T extends { level: number }>(runs: readonly T[]): T[] => {
  const order = [...runs]
  const highest = Math.max(0, ...runs.map((run) => run.level))
  for (let level = highest; level >= 1; level--)
    for (let from = 0; from < order.length; from++) {
      if ((order[from] as T).level < level) continue
      let to = from
      while (to < order.length && (order[to] as T).level >= level) to++
      order.splice(from, to - from, ...order.slice(from, to).reverse())
      from = to
    }
  return order
}

const mirrored: Readonly<Record<string, string>> = {
  '(': ')',
  ')': '(',
  '[': ']',
  ']': '[',
  '{': '}',
  '}': '{',
  '<': '>',
  '>': '<',
  '«': '»',
  '»': '«',
}

/** Returns the character to draw in a run to the left. */
export const mirror = (character: string): string => mirrored[character] ?? character
