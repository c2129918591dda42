import { type ConnectionStatus, connectionDetailsStatus } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useEffectEvent } from 'react'
import { reconcile } from '../../lib/reconcile.ts'
import { useServices } from '../../lib/services.tsx'
import type { ListPage, RowSource } from '../../ui/table/column.ts'
import { windowSize } from '../../ui/table/useRows.ts'
import { strings } from './strings.ts'
import { useWorker } from './useWorker.ts'

// A poll takes a second or so: while one runs or is due its step is worth seeing, else only the next start.
const whileRunning = 2_000
const whileIdle = 8_000

/**
 * Keeps the shown rows fresh while computers are polled: no live topic tells of a step. Values change in place; what
 * came, went or would stand elsewhere waits while the pointer is on the list.
 */
export const useFreshRows = (source: RowSource<ConnectionStatus>, list: RefObject<HTMLElement | null>): void => {
  const { api, queries } = useServices()
  const worker = useWorker().data
  const isDue = worker?.adminStatus === 'Activated' && worker.due > 0
  const running = useQuery({
    queryKey: ['connections-running'],
    queryFn: async ({ signal }) =>
      (await api.call(connectionDetailsStatus, { query: { StatusString: strings.running, PageSize: 1 }, signal }))
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
          if (!isSame && list.current?.matches(':hover') !== true) queries.setQueryData(query.queryKey, next)
          else if (laid.changed.length > 0) queries.setQueryData(query.queryKey, { ...before, data: laid.rows })
        },
        // The banner of the frame says when the server is away.
        () => undefined,
      )
    }
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: each answer is the sign to read the rows again
  useEffect(() => reread(), [running.dataUpdatedAt])
}
