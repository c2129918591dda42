import { agentLimits } from '#features/contract.ts'

/**
 * Maximum number of steps for one match of the most hostile text: 0.1 to 0.2 s of CPU time. `A.*B.*C` takes 6 million.
 */
const maxSteps = 32_000_000
const longest = agentLimits.string

/** For each position in a text, the number of paths by which a matcher can reach it. */
type Ways = Float64Array

/** A forbidden construct in a pattern; the message is returned to the client. */
class Fault extends Error {}

const both = (a: Ways, b: Ways): Ways => a.map((n, i) => n + (b[i] ?? 0))

/**
 * Counts the maximum steps of a backtracking matcher. It assumes a text in which every character matches everywhere
 * until the last step fails, and follows every path through alternatives and repetitions. The pattern must compile with
 * `RegExp`.
 */
const createStepCounter = (pattern: string) => {
  let at = 0
  let steps = 0

  function count(n: number): void {
    steps += n
    if (steps > maxSteps)
      throw new Fault(
        `can take more than ${maxSteps / 1_000_000} million steps on a text of ${longest} characters; use fewer repetitions and alternatives`,
      )
  }

  function step(ways: Ways): Ways {
    count(ways.reduce((total, n) => total + n, 0))
    return ways
  }

  /** Reads the repetition of the last element; without one, it occurs once. */
  function repetition(): { from: number; to: number } {
    const found = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/.exec(pattern.slice(at))
    if (found === null) return { from: 1, to: 1 }
    at += found[0].length
    const sign = found[0][0]
    if (sign !== '{') return { from: sign === '+' ? 1 : 0, to: sign === '?' ? 1 : Number.POSITIVE_INFINITY }
    const from = Number(found[1])
    return { from, to: found[2] === undefined ? from : found[3] === '' ? Number.POSITIVE_INFINITY : Number(found[3]) }
  }

  function repeated(ways: Ways): Ways {
    const { from, to } = repetition()
    /** Number of paths to a position or to any position before it. */
    const up = new Float64Array(ways.length + 1)
    for (const [i, n] of ways.entries()) {
      up[i + 1] = (up[i] ?? 0) + n
      count(n * Math.min(to, longest - i))
    }
    // The path to each position passed `from` to `to` characters earlier.
    return ways.map((_, i) => (up[Math.max(i - from + 1, 0)] ?? 0) - (up[Math.max(i - to, 0)] ?? 0))
  }

  function group(ways: Ways): Ways {
    const open = /^\((?:\?(?:<[^=!][^>]*>|[a-z-]*:|<?[=!]))?/.exec(pattern.slice(at))?.[0] ?? '('
    if (/[=!]$/.test(open)) throw new Fault('contains a lookaround; (?= (?! (?<= (?<! are not supported')
    at += open.length
    const inside = alternatives(ways)
    at++
    const { from, to } = repetition()
    if (to > 1) throw new Fault('repeats a group; only single characters and classes can be repeated')
    return step(to === 0 ? ways : from === 0 ? both(ways, inside) : inside)
  }

  function escaped(ways: Ways): Ways {
    const [text = ''] = /^\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|c[a-z]|.)/is.exec(pattern.slice(at)) ?? []
    if (/^\\[1-9k]/.test(text)) throw new Fault('contains a back reference; back references are not supported')
    at += text.length
    return /^\\b$/i.test(text) ? step(ways) : repeated(ways)
  }

  function one(ways: Ways): Ways {
    const c = pattern[at]
    if (c === '(') return group(ways)
    if (c === '\\') return escaped(ways)
    // A class ends at the first bracket that is not escaped; any other character matches itself.
    at += c === '[' ? (/^\[(?:\\.|[^\]\\])*\]/s.exec(pattern.slice(at))?.[0].length ?? 1) : 1
    if (c === '^') return step(ways.map((n, i) => (i === 0 ? n : 0)))
    return c === '$' ? step(ways) : repeated(ways)
  }

  function alternatives(ways: Ways): Ways {
    let out: Ways = new Float64Array(longest + 1)
    let now = step(ways)
    for (; at < pattern.length && pattern[at] !== ')'; ) {
      if (pattern[at] === '|') {
        out = both(out, now)
        now = step(ways)
        at++
      } else now = one(now)
    }
    return both(out, now)
  }

  return () => alternatives(new Float64Array(longest + 1).fill(1))
}

/**
 * Returns why a pattern cannot be used on texts that devices send; null: it can. The pattern must compile, without back
 * references, repeated groups and lookarounds. Its steps are bounded, so exponential patterns are refused, whether by
 * repetitions or by alternatives.
 */
export const patternFault = (pattern: string): string | null => {
  try {
    new RegExp(pattern, 'i')
  } catch (error) {
    return `is not a valid regular expression: ${(error as Error).message}`
  }
  try {
    createStepCounter(pattern)()
    return null
  } catch (error) {
    if (error instanceof Fault) return error.message
    throw error
  }
}
