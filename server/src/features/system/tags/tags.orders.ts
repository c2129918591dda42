/** Hosts that gain or lose tags. Hosts that already are as wanted may be named, too. */
export interface HostTagChange {
  effect: 'add' | 'remove'
  names: readonly string[]
  /** Null: every host that carries one of them, because the tags are deleted. */
  agentIds: readonly string[] | null
}

/** A change of the tags of hosts as a request for a second approver carries it. */
export type TagOrder = (
  | { op: 'add' | 'remove'; names: readonly string[]; agentIds: readonly string[] }
  | { op: 'delete'; names: readonly string[] }
  | { op: 'set'; agents: readonly { agentId: string; names: readonly string[] }[] }
) & {
  /** Why the requester wants it; absent when they gave no reason. */
  reason?: string
}

/** Returns the reason as the audit trail writes it after the details; empty when there is none. */
export const because = (reason: string | undefined): string =>
  reason === undefined || reason === '' ? '' : `, reason: ${reason}`
