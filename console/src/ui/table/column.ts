import type { ReactNode } from 'react'

/** A column of a list, as data. */
export interface Column<Row> {
  /** Name in the address and in the column chooser's order. */
  id: string
  title: string
  /** Pixels at first; the reader may drag it. */
  width: number
  /** Takes what is left of the width. */
  grow?: boolean
  /** Key of `SortBy`; a column without one does not sort. */
  sortKey?: string
  /** Direction of the first click. */
  naturalSort?: 'asc' | 'desc'
  /** Numbers stand on the right. */
  align?: 'right'
  /** Keys of the export that hold what the cell shows; the sort key when absent. */
  exportKeys?: readonly string[]
  cell: (row: Row) => ReactNode
}

/** One page of a list as the interface answers it. */
export interface ListPage<Row> {
  recordsTotal: number
  recordsFiltered: number
  data: Row[]
}

/** Where a table gets its rows. */
export interface RowSource<Row> {
  /** Identity of the list with its filters and sort; another key is another list. */
  key: readonly unknown[]
  idOf: (row: Row) => string
  load: (page: number, size: number, signal?: AbortSignal) => Promise<ListPage<Row>>
}

/** Keys of an export for the shown columns, each once. */
export const exportKeysOf = <Row>(columns: readonly Column<Row>[], shown: readonly string[]): string[] => [
  ...new Set(
    columns
      .filter(({ id }) => shown.includes(id))
      .flatMap(({ exportKeys, sortKey }) => exportKeys ?? (sortKey === undefined ? [] : [sortKey])),
  ),
]
