import { type QueryClient, useQueries } from '@tanstack/react-query'
import { useCallback, useEffect, useEffectEvent, useRef, useState } from 'react'
import type { LiveTopic } from '../../lib/live.ts'
import { reconcile } from '../../lib/reconcile.ts'
import { useServices } from '../../lib/services.tsx'
import { useLatest } from '../useLatest.ts'
import { useLiveRefresh } from '../useLive.ts'
import type { ListPage, RowSource } from './column.ts'

/** Rows of one request while scrolling. */
export const windowSize = 100

// No requests during fast scrolling. A pause of 60 ms is not noticeable.
const restTime = 60
// The server can report changes every second; more frequent reads would show nothing new.
const refreshGap = 1_500
// How long a changed row stays highlighted.
const markTime = 4_000

export interface Pending {
  /** New rows. */
  arrived: number
  /** Rows that disappeared or moved. */
  moved: number
}

const useSettled = <T>(value: T, text: string): T => {
  const [settled, setSettled] = useState(value)
  const settle = useEffectEvent(() => setSettled(value))
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is the identity of the value
  useEffect(() => {
    const timer = setTimeout(() => settle(), restTime)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/** The list on the screen and its counts. */
interface Shown {
  list: string
  epoch: number
  total: number
  filtered: number
}

const isSame = (one: Shown, other: Shown | null): boolean =>
  one.list === other?.list && one.epoch === other.epoch && one.total === other.total && one.filtered === other.filtered

const pagesOf = (range: { first: number; last: number }): number[] => {
  const from = Math.floor(range.first / windowSize)
  const to = Math.floor(Math.max(range.first, range.last) / windowSize)
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

/** Rows that changed recently. */
const useMarked = () => {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set())
  const mark = useCallback((changed: readonly string[]) => {
    setMarked((old) => new Set([...old, ...changed]))
    setTimeout(() => setMarked((old) => new Set([...old].filter((id) => !changed.includes(id)))), markTime)
  }, [])
  return { marked, mark }
}

/** Updates values in the shown pages. Returns the changed rows and the numbers of new and moved rows. */
const mergePages = <Row>(
  client: QueryClient,
  pages: readonly (readonly [page: number, next: ListPage<Row>])[],
  keyOf: (page: number) => readonly unknown[],
  idOf: RowSource<Row>['idOf'],
) => {
  const changed: string[] = []
  let arrived = 0
  let moved = 0
  for (const [page, next] of pages) {
    const before = client.getQueryData<ListPage<Row>>(keyOf(page))
    if (before === undefined) continue
    const laid = reconcile(before.data, next.data, idOf)
    changed.push(...laid.changed)
    moved += laid.moved
    arrived = Math.max(arrived, laid.arrived, next.recordsFiltered - before.recordsFiltered)
    client.setQueryData(keyOf(page), { ...before, data: laid.rows })
  }
  return { changed, arrived, moved }
}

/** Returns the list on the screen. The old list stays, dimmed, until the first response of the new list. */
const useShown = (answered: ListPage<unknown> | undefined, list: string, epoch: number): Shown | null => {
  const [shown, setShown] = useState<Shown | null>(null)
  const current =
    answered === undefined ? shown : { list, epoch, total: answered.recordsTotal, filtered: answered.recordsFiltered }
  if (current !== null && !isSame(current, shown)) setShown(current)
  return current
}

// Pages with a kept order must outlive scrolling away from them, because a new read has another order.
const keepTime = 60_000
const frozenTime = 30 * 60_000

/** Reads the visible pages. `lay` puts a page that is read again over the shown one. */
const usePages = <Row>(
  source: RowSource<Row>,
  wanted: readonly number[],
  keyOf: (page: number) => readonly unknown[],
  isFrozen: boolean,
  lay: (key: readonly unknown[], next: ListPage<Row>) => ListPage<Row>,
) =>
  useQueries({
    queries: wanted.map((page) => ({
      queryKey: keyOf(page),
      queryFn: async ({ queryKey, signal }: { queryKey: readonly unknown[]; signal: AbortSignal }) =>
        lay(queryKey, await source.load(page + 1, windowSize, signal)),
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: isFrozen ? frozenTime : keepTime,
      retry: false,
    })),
  })

/**
 * Reads the rows of a long list around the viewport, in pages. Live updates change values in place. New and moved rows
 * wait for `apply`, unless `calm` is true because no pointer or cursor is on the table. While `isFrozen`, rows also stay
 * in place if an action reads them again.
 */
export const useRows = <Row>(
  source: RowSource<Row>,
  range: { first: number; last: number },
  topics: readonly LiveTopic[],
  { calm, isFrozen }: { calm: boolean; isFrozen: boolean },
) => {
  const { queries: client } = useServices()
  const [epoch, setEpoch] = useState(0)
  const [pending, setPending] = useState<Pending | null>(null)
  const { marked, mark } = useMarked()
  const key = JSON.stringify(source.key)
  const keyOf = (page: number, of = epoch, list = key) => ['rows', list, of, page] as const
  const settled = useSettled(pagesOf(range), `${key}:${pagesOf(range).join()}`)
  const wanted = settled.length > 0 ? settled : [0]

  const frozen = useLatest(isFrozen)
  const lay = useCallback(
    (pageKey: readonly unknown[], next: ListPage<Row>): ListPage<Row> => {
      const before = client.getQueryData<ListPage<Row>>(pageKey)
      if (!frozen.current || before === undefined) return next
      const { rows, arrived, moved } = reconcile(before.data, next.data, source.idOf)
      if (arrived > 0 || moved > 0) setPending({ arrived, moved })
      return { ...before, data: rows }
    },
    [client, frozen, source],
  )
  const results = usePages(source, wanted, (page) => keyOf(page), isFrozen, lay)
  const answered = results.find((result) => result.data !== undefined)?.data
  const failed = results.find((result) => result.error !== null)

  const current = useShown(answered, key, epoch)
  const rowAt = (index: number): Row | undefined =>
    current === null
      ? undefined
      : client.getQueryData<ListPage<Row>>(keyOf(Math.floor(index / windowSize), current.epoch, current.list))?.data[
          index % windowSize
        ]

  /** Reads the rows from one index to another in the order of the screen, including those that are not loaded yet. */
  const between = async (low: number, high: number): Promise<Row[]> => {
    const shown = pagesOf({ first: low, last: high })
    const pages = await Promise.all(
      shown.map((page) =>
        client.ensureQueryData({
          queryKey: keyOf(page, current?.epoch, current?.list),
          queryFn: ({ signal }) => source.load(page + 1, windowSize, signal),
          retry: false,
        }),
      ),
    )
    const from = (shown[0] ?? 0) * windowSize
    return pages.flatMap(({ data }) => data).slice(low - from, high - from + 1)
  }

  const fresh = useRef<Map<number, ListPage<Row>>>(new Map())
  const apply = useCallback(() => {
    for (const [page, data] of fresh.current) client.setQueryData(['rows', key, epoch + 1, page], data)
    fresh.current = new Map()
    setPending(null)
    setEpoch(epoch + 1)
  }, [client, key, epoch])

  const state = useLatest({ wanted, source, calm, key, epoch, apply })

  const refresh = useCallback(async () => {
    const { wanted, source, key, epoch } = state.current
    const pages = await Promise.all(
      wanted.map(async (page) => [page, await source.load(page + 1, windowSize)] as const),
    )
    // The list changed in the meantime: discard the response.
    if (state.current.key !== key || state.current.epoch !== epoch) return
    fresh.current = new Map(pages)
    const { changed, arrived, moved } = mergePages(client, pages, (page) => ['rows', key, epoch, page], source.idOf)
    if (changed.length > 0) mark(changed)
    if (arrived === 0 && moved === 0) setPending(null)
    else if (state.current.calm) state.current.apply()
    else setPending({ arrived: Math.max(0, arrived), moved })
  }, [client, state, mark])

  // A failed refresh shows no error here: the banner says how old the data is.
  useLiveRefresh(topics, refreshGap, () => void refresh().catch(() => undefined))

  // Show pending rows when the pointer has left.
  useEffect(() => {
    if (calm && pending !== null) apply()
  }, [calm, pending, apply])

  return {
    rowAt,
    between,
    total: current?.total ?? null,
    filtered: current?.filtered ?? null,
    /** No data yet: show the skeleton. */
    isFirst: current === null && failed === undefined,
    /** Rows of the previous list are shown until the new list loads. */
    isStale: current !== null && (current.list !== key || current.epoch !== epoch),
    failure: failed?.error ?? null,
    retry: () => results.forEach((result) => void (result.error !== null && result.refetch())),
    pending,
    apply,
    marked,
  }
}
