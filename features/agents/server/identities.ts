import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import type { FieldError } from '#features/contract.ts'
import { type AgentsStore, type MatchedAgent, matchesCounted } from './agents.store.ts'

/** How connectors identify a host. Absent, null or empty members are ignored. */
export interface AgentIdentity {
  uuid?: string | null | undefined
  hostIdentifier?: string | null | undefined
  ipAddress?: string | null | undefined
}

export type ResolvedAgent = Omit<MatchedAgent, 'ord'>

const given = (text: string | null | undefined): string | null => (text === undefined || text === '' ? null : text)

/** Maximum number of faults in one answer. */
const listedFaults = 20

/**
 * Finds the one agent that each identity matches. The uuid and the address match exactly, and the host name ignores
 * case; all given members must match. An identity that matches no agent or several agents returns a 400 with its
 * position.
 */
export const createResolve =
  (store: AgentsStore) =>
  async (tx: Tx, identities: readonly AgentIdentity[], field: string): Promise<ResolvedAgent[]> => {
    const asked = identities.map((identity, i) => {
      const [uuid, host, address] = [given(identity.uuid), given(identity.hostIdentifier), given(identity.ipAddress)]
      if (uuid === null && host === null && address === null)
        throw invalid(`${field}[${i}]`, 'identifies no agent; set uuid, hostIdentifier or ipAddress')
      return { uuid, host, address }
    })
    // The database would refuse an invalid uuid as a type error. Here, it matches no agent.
    const rows = await store.matching(
      tx,
      asked.map((a) => ({ ...a, isSound: a.uuid === null || isId(a.uuid) })),
    )
    const found = Map.groupBy(rows, (row) => row.ord)
    const faults: FieldError[] = []
    const resolved = asked.flatMap((_, i) => {
      const matches = found.get(i + 1) ?? []
      const [first] = matches
      if (first !== undefined && matches.length === 1) {
        const { ord: __, ...agent } = first
        return [agent]
      }
      const message =
        matches.length === 0
          ? 'no agent matches all given values'
          : `${matches.length}${matches.length >= matchesCounted ? ' or more' : ''} agents match; set the uuid`
      if (faults.length < listedFaults) faults.push({ field: `${field}[${i}]`, message })
      return []
    })
    const [first] = faults
    if (first !== undefined)
      throw new AppError('validation_failed', { detail: `${first.field}: ${first.message}` }, { errors: faults })
    return resolved
  }
