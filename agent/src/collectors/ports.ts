import { agentLimits } from '@portcullis/contract/agent-protocol'

/** Half of the protocol's body limit; the other half is for changes and facts. */
export const MAX_INVENTORY_BYTES = agentLimits.bodyBytes / 2

/** Compares port paths by number, segment by segment: `1-9` comes before `1-10`. */
export const comparePorts = (a: string, b: string): number => {
  const left = a.split(/[-.]/)
  const right = b.split(/[-.]/)
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = Number(left[i]) - Number(right[i])
    if (difference !== 0) return difference
  }
  return left.length - right.length
}
