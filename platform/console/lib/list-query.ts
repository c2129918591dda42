import type { ViewSpec, ViewState } from './view-state.ts'

/**
 * Returns the query of a list: filters by the names of the API, search and sort order. The default order is left to the
 * server, which breaks ties by name and not by id.
 */
export const listQueryOf = (
  view: Pick<ViewState, 'filters' | 'search' | 'sort'>,
  spec: Pick<ViewSpec, 'defaultSort'>,
): Record<string, string> => ({
  ...view.filters,
  ...(view.search === '' ? {} : { GlobalSearch: view.search }),
  ...(view.sort === spec.defaultSort ? {} : { SortBy: view.sort }),
})
