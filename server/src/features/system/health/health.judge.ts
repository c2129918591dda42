import type { HealthStatus } from '@portcullis/contract'

/** What one look at a part of the product saw. */
export interface Look {
  status: HealthStatus
  description: string
  /** Milliseconds since 1970. */
  at: number
}

/** A part became otherwise. */
export interface Turn {
  status: HealthStatus
  /** When the first of the looks was that told. */
  at: number
  description: string
}

/** Looks in a row that make a change. */
const inARow = 2
/** One that is worse in half of the last looks is worse, though never twice in a row. */
const worseOf = { looks: 6, worse: 3 } as const
/** Most looks in order that are wanted of one that got worse again and again: ten minutes. */
const mostGood = 40
const hourMs = 3_600_000

const rank: Record<HealthStatus, number> = { Unknown: 0, OK: 0, Warning: 1, Error: 2 }

/**
 * Turns looks into changes, of one part. Worse counts after two looks in a row, or three of six; better after two, and
 * after twice as many for each time it got worse within the hour: what comes and goes makes one change, or a few, and
 * stays what it mostly is.
 */
export const createJudge = () => {
  let looks: Look[] = []
  let worsened: number[] = []

  function turn(chosen: readonly Look[], status: HealthStatus): Turn {
    looks = []
    const seen = chosen.findLast((look) => look.status === status) as Look
    return { status, at: (chosen[0] as Look).at, description: seen.description }
  }
  const byRank = (chosen: readonly Look[]): HealthStatus[] =>
    chosen.map(({ status }) => status).sort((a, b) => rank[a] - rank[b])

  return (current: HealthStatus, look: Look): Turn | null => {
    looks = [...looks, look].slice(-mostGood)
    const now = rank[current]
    const last = looks.slice(-inARow)
    const recent = looks.slice(-worseOf.looks).filter(({ status }) => rank[status] > now)
    const isWorse = last.length === inARow && last.every(({ status }) => rank[status] > now)
    if (isWorse || recent.length >= worseOf.worse) {
      worsened = [...worsened.filter((at) => look.at - at < hourMs), look.at]
      const chosen = isWorse ? last : recent
      return turn(chosen, byRank(chosen)[0] as HealthStatus)
    }
    worsened = worsened.filter((at) => look.at - at < hourMs)
    const wanted = Math.min(mostGood, inARow * 2 ** Math.max(0, worsened.length - 1))
    const good = looks.slice(-wanted)
    if (good.length === wanted && good.every(({ status }) => rank[status] < now))
      return turn(good, byRank(good).at(-1) as HealthStatus)
    // In use, or not in use any more: neither better nor worse.
    if (last.length === inARow && now === 0 && last.every(({ status }) => rank[status] === 0 && status !== current))
      return turn(last, look.status)
    return null
  }
}
