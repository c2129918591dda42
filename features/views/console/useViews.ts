import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { parseSearchText } from '@portcullis/platform/console/lib/view-state.ts'
import type { View } from '@portcullis/platform/console/ui/useView.ts'
import { useLocation } from '@tanstack/react-router'
import { listViews, type SavedView } from '#features/contract.ts'
import { readSaved, viewText } from './saved.ts'
import { viewsKey } from './shared/view-address.ts'

const rareChanges = 60_000

/** The views of the current page, and its state as the text of a view. */
export const useViews = (view: View) => {
  const { pathname, searchStr } = useLocation()
  const page = pathname.replace(/\/$/, '')
  const all = useRead(viewsKey, listViews, { staleTime: rareChanges })
  const current = viewText(parseSearchText(searchStr))
  const views = (all.data?.data ?? [])
    .filter((one) => one.page === page)
    .map((one: SavedView) => ({ ...one, ...readSaved(one, view.spec) }))
  return { page, current, views, open: views.find(({ text }) => text === current && text !== '') }
}
