import type { policyApprovals, ResponseOf } from '#features/contract.ts'

type Suggestion = ResponseOf<typeof policyApprovals>['data'][number]['suggestion']

/** If more hosts allow a model, approval on all hosts is suggested. */
const usualHosts = 20

/** Returns the scope that fits an approval of a model. `tag`: a tag of all hosts that wait; null: they share none. */
export const suggestedScope = ({
  isKnownAttackTool,
  agentsCount,
  allowedHosts,
  tag,
}: {
  isKnownAttackTool: boolean
  agentsCount: number
  allowedHosts: number
  tag: string | null
}): Suggestion => {
  if (isKnownAttackTool) return null
  if (allowedHosts > Math.max(usualHosts, agentsCount)) return { scope: 'all', tag: '' }
  return tag !== null && agentsCount > 1 ? { scope: 'tag', tag } : { scope: 'host', tag: '' }
}
