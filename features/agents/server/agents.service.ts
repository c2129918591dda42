import { notFound } from '@portcullis/platform/server/app-error.ts'
import { type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import { createList } from '@portcullis/platform/server/list/list.ts'
import { slices } from '@portcullis/platform/server/slices.ts'
import type { BodyOf, BulkResult, decideDuplicate, updateHostOwner } from '#features/contract.ts'
import { type AgentsRead, agentsList, type DetailRow } from './agents.read.ts'
import type { AgentsStore } from './agents.store.ts'
import type { AgentsContext } from './context.ts'
import { createHostMessages } from './host-messages.ts'
import { revocationOf } from './revocations.ts'

/** A capability's step that releases its rows of hosts, in the transaction that removes the hosts. */
export interface RemovalStep {
  /** Called before the rows of some hosts are deleted, with at most 2,000 of the requested ids, in id order. */
  before?(tx: Tx, agentIds: readonly string[]): Promise<void>
  /** Called once, after the rows of all these hosts were deleted. From then on, no new row references them. */
  after?(tx: Tx, agentIds: readonly string[]): Promise<void>
}

/** Runs in the transaction after which hosts have no possible duplicate, or no longer exist. */
export type UnlinkedListener = (tx: Tx, hosts: { agentIds: readonly string[]; by: string }) => Promise<void>

/** Moves the data of a duplicate host record to the host that stays, before the duplicate is removed. */
export type MergeStep = (tx: Tx, hosts: { from: string; to: string }) => Promise<void>

export type AgentsService = ReturnType<typeof createAgentsService>

/**
 * Removing an agent changes some ten rows, so this many agents stay well within the statement timeout (compose.ts).
 */
const rowsPerStatement = 2_000
/** Number of 37-character ids that fit into the details of one audit record. */
const idsPerRecord = 200

export const createAgentsService = (context: AgentsContext, store: AgentsStore, read: AgentsRead) => {
  const { db, bus, clock, keys, audit, tags, events, announce } = context
  const list = createList(agentsList, context)
  const messages = createHostMessages(bus)
  const removal: RemovalStep[] = []
  const unlinked: UnlinkedListener[] = []
  const merging: MergeStep[] = []

  async function tellUnlinked(tx: Tx, actor: Actor, agentIds: readonly string[]): Promise<void> {
    for (const tell of unlinked) await tell(tx, { agentIds, by: actor.userName })
  }

  async function remove(tx: Tx, actor: Actor, uuids: readonly string[]): Promise<BulkResult> {
    const ids = [...new Set(uuids)]
    const known = ids.filter(isId).sort()
    const removed: Awaited<ReturnType<AgentsStore['remove']>>['removed'] = []
    const alone: string[] = []
    for (const some of slices(known, rowsPerStatement)) {
      for (const step of removal) await step.before?.(tx, some)
      const done = await store.remove(tx, new Date(clock.now()), actor.userName, some, (agent) =>
        revocationOf(agent, clock.now(), keys.command),
      )
      removed.push(...done.removed)
      alone.push(...done.unlinked)
    }
    const accepted = new Set(removed.map((r) => r.agent_id))
    if (removed.length > 0) {
      for (const step of removal) await step.after?.(tx, [...accepted])
      await announce(tx, { agents: [...accepted] })
      await messages.removed(tx, [...accepted])
      await tellUnlinked(tx, actor, [...accepted, ...alone])
      for (const some of slices(removed, rowsPerStatement))
        await events.append(
          tx,
          some.map((r) => ({
            kind: 'removed' as const,
            agentId: r.agent_id,
            entity: `${r.host} (${r.address})`,
            hashtags: '',
            details: `Removed by ${actor.userName}`,
          })),
        )
      for (const r of removed.slice(0, 1000))
        await audit.write(tx, actor, {
          action: 'agent.removed',
          entity: `${r.host} (${r.address})`,
          details: `agent ${r.agent_id}`,
          objects: [{ kind: 'host', id: r.agent_id, name: r.host }],
        })
      for (const some of slices(removed.slice(1000), idsPerRecord))
        await audit.write(tx, actor, {
          action: 'agent.removed',
          entity: `${some.length} more agents`,
          details: some.map((r) => r.agent_id).join(','),
          count: some.length,
          objects: some.map((r) => ({ kind: 'host', id: r.agent_id, name: r.host })),
        })
    }
    return { accepted: ids.filter((id) => accepted.has(id)), notFound: ids.filter((id) => !accepted.has(id)) }
  }

  return {
    page: list.page,

    /** Registers a step that releases removed hosts; called at start, in the order of the tiers. */
    onRemove: (step: RemovalStep): void => {
      removal.push(step)
    },
    /** Registers a step that moves the rows of another record of the same computer. */
    onMerge: (step: MergeStep): void => {
      merging.push(step)
    },
    /** Registers a listener for hosts that have no possible duplicate left. */
    onUnlinked: (listener: UnlinkedListener): void => {
      unlinked.push(listener)
    },
    /** Asks hosts, at COMMIT, to check in now, whichever replica holds their sockets. */
    wake: messages.wake,

    /**
     * Returns the list row of an agent as JSON text, and the fields that only its page shows; null if it does not exist.
     */
    one: async (agentId: string): Promise<{ row: string; detail: DetailRow } | null> => {
      if (!isId(agentId)) return null
      const [[row], detail] = await Promise.all([list.rowsWhere(read.isAgent(agentId), 1), read.detail(agentId)])
      return row === undefined || detail === undefined ? null : { row, detail }
    },

    summary: async (query: Readonly<Record<string, unknown>>) => {
      const compiled = list.compile(query)
      const [s, groups] = await Promise.all([read.summary(compiled), read.groups(compiled)])
      const group = (what: string) => groups.filter((g) => g.what === what).map(({ key, count }) => ({ key, count }))
      return {
        total: s.total,
        connected: s.connected,
        disconnected: s.total - s.connected,
        armed: s.armed,
        free: s.total - s.armed,
        protection: {
          protected: s.protected,
          possible: s.can_block - s.protected,
          impossible: s.total - s.can_block,
        },
        unapproved: s.unapproved,
        vulnerable: s.vulnerable,
        knownAttackTools: s.attack_tool,
        bySeverity: group('severity'),
        byOs: group('os'),
        byVersion: group('version'),
        license: { activated: s.activated, pending: s.pending, expired: s.expired, invalid: s.invalid },
        deploymentMode: { agent: s.total - s.agentless - s.feed, agentless: s.agentless, feed: s.feed },
        computedAt: new Date(clock.now()).toISOString(),
      }
    },

    /** Changes the owner and the notes of a host. */
    setOwner: (actor: Actor, agentId: string, { owner, notes }: BodyOf<typeof updateHostOwner>) =>
      transactionAgain(db, async (tx) => {
        const changed = isId(agentId) ? await store.setOwner(tx, agentId, owner ?? null, notes ?? null) : undefined
        if (changed === undefined) throw notFound('No agent has this uuid.')
        const now = { owner: changed.owner, notes: changed.notes }
        const isOther = changed.owner !== changed.owner_before
        if (!isOther && changed.notes === changed.notes_before) return now
        await announce(tx, { agents: [agentId] })
        await audit.write(tx, actor, {
          action: 'agent.owner_changed',
          entity: changed.host,
          details: [
            ...(isOther ? [`owner "${changed.owner_before}" changed to "${changed.owner}"`] : []),
            ...(changed.notes === changed.notes_before ? [] : [`notes changed to "${changed.notes}"`]),
          ].join('; '),
          objects: [{ kind: 'host', id: agentId, name: changed.host }],
        })
        return now
      }),

    /** Removes agents permanently. Their keys are refused from the COMMIT on. */
    remove: (actor: Actor, uuids: readonly string[]): Promise<BulkResult> =>
      transactionAgain(db, (tx) => remove(tx, actor, uuids)),

    /**
     * Decides whether a look-alike is the same machine. If it is, the host gets its tags, and the look-alike is removed.
     */
    decideDuplicate: async (
      actor: Actor,
      agentId: string,
      { uuid: other, isSameMachine }: BodyOf<typeof decideDuplicate>,
    ): Promise<{ removed: boolean }> =>
      tags.settle<{ removed: boolean }>(
        actor,
        await transactionAgain(db, async (tx) => {
          const both = isId(agentId) && isId(other) ? await store.lockLinked(tx, agentId, other) : []
          const [kept, gone] = [agentId, other].map((id) => both.find(({ agent_id }) => agent_id === id))
          if (kept === undefined || gone === undefined)
            throw notFound('These hosts are not possible duplicates of each other.')
          const [own, added] = [kept, gone].map((host) => host.tags.split(',').filter((name) => name !== ''))
          await tellUnlinked(tx, actor, await store.unlink(tx, [agentId, other], [agentId, other]))
          if (isSameMachine) {
            const names = [...new Set([...(own ?? []), ...(added ?? [])])]
            const waits =
              names.length > (own ?? []).length ? await tags.setAgentTags(tx, actor, [{ agentId, names }]) : null
            if (waits !== null) return waits
            await store.keepOwner(tx, other, agentId)
            for (const step of merging) await step(tx, { from: other, to: agentId })
            await remove(tx, actor, [other])
          } else await announce(tx, { agents: [agentId, other] })
          await audit.write(tx, actor, {
            action: 'agent.duplicate_decided',
            entity: `${kept.host} (${kept.address})`,
            details: `${isSameMachine ? 'same machine as' : 'different machine from'} ${gone.host}, agent ${other}`,
            objects: [{ kind: 'host', id: agentId, name: kept.host }],
          })
          return { removed: isSameMachine }
        }),
      ),
  }
}
