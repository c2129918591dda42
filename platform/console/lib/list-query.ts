import { withTimes } from './range.ts'
import type { ViewSpec, ViewState } from './view-state.ts'

/**
 * Returns the query of a list: filters by the names of the API with times instead of relative ranges, search, condition
 * and sort order. Omits the default order, because the server then breaks ties by name and not by ID.
 */
export const listQueryOf = (
  view: Pick<ViewState, 'filters' | 'search' | 'query' | 'sort'>,
  spec: Pick<ViewSpec, 'defaultSort' | 'ranges'>,
  now: number,
): Record<string, string> => ({
  ...withTimes(view.filters, spec, now),
  ...(view.search === '' ? {} : { GlobalSearch: view.search }),
  ...(view.query === '' ? {} : { Query: view.query }),
  ...(view.sort === spec.defaultSort ? {} : { SortBy: view.sort }),
})
