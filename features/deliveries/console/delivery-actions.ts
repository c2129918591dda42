import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import type { QueryClient } from '@tanstack/react-query'
import { type Delivery, dropDeliveries, retryDeliveries } from '#features/contract.ts'
import { strings } from './strings.ts'

export const stuckKey = ['stuck-deliveries']

/** Maximum number of deliveries in one call. */
const most = 10_000

/** Returns whether a delivery can still be sent or dropped. */
export const isOpen = ({ state }: Pick<Delivery, 'state'>): boolean => state === 'waiting' || state === 'failed'

const rereadDeliveries = (queries: QueryClient): Promise<unknown> =>
  Promise.all([['rows'], ['delivery'], stuckKey].map((queryKey) => queries.invalidateQueries({ queryKey })))

/** Returns the actions for some deliveries, or for all that are stuck. */
export const useDeliveryActions = (onDone: () => void = () => undefined) => {
  const { api, queries } = useServices()
  const finish = async (message: string) => {
    tell(message)
    onDone()
    await rereadDeliveries(queries)
  }
  return {
    retry: (rows: readonly Delivery[] | null): void => {
      const ids = rows === null ? null : rows.filter(isOpen).map(({ id }) => id)
      void api
        .call(retryDeliveries, { body: { ids } })
        .then(({ accepted }) => finish(strings.sendingNow({ count: accepted })), tellFailure)
    },
    drop: (rows: readonly Delivery[] | null, stuck = 0): void => {
      const some = rows?.filter(isOpen) ?? null
      confirm({
        title: some === null ? strings.dropAll : strings.drop,
        names:
          some === null
            ? []
            : [...new Set(some.map(({ title, destination }) => strings.messageTo({ title, destination })))],
        count: some?.length ?? stuck,
        kind: strings.messageCount,
        consequence: strings.dropConsequence,
        action: strings.drop,
        run: async () => {
          let dropped = 0
          for (;;) {
            const { accepted } = await api.call(dropDeliveries, { body: { ids: some?.map(({ id }) => id) ?? null } })
            dropped += accepted
            // Dropped messages are no longer stuck, so the next call finds the rest.
            if (some !== null || accepted < most) break
          }
          await finish(strings.dropped({ count: dropped }))
        },
      })
    },
  }
}
