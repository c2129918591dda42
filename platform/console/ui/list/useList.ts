import { useMemo, useState } from 'react'
import type { AnyOperation } from '../../../contract/operation.ts'
import { curlOf } from '../../lib/curl.ts'
import { listQueryOf } from '../../lib/list-query.ts'
import { listSource, type RowOf } from '../../lib/list-source.ts'
import { useServices } from '../../lib/services.tsx'
import type { ViewSpec } from '../../lib/view-state.ts'
import type { RowSource } from '../table/column.ts'
import { type ListRoute, useView, type View } from '../useView.ts'

/** Number of rows that a copied curl command requests. */
const copiedRows = 100

/** A list with its query and counts, from the state in the URL. */
export interface List<Row> {
  view: View
  /** The query: filters, search, and sort order. */
  query: Record<string, string>
  source: RowSource<Row>
  /** Null until the first response. */
  counts: { total: number; filtered: number } | null
  setCounts: (counts: { total: number; filtered: number }) => void
  /** Checks a query on the server, together with the filters. Rejects if the server refuses it. */
  check: (text: string) => Promise<unknown>
  /** The request as a shell command. */
  curl: () => string
}

const nothing = {}

/** Reads a list by the state in the address of its route. `idOf` must keep its identity. */
export const useList = <O extends AnyOperation>(
  route: ListRoute,
  spec: ViewSpec,
  operation: O,
  idOf: (row: RowOf<O>) => string,
  /** Query that the page always sends. */
  fixed: Readonly<Record<string, string>> = nothing,
): List<RowOf<O>> => {
  const { api, clock } = useServices()
  const view = useView(route, spec)
  const [counts, setCounts] = useState<{ total: number; filtered: number } | null>(null)
  const { filters, search, query: condition, sort } = view.state
  const query = useMemo(
    () => ({ ...listQueryOf({ filters, search, query: condition, sort }, spec, clock.now()), ...fixed }),
    [clock, filters, search, condition, sort, spec, fixed],
  )
  const source = useMemo(() => listSource(api, operation, query, idOf), [api, operation, query, idOf])
  const check = (text: string) => listSource(api, operation, { ...query, Query: text }, idOf).load(1, 1)
  const curl = () => curlOf<AnyOperation>(operation, { query: { ...query, PageSize: copiedRows } })
  return { view, query, source, counts, setCounts, check, curl }
}
