import { reconcile } from '@portcullis/platform/console/lib/reconcile.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import type { ListPage, RowSource } from '@portcullis/platform/console/ui/table/column.ts'
import { windowSize } from '@portcullis/platform/console/ui/table/useRows.ts'
import { useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useEffectEvent } from 'react'
import { type ConnectionStatus, connectionDetailsStatus } from '#features/contract.ts'
import { useWorker } from './useWorker.ts'

// A poll takes about a second: while one runs or is due, its steps are worth showing.
const whileRunning = 2_000
const whileIdle = 8_000

/**
 * Refreshes the shown rows while hosts are polled, because no live topic reports the steps. Values change in place;
 * new, removed and moved rows wait while the pointer is on the list or rows are selected.
 */
export const useFreshRows = (
  source: RowSource<ConnectionStatus>,
  list: RefObject<HTMLElement | null>,
  isFrozen: boolean,
): void => {
  const { api, queries } = useServices()
  const worker = useWorker().data
  const isDue = worker?.adminStatus === 'Activated' && worker.due > 0
  const running = useQuery({
    queryKey: ['connections-running'],
    queryFn: async ({ signal }) =>
      (await api.call(connectionDetailsStatus, { query: { StatusString: 'Running', PageSize: 1 }, signal }))
        .recordsFiltered,
    refetchInterval: (query) => (isDue || (query.state.data ?? 0) > 0 ? whileRunning : whileIdle),
  })
  const reread = useEffectEvent(() => {
    const { key, idOf, load } = source
    const shown = queries.getQueryCache().findAll({ queryKey: ['rows', JSON.stringify(key)], type: 'active' })
    for (const query of shown) {
      const page = Number(query.queryKey[3])
      void load(page + 1, windowSize).then(
        (next) => {
          const before = queries.getQueryData<ListPage<ConnectionStatus>>(query.queryKey)
          if (before === undefined) return
          const laid = reconcile(before.data, next.data, idOf)
          const isSame = laid.arrived === 0 && laid.moved === 0
          if (!isSame && !isFrozen && list.current?.matches(':hover') !== true)
            queries.setQueryData(query.queryKey, next)
          else if (laid.changed.length > 0) queries.setQueryData(query.queryKey, { ...before, data: laid.rows })
        },
        // The banner of the frame reports a server that does not respond.
        () => undefined,
      )
    }
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: each response is the signal to read the rows again
  useEffect(() => reread(), [running.dataUpdatedAt])
}
