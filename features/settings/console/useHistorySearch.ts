import { useSearch } from '@tanstack/react-router'

/** Returns the search parameters of a page of settings. The policy settings have an address of their own. */
export const useHistorySearch = () => {
  const settings = useSearch({ from: '/inside/settings/$page', shouldThrow: false })
  const policy = useSearch({ from: '/inside/policy/settings', shouldThrow: false })
  return settings ?? policy ?? {}
}
