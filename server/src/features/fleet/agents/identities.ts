import type { FieldError } from '@portcullis/contract'
import { AppError, invalid } from '#platform/app-error.ts'
import type { Tx } from '#platform/db/db.ts'
import { isId } from '#platform/ids.ts'
import { type AgentsStore, type MatchedAgent, matchesCounted } from './agents.store.ts'

/** How clients of the field name a host; what is absent, null or empty asks nothing. */
export interface AgentIdentity {
  uuid?: string | null | undefined
  hostIdentifier?: string | null | undefined
  ipAddress?: string | null | undefined
}

export type ResolvedAgent = Omit<MatchedAgent, 'ord'>

const given = (text: string | null | undefined): string | null => (text === undefined || text === '' ? null : text)

/** Faults that one answer lists. */
const listedFaults = 20

/**
 * Finds the one agent that each identity names: uuid exactly, host name ignoring case, address exactly; all that are given
 * have to match. One that names none or several is a 400 that says so, by its place.
 */
export const createResolve =
  (store: Pick<AgentsStore, 'matching'>) =>
  async (tx: Tx, identities: readonly AgentIdentity[], field: string): Promise<ResolvedAgent[]> => {
    const asked = identities.map((identity, i) => {
      const [uuid, host, address] = [given(identity.uuid), given(identity.hostIdentifier), given(identity.ipAddress)]
      if (uuid === null && host === null && address === null)
        throw invalid(`${field}[${i}]`, 'names no agent: give uuid, hostIdentifier or ipAddress')
      return { uuid, host, address }
    })
    // What is no uuid of ours names nothing; the database would refuse it as a type error.
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
          ? 'no agent matches all that is given'
          : `${matches.length}${matches.length >= matchesCounted ? ' or more' : ''} agents match; add the uuid`
      if (faults.length < listedFaults) faults.push({ field: `${field}[${i}]`, message })
      return []
    })
    const [first] = faults
    if (first !== undefined)
      throw new AppError('validation_failed', { detail: `${first.field}: ${first.message}` }, { errors: faults })
    return resolved
  }
