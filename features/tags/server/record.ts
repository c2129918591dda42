import type { AuditFacts, AuditTarget } from '#features/audit/server/index.ts'
import type { TaggedEntity } from '#features/contract.ts'
import type { TagsStore } from './tags.store.ts'

const targetsOf = (names: readonly string[]): AuditTarget[] => names.map((name) => ({ kind: 'tag', name }))

/** Returns what a record about tags themselves states. */
export const tagsOnly = (names: readonly string[]): AuditFacts => ({ count: names.length, objects: targetsOf(names) })

/** Returns what a record about tags of hosts or devices states: the tags first, then the hosts. */
export const tagging = async (
  store: TagsStore,
  entity: TaggedEntity,
  names: readonly string[],
  elements: readonly { agentId: string }[],
  reason: string | undefined,
): Promise<AuditFacts> => {
  const hosts = await store.hostNames([...new Set(elements.map(({ agentId }) => agentId))])
  return {
    variant: entity === 'Agent' ? 'hosts' : 'devices',
    count: elements.length,
    objects: [
      ...targetsOf(names),
      ...hosts.map(({ agent_id, host }): AuditTarget => ({ kind: 'host', id: agent_id, name: host })),
    ],
    ...(reason === undefined ? {} : { reason }),
  }
}
