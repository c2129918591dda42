import type { ViewState } from './view-state.ts'

/** The list query of a view: its filters by the interface's names, the search and the sort. */
export const listQueryOf = (view: Pick<ViewState, 'filters' | 'search' | 'sort'>): Record<string, string> => ({
  ...view.filters,
  ...(view.search === '' ? {} : { GlobalSearch: view.search }),
  SortBy: view.sort,
})
