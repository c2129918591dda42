import { getConfigItemsByPrefix } from '@portcullis/contract'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useQuery } from '@tanstack/react-query'

/** Key of the items with this prefix in the cache. */
export const groupKey = (prefix: string) => ['config', prefix]

/** Reads the items of a page; for secrets, only whether they are set. */
export const useGroup = (prefix: string) => {
  const { api } = useServices()
  return useQuery({
    queryKey: groupKey(prefix),
    queryFn: ({ signal }) => api.call(getConfigItemsByPrefix, { params: { prefixes: prefix }, signal }),
  })
}
