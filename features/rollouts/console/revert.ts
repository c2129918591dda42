import type { Api } from '@portcullis/platform/console/lib/api.ts'
import { listRolloutHosts } from '#features/contract.ts'

const pageSize = 1_000
// The limit of one preview.
const most = 100_000

/** Returns the hosts that a rollout has armed and a revert frees. */
export const hostsToFree = async (api: Pick<Api, 'call'>, id: string): Promise<string[]> => {
  const uuids: string[] = []
  for (const state of ['done', 'commanded'] as const)
    for (let PageNumber = 1; uuids.length < most; PageNumber++) {
      const { data } = await api.call(listRolloutHosts, {
        params: { id },
        query: { state, PageNumber, PageSize: pageSize },
      })
      uuids.push(...data.map(({ uuid }) => uuid))
      if (data.length < pageSize) break
    }
  return uuids.slice(0, most)
}
