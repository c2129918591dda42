export interface AgentEvent {
  kind: 'enrolled' | 'polled' | 'observed' | 'tookOver' | 'duplicate' | 'removed' | 'keyClone'
  agentId: string | null
  entity: string
  hashtags: string
  details: string
}

/** Returns an event that names other agents that claim to be the same machine. */
export const duplicateEvents = <T extends object>(about: T, others: readonly { host: string }[]) =>
  others.length === 0
    ? []
    : [
        {
          ...about,
          kind: 'duplicate' as const,
          details: `Same machine as ${others.map((one) => one.host).join(', ')}`.slice(0, 1000),
        },
      ]
