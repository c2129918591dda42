import { type Delivery, dropDeliveries, retryDeliveries } from '@portcullis/contract'
import type { QueryClient } from '@tanstack/react-query'
import { useServices } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { tell, tellFailure } from '../../ui/tell.ts'
import { strings } from './strings.ts'

export const stuckKey = ['stuck-deliveries']

/** As many as one call takes. */
const most = 10_000

/** Has not ended: it can be sent now, or dropped. */
export const isOpen = ({ state }: Pick<Delivery, 'state'>): boolean => state === 'waiting' || state === 'failed'

const counted = (n: number) => `${n.toLocaleString('en')} ${n === 1 ? 'message' : 'messages'}`

const rereadDeliveries = (queries: QueryClient): Promise<unknown> =>
  Promise.all([['rows'], ['delivery'], stuckKey].map((queryKey) => queries.invalidateQueries({ queryKey })))

/** Sends again, or drops, what waits or failed: some, or all that is stuck. */
export const useDeliveryActions = (onDone: () => void = () => undefined) => {
  const { api, queries } = useServices()
  const finish = async (said: string) => {
    tell(said)
    onDone()
    await rereadDeliveries(queries)
  }
  return {
    retry: (rows: readonly Delivery[] | null): void => {
      const ids = rows === null ? null : rows.filter(isOpen).map(({ id }) => id)
      void api
        .call(retryDeliveries, { body: { ids } })
        .then(({ accepted }) => finish(strings.acceptedBeingSentNow({ accepted: counted(accepted) })), tellFailure)
    },
    drop: (rows: readonly Delivery[] | null, stuck = 0): void => {
      const some = rows?.filter(isOpen) ?? null
      confirm({
        title: some === null ? strings.dropAllThatIsStuck : strings.dropMessages,
        names:
          some === null
            ? []
            : [...new Set(some.map(({ title, destination }) => strings.titleToDestination({ title, destination })))],
        count: some?.length ?? stuck,
        kind: ['message', 'messages'],
        consequence: strings.theyAreNeverSentAndWhoever,
        action: strings.drop2,
        run: async () => {
          let dropped = 0
          for (;;) {
            const { accepted } = await api.call(dropDeliveries, { body: { ids: some?.map(({ id }) => id) ?? null } })
            dropped += accepted
            // What was dropped is stuck no more: the next call finds the rest.
            if (some !== null || accepted < most) break
          }
          await finish(strings.droppedDropped({ dropped: counted(dropped) }))
        },
      })
    },
  }
}
