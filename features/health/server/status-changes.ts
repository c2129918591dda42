import { mustExist } from '@portcullis/domain'
import type { HealthStatus } from '#features/contract.ts'

/** Result of one probe of a subsystem. */
export interface Observation {
  status: HealthStatus
  description: string
  /** Milliseconds since 1970. */
  at: number
}

/** A change of a subsystem's status. */
export interface StatusChange {
  status: HealthStatus
  /** Time of the first observation of the new status. */
  at: number
  description: string
}

/** Consecutive observations that make a change. */
const inARow = 2
/** A subsystem that is worse in half of the last observations is worse, even if never twice in a row. */
const worseOf = { observations: 6, worse: 3 } as const
/** Most consecutive good observations required after repeated changes: ten minutes. */
const maxGood = 40
const hourMs = 3_600_000

const rank: Record<HealthStatus, number> = { Unknown: 0, OK: 0, Warning: 1, Error: 2 }

/**
 * Turns the observations of one subsystem into changes. It gets worse after two in a row, or three of six. It gets
 * better after two, and after twice as many for each time it got worse within the hour. A flapping subsystem therefore
 * makes few changes, and keeps its usual status.
 */
export const createStatusChanges = () => {
  let observations: Observation[] = []
  let worsened: number[] = []

  function changeTo(status: HealthStatus, chosen: readonly Observation[]): StatusChange {
    observations = []
    const { description } = mustExist(
      chosen.findLast((one) => one.status === status),
      'an observation',
    )
    return { status, at: mustExist(chosen[0], 'an observation').at, description }
  }
  const byRank = (chosen: readonly Observation[]): HealthStatus[] =>
    chosen.map(({ status }) => status).sort((a, b) => rank[a] - rank[b])

  return (current: HealthStatus, observation: Observation): StatusChange | null => {
    observations = [...observations, observation].slice(-maxGood)
    const now = rank[current]
    const last = observations.slice(-inARow)
    const recent = observations.slice(-worseOf.observations).filter(({ status }) => rank[status] > now)
    const isWorse = last.length === inARow && last.every(({ status }) => rank[status] > now)
    if (isWorse || recent.length >= worseOf.worse) {
      worsened = [...worsened.filter((at) => observation.at - at < hourMs), observation.at]
      const chosen = isWorse ? last : recent
      return changeTo(mustExist(byRank(chosen)[0], 'a status'), chosen)
    }
    worsened = worsened.filter((at) => observation.at - at < hourMs)
    const wanted = Math.min(maxGood, inARow * 2 ** Math.max(0, worsened.length - 1))
    const good = observations.slice(-wanted)
    if (good.length === wanted && good.every(({ status }) => rank[status] < now))
      return changeTo(mustExist(byRank(good).at(-1), 'a status'), good)
    // Newly configured, or no longer configured: neither better nor worse.
    if (last.length === inARow && now === 0 && last.every(({ status }) => rank[status] === 0 && status !== current))
      return changeTo(observation.status, last)
    return null
  }
}
