import { getConfigItemsByPrefix } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useServices } from '../../lib/services.tsx'

/** Key of the items whose names begin so, in the cache. */
export const groupKey = (prefix: string) => ['config', prefix]

/** Items of a page as the server has them; secrets by whether they are set. */
export const useGroup = (prefix: string) => {
  const { api } = useServices()
  return useQuery({
    queryKey: groupKey(prefix),
    queryFn: ({ signal }) => api.call(getConfigItemsByPrefix, { params: { prefixes: prefix }, signal }),
  })
}
