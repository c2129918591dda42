import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { getConfigItemsByPrefix } from '#features/contract.ts'

/** Key of the items with this prefix in the cache. */
export const groupKey = (prefix: string) => ['config', prefix]

/** Reads the items of a page; for secrets, only whether they are set. */
export const useGroup = (prefix: string) => {
  return useRead(groupKey(prefix), getConfigItemsByPrefix, { params: { prefixes: prefix } })
}
