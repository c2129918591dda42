import type { ReactNode } from 'react'

/** A column of a list, as data. */
export interface Column<Row> {
  /** Name in the URL. */
  id: string
  title: string
  /** Initial width in px. */
  width: number
  /** Takes the remaining width. */
  grow?: boolean
  /** Key of `SortBy`. Without it, the column is not sortable. */
  sortKey?: string
  /** Direction of the first click. */
  naturalSort?: 'asc' | 'desc'
  /** For numbers. */
  align?: 'right'
  /** Export keys of the cell content. Default: the sort key. */
  exportKeys?: readonly string[]
  /** The cell has its own link. Otherwise the first column of a row links to its page. */
  hasLink?: true
  /** Title of the card that a phone shows for a row. Default: the first column. */
  isTitle?: true
  cell: (row: Row) => ReactNode
}

/** One page of a list response. */
export interface ListPage<Row> {
  recordsTotal: number
  recordsFiltered: number
  data: Row[]
}

/** Source of the rows of a table. */
export interface RowSource<Row> {
  /** Identity of the list with its filters and sorting. */
  key: readonly unknown[]
  idOf: (row: Row) => string
  load: (page: number, size: number, signal?: AbortSignal) => Promise<ListPage<Row>>
}

/** Returns the export keys of the shown columns without duplicates. */
export const exportKeysOf = <Row>(columns: readonly Column<Row>[], shown: readonly string[]): string[] => [
  ...new Set(
    columns
      .filter(({ id }) => shown.includes(id))
      .flatMap(({ exportKeys, sortKey }) => exportKeys ?? (sortKey === undefined ? [] : [sortKey])),
  ),
]
