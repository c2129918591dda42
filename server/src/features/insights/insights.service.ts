import type { Clock } from '#platform/clock.ts'
import type { InsightsRead } from './insights.read.ts'
import { hostLimit, readSettings, settingNames } from './settings.ts'
import { createSingleFlight } from './single-flight.ts'

/** A host that was not seen for so long counts no more. */
const activeMs = 30 * 86_400_000

export type InsightsService = ReturnType<typeof createInsightsService>

/** What is out of the ordinary in the whole fleet, read from counters. */
export const createInsightsService = ({ read, clock }: { read: InsightsRead; clock: Clock }) => {
  const moment = async () => {
    const now = clock.now()
    const since = new Date(now - activeMs)
    return { computedAt: new Date(now).toISOString(), since, population: await read.population(since) }
  }

  const uncommon = createSingleFlight(clock, async () => {
    const [{ computedAt, since, population }, stored] = await Promise.all([moment(), read.settings(settingNames)])
    const settings = readSettings(stored)
    const insufficientPopulation = population < settings.minPopulation
    const { total, rows } = insufficientPopulation
      ? { total: 0, rows: [] }
      : await read.uncommon(since, hostLimit(settings, population), population)
    return { computedAt, population, insufficientPopulation, recordsTotal: total, data: rows }
  })

  const vulnerable = createSingleFlight(clock, async () => {
    const { computedAt, population } = await moment()
    const { total, rows } = await read.vulnerable(population)
    return { computedAt, population, insufficientPopulation: false, recordsTotal: total, data: rows }
  })

  return { uncommon, vulnerable }
}
