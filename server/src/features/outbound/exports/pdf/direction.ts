/**
 * The order in which a line of mixed directions is drawn: the part of Unicode's bidirectional algorithm that is left when
 * no formatting characters are (visible-text.ts names them instead of obeying them).
 */

const rightToLeft =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u
const digit = /\p{Nd}/u
const letter = /\p{L}/u

export const hasRightToLeft = (text: string): boolean => rightToLeft.test(text)

type Class = 'L' | 'R' | 'D' | 'N'

const classOf = (character: string): Class => {
  // Digits before scripts: those of Arabic run to the right, too.
  if (digit.test(character)) return 'D'
  if (rightToLeft.test(character)) return 'R'
  return letter.test(character) ? 'L' : 'N'
}

/** The side of a neighbour: outside the text and letters run to the right; digits among letters to the left count as these. */
const sideOf = (neighbour: Class | undefined): 'L' | 'R' => (neighbour === undefined || neighbour === 'L' ? 'L' : 'R')

/**
 * Level of each character: even runs to the right, odd to the left. A cell itself runs to the right, like the table it
 * stands in, whatever letter it begins with.
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

/** Runs of one level, from left to right as they are drawn. */
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

/** The character that is drawn for it in a run to the left. */
export const mirror = (character: string): string => mirrored[character] ?? character
