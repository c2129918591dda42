/** The search part of an address in the router: one text per name. */
export type Search = Readonly<Record<string, string | undefined>>

/** The possible state of a list in its address. */
export interface ViewSpec {
  /** Names of the filters in the API. */
  filters: readonly string[]
  /** The filters that can be a range relative to now, with the filter of the other end if there are two. */
  ranges?: Readonly<Record<string, string | null>>
  defaultSort: string
  /** Columns that are shown if the address names none. */
  defaultColumns: readonly string[]
  /** All columns. Absent: the list has a fixed form. */
  columns?: readonly string[]
}

/** The state of a list. All of it is in the URL, so that a copied link shows the same. */
export interface ViewState {
  filters: Record<string, string>
  search: string
  /** Condition with AND, OR and NOT. */
  query: string
  /** `key_asc` or `key_desc`. */
  sort: string
  columns: readonly string[]
  /** Id of the row that is open in the drawer. */
  open: string | null
  /** Open tab of the drawer or page. */
  tab: string | null
}

/** Reads the state from an address. Unknown names are never sent to the server, and `writeView` keeps them. */
export const readView = (search: Search, spec: ViewSpec): ViewState => {
  const filters: Record<string, string> = {}
  // Filter names match in any case, as in the API: a typed address never shows all rows by accident.
  const anyCase = new Map(Object.entries(search).map(([name, value]) => [name.toLowerCase(), value]))
  for (const name of spec.filters) {
    const value = search[name] ?? anyCase.get(name.toLowerCase())
    if (value !== undefined && value !== '') filters[name] = value
  }
  return {
    filters,
    // Links of the API use another name for the search.
    search: search.q ?? search.globalSearch ?? '',
    query: anyCase.get('query') ?? '',
    sort: search.sort ?? spec.defaultSort,
    columns: search.cols === undefined ? spec.defaultColumns : search.cols.split(',').filter((id) => id !== ''),
    open: search.open ?? null,
    tab: search.tab ?? null,
  }
}

/** A change of the state; null removes a filter. */
export interface ViewChange {
  filters?: Record<string, string | null>
  search?: string
  query?: string
  sort?: string
  columns?: readonly string[]
  open?: string | null
  tab?: string | null
}

const sameList = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((value, index) => value === other[index])

/** Writes a change into an address. Defaults are omitted, so that addresses stay short. */
export const writeView = (search: Search, spec: ViewSpec, change: ViewChange): Search => {
  const next: Record<string, string | undefined> = { ...search }
  for (const [name, value] of Object.entries(change.filters ?? {})) {
    for (const spelt of Object.keys(next)) if (spelt.toLowerCase() === name.toLowerCase()) delete next[spelt]
    next[name] = value ?? undefined
  }
  if (change.search !== undefined) {
    next.q = change.search
    delete next.globalSearch
  }
  if (change.query !== undefined) {
    for (const spelt of Object.keys(next)) if (spelt.toLowerCase() === 'query') delete next[spelt]
    next.query = change.query
  }
  if (change.sort !== undefined) next.sort = change.sort === spec.defaultSort ? undefined : change.sort
  if (change.columns !== undefined) {
    next.cols = sameList(change.columns, spec.defaultColumns) ? undefined : change.columns.join(',')
  }
  if (change.open !== undefined) next.open = change.open ?? undefined
  if (change.tab !== undefined) next.tab = change.tab ?? undefined
  return Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined && value !== ''))
}

/** Returns the order after a click on a column: first its natural direction, then the reverse, then the default. */
export const nextSort = (current: string, key: string, natural: 'asc' | 'desc', defaultSort: string): string => {
  const other = natural === 'asc' ? 'desc' : 'asc'
  if (current === `${key}_${natural}`) return `${key}_${other}`
  if (current === `${key}_${other}`) return defaultSort
  return `${key}_${natural}`
}

/** Returns the direction in which a column is sorted, or null. */
export const sortDirection = (current: string, key: string): 'asc' | 'desc' | null =>
  current === `${key}_asc` ? 'asc' : current === `${key}_desc` ? 'desc' : null

/** Converts the search text of an address to the router's record and back. The first of a repeated name counts. */
export const parseSearchText = (text: string): Record<string, string> => {
  const result: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(text)) if (!Object.hasOwn(result, name)) result[name] = value
  return result
}

export const searchText = (search: Record<string, unknown>): string => {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== null && value !== '') params.set(name, String(value))
  }
  const text = params.toString().replaceAll('%2C', ',').replaceAll('%3A', ':')
  return text === '' ? '' : `?${text}`
}
