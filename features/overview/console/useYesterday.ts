import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { type agentsClassificationSummary, type FleetDay, getTrends, type ResponseOf } from '#features/contract.ts'
import { lastDays } from './trends.ts'

/** Returns the numbers of the tiles by the names that past days use. */
export const numbersOf = (summary: ResponseOf<typeof agentsClassificationSummary>) => ({
  connected: summary.connected,
  protected: summary.protection.protected,
  attackTools: summary.knownAttackTools,
  vulnerable: summary.vulnerable,
  unapproved: summary.unapproved,
})

/** Returns the last numbers that the server recorded yesterday (UTC). Undefined if it did not run then. */
export const useYesterday = (): FleetDay | undefined => {
  const { clock } = useServices()
  const [day] = lastDays(clock.now(), 2)
  const trends = useRead(['overview', 'trends', 2, day], getTrends, { query: { days: 2 } })
  return trends.data?.data.find((one) => one.day === day)
}
