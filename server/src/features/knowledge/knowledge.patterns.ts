/** Repetitions without an end that one pattern may have. Two over a text of 255 characters are some 3 million steps. */
const mostEndless = 2
/** A repetition up to so many counts as one with an end. */
const shortRepeat = 8

/**
 * What keeps a pattern from being used on texts that devices send; null when nothing does. It has to compile, and what
 * makes matching take exponential time is refused by its form: repeated groups, back references, looking around.
 */
export const patternFault = (pattern: string): string | null => {
  try {
    new RegExp(pattern, 'i')
  } catch (error) {
    return `is no regular expression: ${(error as Error).message}`
  }
  let endless = 0
  let inClass = false
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i]
    if (c === '\\') {
      i++
      if (/[1-9k]/.test(pattern[i] ?? '')) return 'refers back to a group; back references are not taken'
    } else if (inClass) inClass = c !== ']'
    else if (c === '[') inClass = true
    else if (c === '(' && /^\?(?:[=!]|<[=!])/.test(pattern.slice(i + 1)))
      return 'looks around; (?= (?! (?<= (?<! are not taken'
    else if (c === '*' || c === '+' || c === '{') {
      const braces = c === '{' ? /^\{\d+(?:(,)(\d*))?\}/.exec(pattern.slice(i)) : null
      if (c === '{' && braces === null) continue
      if (pattern[i - 1] === ')' && pattern[i - 2] !== '\\')
        return 'repeats a group; only single characters and classes are repeated'
      const most = braces === null ? Number.POSITIVE_INFINITY : repeatOf(braces[0])
      if (most > shortRepeat) endless++
      if (braces !== null) i += braces[0].length - 1
    }
  }
  return endless > mostEndless ? `has ${endless} long repetitions, ${mostEndless} are taken` : null
}

const repeatOf = (braces: string): number => {
  const [from = '0', to] = braces.slice(1, -1).split(',')
  if (to === undefined) return Number(from)
  return to === '' ? Number.POSITIVE_INFINITY : Number(to)
}
