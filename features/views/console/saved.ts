import { parseSearchText, type Search, searchText, type ViewSpec } from '@portcullis/platform/console/lib/view-state.ts'
import type { SavedView } from '#features/contract.ts'

/** Parts of an address that are no part of a view: the open row and its tab. */
const passing = ['open', 'tab']
const known = ['q', 'globalSearch', 'query', 'sort', 'cols', ...passing]

/** Returns the text of a view for the search part of an address: sorted, so that equal views have equal texts. */
export const viewText = (search: Search): string =>
  searchText(
    Object.fromEntries(
      Object.entries(search)
        .filter(([name]) => !passing.includes(name))
        .sort(([one], [other]) => (one < other ? -1 : 1)),
    ),
  ).slice(1)

/** Returns what of a saved view the list has, and the names that no longer exist. */
export const readSaved = (
  { search }: Pick<SavedView, 'search'>,
  { filters, columns = [] }: Pick<ViewSpec, 'filters' | 'columns'>,
): { text: string; missing: string[] } => {
  const missing: string[] = []
  const names = [...filters, ...known].map((name) => name.toLowerCase())
  const left: Record<string, string> = {}
  for (const [name, value] of Object.entries(parseSearchText(search))) {
    if (!names.includes(name.toLowerCase())) missing.push(name)
    else if (name !== 'cols' || columns.length === 0) left[name] = value
    else {
      const ids = value.split(',')
      missing.push(...ids.filter((id) => !columns.includes(id)))
      const rest = ids.filter((id) => columns.includes(id))
      if (rest.length > 0) left.cols = rest.join(',')
    }
  }
  return { text: viewText(left), missing }
}
