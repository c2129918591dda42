import { type RegisteredRouter, type RouteById, type RouteIds, useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import type { ListName } from '../lib/search.ts'
import { readView, type Search, type ViewChange, type ViewSpec, type ViewState, writeView } from '../lib/view-state.ts'

type Tree = RegisteredRouter['routeTree']

/** A route whose address holds the state of a list. */
export type ListRoute = {
  [Id in RouteIds<Tree>]: ListName extends keyof RouteById<Tree, Id>['types']['fullSearchSchema'] ? Id : never
}[RouteIds<Tree>]

/** The state of a list page, stored in the URL. */
export interface View {
  spec: ViewSpec
  state: ViewState
  set: (change: ViewChange, options?: { replace?: boolean }) => void
  clearFilters: () => void
}

export const useView = (route: ListRoute, spec: ViewSpec): View => {
  const search: Search = useSearch({ from: route })
  const navigate = useNavigate()
  const text = JSON.stringify(search)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is the identity of the search
  const state = useMemo(() => readView(search, spec), [text, spec])
  const set = useCallback(
    (change: ViewChange, { replace = false } = {}) => {
      void navigate({ to: '.', search: (old: Search) => writeView(old, spec, change), replace })
    },
    [navigate, spec],
  )
  const clearFilters = useCallback(
    () => set({ filters: Object.fromEntries(spec.filters.map((name) => [name, null])), search: '', query: '' }),
    [set, spec],
  )
  return useMemo(() => ({ spec, state, set, clearFilters }), [spec, state, set, clearFilters])
}
