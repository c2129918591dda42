import type { ViewSpec, ViewState } from './view-state.ts'

/**
 * The list query of a view: its filters by the interface's names, the search and the sort. The usual sort is left to the
 * server, whose own order breaks ties by name and not by id.
 */
export const listQueryOf = (
  view: Pick<ViewState, 'filters' | 'search' | 'sort'>,
  spec: Pick<ViewSpec, 'defaultSort'>,
): Record<string, string> => ({
  ...view.filters,
  ...(view.search === '' ? {} : { GlobalSearch: view.search }),
  ...(view.sort === spec.defaultSort ? {} : { SortBy: view.sort }),
})
