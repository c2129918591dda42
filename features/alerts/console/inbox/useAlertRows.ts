import { reconcile } from '@portcullis/platform/console/lib/reconcile.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { Line } from '../shared/line.ts'
import { alertsKey } from '../shared/useAlerts.ts'

/** Rows that are read first, and that each "more" adds. */
const step = 100

const idOf = ({ id }: Line) => String(id)

export interface RowsRead {
  /** Identity of the list with its filters; a new one starts from the beginning. */
  key: string
  /** Reads the first `size` rows. */
  read: (size: number, signal: AbortSignal) => Promise<Line[]>
  /** No pointer or cursor is on the list, so changes apply at once. */
  calm: boolean
}

/**
 * Reads the first rows of a list of alerts, and all of them again after a change. Separate pages would drift apart,
 * because each new alert moves the others down. Visible rows change their values, not their position.
 */
export const useAlertRows = ({ key, read, calm }: RowsRead) => {
  const { queries } = useServices()
  const [more, setMore] = useState<{ key: string; size: number }>({ key, size: step })
  const size = more.key === key ? more.size : step
  const name = `${key} ${size}`
  const queryKey = useMemo(() => [alertsKey, 'rows', name], [name])
  const newest = useQuery({
    queryKey,
    // One more row than shown reveals whether there are more.
    queryFn: async ({ signal }) => ({ name, lines: await read(size + 1, signal) }),
    placeholderData: (before) => before,
  })
  const [shown, setShown] = useState<{ name: string; lines: Line[] } | null>(null)
  const latest = newest.data
  useEffect(() => {
    if (latest === undefined) return
    setShown((old) =>
      old === null || old.name !== latest.name || calm
        ? latest
        : { ...latest, lines: reconcile(old.lines, latest.lines, idOf).rows },
    )
  }, [latest, calm])
  const waiting =
    shown === null || latest === undefined || shown.name !== latest.name
      ? null
      : reconcile(shown.lines, latest.lines, idOf)

  return {
    /** Undefined before the first answer. */
    rows: shown?.lines.slice(0, size),
    /** Rows of the previous list are shown until the new list arrives. */
    isStale: shown !== null && shown.name !== name,
    pending:
      waiting === null || (waiting.arrived === 0 && waiting.moved === 0)
        ? null
        : { arrived: waiting.arrived, moved: waiting.moved },
    apply: useCallback(() => setShown(latest ?? null), [latest]),
    hasMore: (shown?.lines.length ?? 0) > size,
    showMore: useCallback(() => setMore({ key, size: size + step }), [key, size]),
    failure: newest.error,
    retry: () => void newest.refetch(),
    /** Removes rows that the user has just closed or snoozed, without waiting for the server. */
    drop: (ids: ReadonlySet<number>) => {
      const without = <T extends { lines: Line[] } | null | undefined>(old: T): T =>
        old ? { ...old, lines: old.lines.filter(({ id }) => !ids.has(id)) } : old
      queries.setQueryData(queryKey, without<typeof latest>)
      setShown(without<typeof shown>)
    },
  }
}
