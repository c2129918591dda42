import type { ReactNode } from 'react'
import type { LiveTopic } from '../../lib/live.ts'
import { FilterBar } from '../filters/FilterBar.tsx'
import { MoreMenu } from '../MoreMenu.tsx'
import { ColumnsMenu } from '../table/ColumnsMenu.tsx'
import { exportKeysOf } from '../table/column.ts'
import { DataTable } from '../table/DataTable.tsx'
import { ListFrame } from '../table/ListFrame.tsx'
import type { Selection } from '../table/useSelection.ts'
import type { ListTable } from './list-table.tsx'
import type { List } from './useList.ts'

/** The rows that a list shows now. */
export interface ListedRows {
  /** The query of the list: filters, search, sort. */
  query: Readonly<Record<string, string>>
  /** Keys of the shown columns, in order. */
  columns: readonly string[]
  /** Number of rows that match the filters. */
  rows: number | null
}

export interface ListPageProps<Row> {
  title: string
  /** Name of the rows, for screen readers. */
  label: string
  list: List<Row>
  table: Pick<ListTable<Row>, 'columns' | 'filters'>
  searchPlaceholder: string
  /** Live topics that reload the rows on the screen. */
  topics: readonly LiveTopic[]
  /** Address of a row's full page. */
  hrefOf: (row: Row) => string
  /** Opens the full page instead of a drawer. */
  opensPage?: boolean
  /** Shown if the list has no rows. */
  empty: ReactNode
  /** Shown if no rows match the filters: where else to look. */
  noMatch?: ReactNode
  /** Actions at the right of the title. */
  actions?: ReactNode
  /** Content above the filters. */
  above?: ReactNode
  /** The menu that exports the rows of the list. */
  exports?: (rows: ListedRows) => ReactNode
  /** Tools next to the columns, instead of `exports`. */
  tools?: ReactNode
  /** Further items of the menu. */
  more?: ReactNode
  selection?: Selection<Row> | undefined
  /** The selection bar. */
  bar?: ReactNode
  /** The drawer of the open row. */
  drawer?: ReactNode
  /** Wraps the table. */
  wrap?: (table: ReactNode) => ReactNode
}

/** The page of a list: title with counts, filters, columns, exports, table, selection bar, and drawer. */
export const ListPage = <Row,>(props: ListPageProps<Row>) => {
  const { list, exports, selection, wrap = (table) => table } = props
  const { columns, filters } = props.table
  const { view, counts } = list
  const rows = counts?.filtered ?? null
  return (
    <ListFrame
      title={props.title}
      counts={counts}
      actions={props.actions}
      filters={
        <>
          {props.above}
          <FilterBar view={view} filters={filters} searchPlaceholder={props.searchPlaceholder} check={list.check}>
            <ColumnsMenu columns={columns} view={view} />
            {exports?.({ query: list.query, columns: exportKeysOf(columns, view.state.columns), rows })}
            {props.tools}
            <MoreMenu curl={list.curl}>{props.more}</MoreMenu>
          </FilterBar>
        </>
      }
      table={wrap(
        <DataTable
          label={props.label}
          columns={columns}
          source={list.source}
          view={view}
          topics={props.topics}
          hrefOf={props.hrefOf}
          opensPage={props.opensPage ?? false}
          {...(selection === undefined ? {} : { selection })}
          empty={props.empty}
          noMatch={props.noMatch}
          onCounts={list.setCounts}
        />,
      )}
      drawer={props.drawer}
      selection={props.bar}
    />
  )
}
