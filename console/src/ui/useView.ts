import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { readView, type Search, type ViewChange, type ViewSpec, type ViewState, writeView } from '../lib/view-state.ts'

/** The state of a list screen, read from and written to the address. */
export interface View {
  spec: ViewSpec
  state: ViewState
  set: (change: ViewChange, options?: { replace?: boolean }) => void
  clearFilters: () => void
}

export const useView = (spec: ViewSpec): View => {
  const search = useSearch({ strict: false }) as Search
  const navigate = useNavigate()
  const text = JSON.stringify(search)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is the identity of the search
  const state = useMemo(() => readView(search, spec), [text, spec])
  const set = useCallback(
    (change: ViewChange, { replace = false } = {}) => {
      void navigate({
        to: '.',
        search: ((old: Search) => writeView(old, spec, change)) as never,
        replace,
      })
    },
    [navigate, spec],
  )
  const clearFilters = useCallback(
    () => set({ filters: Object.fromEntries(spec.filters.map((name) => [name, null])), search: '' }),
    [set, spec],
  )
  return useMemo(() => ({ spec, state, set, clearFilters }), [spec, state, set, clearFilters])
}
