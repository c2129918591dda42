import type { ReactNode } from 'react'
import { readableEvent } from '../../../contract/event-text.ts'
import {
  columnsOf,
  filtersOf,
  type ListColumn,
  type ListDefinition,
  type ListFilter,
  type TableColumn,
} from '../../../contract/list.ts'
import { translated } from '../../lib/messages.ts'
import type { ViewSpec } from '../../lib/view-state.ts'
import { DeviceText } from '../DeviceText.tsx'
import type { Filter } from '../filters/filter.ts'
import { TagList } from '../TagList.tsx'
import { Time } from '../Time.tsx'
import type { Column } from '../table/column.ts'
import { pageWords as strings } from '../words.ts'

/** The table and filters of a list page. */
export interface ListTable<Row> {
  view: ViewSpec
  filters: readonly Filter[]
  columns: readonly Column<Row>[]
}

const isNumber = ({ schema, form }: ListColumn): boolean =>
  form === 'plain' && ['integer', 'number'].includes((schema as { type?: string }).type ?? '')
const isTime = ({ form }: ListColumn): boolean => form === 'time' || form === 'zoneless'

const cellOf = (column: ListColumn, value: unknown, show: TableColumn['show']): ReactNode => {
  const text = value === null || value === undefined ? '' : String(value)
  if (show === 'code') return <code>{text}</code>
  if (show !== undefined) return <Time value={text} form={show} />
  switch (column.form) {
    case 'time':
    case 'zoneless':
      return <Time value={text} />
    case 'truth':
      return value === true ? strings.yes : strings.no
    case 'code':
      return translated(column.labels[text] ?? text)
    case 'tags':
      return <TagList oneLine tags={text} />
    case 'eventText':
    case 'timedText':
      return <DeviceText value={readableEvent(text)} />
    default:
      return isNumber(column) ? Number(value).toLocaleString('en') : <DeviceText value={text} />
  }
}

const translatedAll = (labels: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(labels).map(([value, label]) => [value, translated(label)]))

/** The filters that a range picker edits, with the other end of their period. */
const rangesOf = (filters: readonly ListFilter[]): Record<string, string | null> =>
  Object.fromEntries(
    filters
      .filter(({ kind, period }) => kind === 'time' || period !== undefined)
      .map(({ name, period }) => [name, period?.until ?? null]),
  )

/**
 * Returns the table and filters of a list from its definition. `cells` renders the columns, by id, that show more than
 * their value.
 */
export const listTable = <Row extends object>(
  list: ListDefinition & { table: NonNullable<ListDefinition['table']> },
  cells: Readonly<Record<string, (row: Row) => ReactNode>> = {},
): ListTable<Row> => {
  const keys = columnsOf(list.row)
  const known = new Map(filtersOf(list).map((filter) => [filter.name, filter]))
  const { defaultSort, filters, columns } = list.table
  const tableColumn = (given: TableColumn): Column<Row> => {
    const { id, of = id, width, grow, title, sort = of, hasLink, isTitle, show } = given
    const { exports = of in keys ? [of] : [] } = given
    const key = keys[of]
    const isOrdered = key !== undefined && (isTime(key) || isNumber(key))
    const { first = isOrdered ? 'desc' : 'asc', align = isOrdered ? 'right' : 'left' } = given
    const isSortable = sort !== null && sort in keys && list.unsorted?.includes(sort) !== true
    return {
      id,
      title: translated(title ?? key?.label ?? id),
      width,
      ...(grow === true ? { grow } : {}),
      ...(isSortable ? { sortKey: sort } : {}),
      ...(isSortable && first === 'desc' ? { naturalSort: first } : {}),
      ...(align === 'right' ? { align } : {}),
      exportKeys: exports,
      ...(hasLink === true ? { hasLink } : {}),
      ...(isTitle === true ? { isTitle } : {}),
      cell:
        cells[id] ?? ((row) => (key === undefined ? null : cellOf(key, (row as Record<string, unknown>)[of], show))),
    }
  }
  return {
    view: {
      filters: filters.flatMap((name) => [name, known.get(name)?.period?.until ?? []].flat()),
      ranges: rangesOf(filters.flatMap((name) => known.get(name) ?? [])),
      defaultSort,
      columns: columns.map(({ id }) => id),
      defaultColumns: columns.filter(({ shown }) => shown === true).map(({ id }) => id),
    },
    filters: filters.map((name) => {
      const filter = known.get(name) as ListFilter
      return {
        ...filter,
        label: translated(filter.period?.label ?? filter.label),
        labels: translatedAll(filter.labels),
      }
    }),
    columns: columns.map(tableColumn),
  }
}
