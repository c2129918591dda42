import type { Context } from '@portcullis/platform/server/context.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { utcDay } from '@portcullis/platform/server/time.ts'
import type { AgentsApi } from '#features/agents/server/index.ts'
import { type FleetDay, getTrends } from '#features/contract.ts'
import type { DevicesApi } from '#features/devices/server/index.ts'
import { createTrendsStore } from './trends.store.ts'

const dayMs = 86_400_000
const defaultDays = 30

/** Creates the trends: what the numbers of the overview were on past days. */
export const overviewFeature = (
  app: HttpApp,
  { db, clock, agents, peripherals }: Context & { agents: AgentsApi; peripherals: DevicesApi },
) => {
  const store = createTrendsStore()

  async function today(): Promise<FleetDay> {
    const [summary, openFindings] = await Promise.all([agents.summary({}), peripherals.openFindings()])
    const { total, connected, protection, knownAttackTools, vulnerable, unapproved, computedAt } = summary
    return {
      day: computedAt.slice(0, 10),
      recordedAt: computedAt,
      hosts: total,
      connected,
      ...protection,
      attackTools: knownAttackTools,
      vulnerable,
      unapproved,
      openFindings,
    }
  }

  app.register(getTrends, async ({ query: { days = defaultDays } }) => {
    const from = utcDay(clock.now() - (days - 1) * dayMs)
    const [past, current, newModels] = await Promise.all([store.days(db, from), today(), store.newModels(db, from)])
    return { data: [...past.filter(({ day }) => day < current.day), current], newModels }
  })

  return {
    /** Records the current numbers for today. Runs every 5 minutes on each replica, so the last run of a day counts. */
    note: async (): Promise<void> => store.note(db, await today()),
  }
}
