import { agentLimits } from '@portcullis/contract'

/** Steps that one match of the most hostile text may take: 0.1 to 0.2 s of a processor. `A.*B.*C` takes 6 million. */
const mostSteps = 32_000_000
/** Texts have so many characters at most. */
const longest = agentLimits.string

/** For each place in a text, in how many ways a matcher can have come there. */
type Ways = Float64Array

/** What a pattern cannot have; its text is the answer. */
class Fault extends Error {}

const both = (a: Ways, b: Ways): Ways => a.map((n, i) => n + (b[i] ?? 0))

/**
 * Counts what a backtracking matcher does at most, on a text of which every character fits everywhere until the last step
 * fails: from each place, every way through the alternatives and repetitions. It reads what `RegExp` has taken already.
 */
const createWalk = (pattern: string) => {
  let at = 0
  let steps = 0

  function count(n: number): void {
    steps += n
    if (steps > mostSteps)
      throw new Fault(
        `can take more than ${mostSteps / 1_000_000} million steps on a text of ${longest} characters; repeat and choose less often`,
      )
  }

  function step(ways: Ways): Ways {
    count(ways.reduce((total, n) => total + n, 0))
    return ways
  }

  /** How often what was just read comes: once, unless a repetition stands here. */
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
    /** In how many ways one came to a place or to one before it. */
    const up = new Float64Array(ways.length + 1)
    for (const [i, n] of ways.entries()) {
      up[i + 1] = (up[i] ?? 0) + n
      count(n * Math.min(to, longest - i))
    }
    // Who stands at a place now was from `from` to `to` characters before it.
    return ways.map((_, i) => (up[Math.max(i - from + 1, 0)] ?? 0) - (up[Math.max(i - to, 0)] ?? 0))
  }

  function group(ways: Ways): Ways {
    const open = /^\((?:\?(?:<[^=!][^>]*>|[a-z-]*:|<?[=!]))?/.exec(pattern.slice(at))?.[0] ?? '('
    if (/[=!]$/.test(open)) throw new Fault('looks around; (?= (?! (?<= (?<! are not taken')
    at += open.length
    const inside = alternatives(ways)
    at++
    const { from, to } = repetition()
    if (to > 1) throw new Fault('repeats a group; only single characters and classes are repeated')
    return step(to === 0 ? ways : from === 0 ? both(ways, inside) : inside)
  }

  function escaped(ways: Ways): Ways {
    const [text = ''] = /^\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|c[a-z]|.)/is.exec(pattern.slice(at)) ?? []
    if (/^\\[1-9k]/.test(text)) throw new Fault('refers back to a group; back references are not taken')
    at += text.length
    return /^\\b$/i.test(text) ? step(ways) : repeated(ways)
  }

  function one(ways: Ways): Ways {
    const c = pattern[at]
    if (c === '(') return group(ways)
    if (c === '\\') return escaped(ways)
    // A class ends at the first bracket that is not escaped; any other character stands for itself.
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
 * What keeps a pattern from being used on texts that devices send; null when nothing does. It has to compile, without
 * back references, repeated groups and looking around, and its steps are bounded: what takes exponential time, by
 * repetitions or by alternatives, however they follow each other, has too many.
 */
export const patternFault = (pattern: string): string | null => {
  try {
    new RegExp(pattern, 'i')
  } catch (error) {
    return `is no regular expression: ${(error as Error).message}`
  }
  try {
    createWalk(pattern)()
    return null
  } catch (error) {
    if (error instanceof Fault) return error.message
    throw error
  }
}
