/** Hosts that gain or lose tags. May include hosts that already match. */
export interface HostTagChange {
  effect: 'add' | 'remove'
  names: readonly string[]
  /** Null: every host with one of the tags, because the tags are deleted. */
  agentIds: readonly string[] | null
}

/** A change of tags in a request for a second approver. */
export type TagChange = (
  | { op: 'add' | 'remove'; names: readonly string[]; agentIds: readonly string[] }
  | { op: 'delete'; names: readonly string[] }
  | { op: 'set'; agents: readonly { agentId: string; names: readonly string[] }[] }
) & {
  /** Reason of the requester. Absent if none was given. */
  reason?: string
}

/** Returns the reason in the form of the audit trail. Empty without a reason. */
export const because = (reason: string | undefined): string =>
  reason === undefined || reason === '' ? '' : `, reason: ${reason}`
