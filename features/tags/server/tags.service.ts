import { countText, mustExist } from '@portcullis/domain'
import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import { type Queryable, type Rollback, type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import type { AddTagsResult, DeleteTagsResult, GatewayHashtagActionDto, TaggedEntity } from '#features/contract.ts'
import { because, type HostTagChange, type TagChange } from './changes.ts'
import type { TagsContext } from './context.ts'
import { requireTagNames, type TagName } from './names.ts'
import { tagging, tagsOnly } from './record.ts'
import { createTagsStore, type Element, type TagsStore } from './tags.store.ts'

/** Maximum pairs of tag and element in one call, to stay well within the time limit of a statement. */
const maxPairs = 250_000
/** Maximum attempts to create a tag that another call deletes at the same time. */
const maxTries = 5

export type TagsService = ReturnType<typeof createTagsService>

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Parses an id of the interface. Returns null if no element can have it. */
export const parseElementId = (entity: TaggedEntity, id: string): Element | null => {
  if (entity === 'Agent') return uuid.test(id) ? { agentId: id, deviceId: '' } : null
  const at = id.indexOf('|')
  const agentId = id.slice(0, Math.max(at, 0))
  return at > 0 && uuid.test(agentId) && id.length > at + 1 ? { agentId, deviceId: id.slice(at + 1) } : null
}

/** Returns the id of an element in the interface. */
export const elementId = (entity: TaggedEntity, element: Element): string =>
  entity === 'Agent' ? element.agentId : `${element.agentId}|${element.deviceId}`

/** The complete set of tags of an agent. */
interface AgentTags {
  agentId: string
  names: readonly string[]
}

interface Change {
  names: TagName[]
  entity: TaggedEntity
  /** Ids as given, without duplicates. Null: the change concerns the tags themselves. An empty list changes nothing. */
  ids: string[] | null
  reason?: string
}

const readChange = (body: GatewayHashtagActionDto): Change => {
  const ids = body.elementIds == null ? null : [...new Set(body.elementIds)]
  const names = requireTagNames('body.hashtags', body.hashtags ?? [])
  const pairs = (ids?.length ?? 0) * names.length
  if (pairs > maxPairs)
    throw invalid('body', `contains ${pairs} pairs of tag and element; at most ${maxPairs} are allowed`)
  const reason = body.reason?.trim() ?? ''
  return {
    names,
    entity: body.entityType ?? 'Agent',
    ids,
    ...(reason === '' ? {} : { reason }),
  }
}

/** Finds the ids that exist, in the given order. */
const findElements = async (store: TagsStore, entity: TaggedEntity, ids: readonly string[]) => {
  const wanted = ids.map((id) => parseElementId(entity, id)).filter((element) => element !== null)
  const elements = await store.lockExisting(entity, wanted)
  const present = new Set(elements.map((element) => elementId(entity, element)))
  return {
    elements,
    accepted: ids.filter((id) => present.has(id)),
    notFound: ids.filter((id) => !present.has(id)),
  }
}

/** Returns the tags that hosts gain and lose when each gets exactly these tags. */
export const changesOf = (
  agents: readonly { agentId: string; names: readonly TagName[] }[],
  stored: readonly { agent_id: string; name: string; folded: string }[],
): HostTagChange[] => {
  const before = Map.groupBy(stored, (row) => row.agent_id)
  const moves = agents.flatMap(({ agentId, names }) => {
    const old = before.get(agentId) ?? []
    const wanted = new Set(names.map(({ folded }) => folded))
    const known = new Set(old.map(({ folded }) => folded))
    return [
      ...names
        .filter(({ folded }) => !known.has(folded))
        .map(({ name }) => ({ effect: 'add' as const, name, agentId })),
      ...old
        .filter(({ folded }) => !wanted.has(folded))
        .map(({ name }) => ({ effect: 'remove' as const, name, agentId })),
    ]
  })
  return [...Map.groupBy(moves, ({ effect, name }) => `${effect} ${name}`).values()].flatMap((some) =>
    some.slice(0, 1).map(({ effect, name }) => ({
      effect,
      names: [name],
      agentIds: some.map(({ agentId }) => agentId),
    })),
  )
}

const listed = (names: readonly string[]): string => names.join(', ')

const asReason = (reason: string | undefined): { reason?: string } => (reason ? { reason } : {})

export const createTagsService = ({ db, audit, gate }: TagsContext) => {
  /** Returns the tags, created if they are missing, and keeps them from being deleted until the transaction ends. */
  async function ensure(store: TagsStore, names: readonly TagName[]) {
    const folded = [...new Set(names.map((name) => name.folded))]
    const created = new Set<string>()
    for (let tries = 0; tries < maxTries; tries++) {
      for (const tag of names.length === 0 ? [] : await store.create(names)) created.add(tag.name)
      const tags = await store.lock(folded)
      if (tags.length === folded.length) return { created: [...created], tags }
      // Another call deleted one between the two statements.
    }
    throw new AppError('conflict', {
      detail: 'Another call keeps deleting these tags. Nothing was changed. Try again.',
    })
  }

  const agentIdsOf = (elements: readonly Element[]): string[] => elements.map(({ agentId }) => agentId)

  /** Adds tags to elements, or creates tags. `isApproved`: a second approver agreed. */
  async function add(
    tx: Tx,
    actor: Actor,
    { names, entity, ids, reason }: Change,
    isApproved: boolean,
  ): Promise<AddTagsResult | Rollback<never>> {
    const store = createTagsStore(tx)
    const found = ids === null ? null : await findElements(store, entity, ids)
    if (found !== null && entity === 'Agent' && !isApproved) {
      const change = { names: names.map(({ name }) => name), agentIds: agentIdsOf(found.elements) }
      const order = { op: 'add', ...change, ...asReason(reason) } as const
      const waits = await gate.approve(tx, actor, [{ effect: 'add', ...change }], order)
      if (waits !== null) return waits
    }
    const { created, tags } = await ensure(store, ids?.length === 0 ? [] : names)
    const tagIds = tags.map((tag) => tag.tag_id)
    const tagged = found === null ? 0 : await store.tag(entity, found.elements, tagIds)
    if (created.length > 0)
      await audit.write(tx, actor, {
        action: 'tags.created',
        entity: 'tags',
        details: listed(created),
        ...tagsOnly(created),
      })
    if (tagged > 0)
      await audit.write(tx, actor, {
        action: 'tags.added',
        entity: `${found?.accepted.length} ${entity === 'Agent' ? 'agents' : 'peripherals'}`,
        details: `${listed(tags.map((tag) => tag.name))} on ${listed(found?.accepted ?? [])}${because(reason)}`,
        ...(await tagging(
          store,
          entity,
          tags.map((tag) => tag.name),
          found?.elements ?? [],
          reason,
        )),
      })
    return {
      accepted: found?.accepted ?? tags.map((tag) => tag.name),
      notFound: found?.notFound ?? [],
      created,
    }
  }

  /** Removes tags from elements, or deletes tags. `isApproved`: a second approver agreed. */
  async function remove(
    tx: Tx,
    actor: Actor,
    { names, entity, ids, reason }: Change,
    isApproved: boolean,
  ): Promise<DeleteTagsResult | Rollback<never>> {
    const store = createTagsStore(tx)
    const found = ids === null ? null : await findElements(store, entity, ids)
    const tags = await store.byFolded(names.map((name) => name.folded))
    const known = new Set(tags.map((tag) => tag.folded))
    const unknown = names.filter((name) => !known.has(name.folded)).map((name) => name.name)
    const tagIds = tags.map((tag) => tag.tag_id)
    const tagNames = tags.map((tag) => tag.name)
    if (found === null) {
      if (!isApproved) {
        const order = { op: 'delete', names: tagNames, ...asReason(reason) } as const
        const waits = await gate.approve(tx, actor, [{ effect: 'remove', names: tagNames, agentIds: null }], order)
        if (waits !== null) return waits
      }
      const deleted = (await store.remove(tagIds)).map((tag) => tag.name).sort()
      if (deleted.length > 0)
        await audit.write(tx, actor, {
          action: 'tags.deleted',
          entity: 'tags',
          details: `${listed(deleted)}${because(reason)}`,
          ...tagsOnly(deleted),
          ...asReason(reason),
        })
      return { accepted: deleted, notFound: unknown, deleted }
    }
    if (entity === 'Agent' && !isApproved) {
      const change = { names: tagNames, agentIds: agentIdsOf(found.elements) }
      const order = { op: 'remove', ...change, ...asReason(reason) } as const
      const waits = await gate.approve(tx, actor, [{ effect: 'remove', ...change }], order)
      if (waits !== null) return waits
    }
    const untagged = await store.untag(entity, found.elements, tagIds)
    if (untagged > 0)
      await audit.write(tx, actor, {
        action: 'tags.removed',
        entity: `${found.accepted.length} ${entity === 'Agent' ? 'agents' : 'peripherals'}`,
        details: `${listed(tagNames)} from ${listed(found.accepted)}${because(reason)}`,
        ...(await tagging(store, entity, tagNames, found.elements, reason)),
      })
    return { accepted: found.accepted, notFound: [...found.notFound, ...unknown], deleted: [] }
  }

  /** Returns on how many hosts the change newly allows devices. */
  async function measure({ names, entity, ids }: Change, effect: 'add' | 'remove'): Promise<number> {
    // Adding without elements creates tags that no host has yet.
    if (entity !== 'Agent' || (ids === null && effect === 'add')) return 0
    const agentIds = ids?.flatMap((id) => parseElementId(entity, id)?.agentId ?? []) ?? null
    return gate.measure(db, [{ effect, names: names.map(({ name }) => name), agentIds }])
  }

  /** Sets exactly these tags on agents. */
  async function set(tx: Tx, agents: readonly AgentTags[]): Promise<void> {
    const store = createTagsStore(tx)
    const elements = await store.lockExisting(
      'Agent',
      agents.map(({ agentId }) => ({ agentId, deviceId: '' })),
    )
    const names = new Map(agents.map((one) => [one.agentId, requireTagNames('hashtags', one.names)]))
    const { tags } = await ensure(store, [...names.values()].flat())
    const ids = new Map(tags.map((tag) => [tag.folded, tag.tag_id]))
    await store.setExactly(
      'Agent',
      elements,
      elements.flatMap((element) =>
        (names.get(element.agentId) ?? []).map(({ folded }) => ({
          element,
          tagId: mustExist(ids.get(folded), 'the id of a tag'),
        })),
      ),
    )
  }

  /** Returns the tags that hosts gain and lose when each gets exactly its tags. */
  const settingOf = async (tx: Tx, agents: readonly AgentTags[]): Promise<HostTagChange[]> =>
    changesOf(
      agents.map(({ agentId, names }) => ({ agentId, names: requireTagNames('hashtags', names) })),
      await createTagsStore(tx).ofAgents(agents.map(({ agentId }) => agentId)),
    )

  return {
    add: async (actor: Actor, body: GatewayHashtagActionDto): Promise<AddTagsResult> => {
      const change = readChange(body)
      if (body.dryRun === true)
        return { accepted: [], notFound: [], created: [], newlyAllowed: await measure(change, 'add') }
      return gate.settle<AddTagsResult>(actor, await transactionAgain(db, (tx) => add(tx, actor, change, false)))
    },

    remove: async (actor: Actor, body: GatewayHashtagActionDto): Promise<DeleteTagsResult> => {
      const change = readChange(body)
      if (body.dryRun === true)
        return { accepted: [], notFound: [], deleted: [], newlyAllowed: await measure(change, 'remove') }
      return gate.settle<DeleteTagsResult>(actor, await transactionAgain(db, (tx) => remove(tx, actor, change, false)))
    },

    /** Carries out an approved change. */
    carryOut: async (tx: Tx, actor: Actor, order: TagChange): Promise<void> => {
      if (order.op === 'set') {
        await set(tx, order.agents)
        const details = order.agents.map(({ agentId, names }) => `${agentId}: ${listed(names)}`).join('; ')
        await audit.write(tx, actor, {
          action: 'tags.set',
          entity: countText(order.agents.length, 'host'),
          details: `${details}${because(order.reason)}`,
          ...(await tagging(createTagsStore(tx), 'Agent', [], order.agents, order.reason)),
        })
        return
      }
      const names = requireTagNames('hashtags', order.names)
      const ids = order.op === 'delete' ? null : [...order.agentIds]
      const change = { names, entity: 'Agent', ids, ...asReason(order.reason) } as const
      if (order.op === 'add') await add(tx, actor, change, true)
      else await remove(tx, actor, change, true)
    },

    /**
     * Returns the ids of tags by name, in the caller's transaction. Creates missing ones. Refuses invalid names with
     * 400.
     */
    ensureTags: async (tx: Tx, names: readonly string[]): Promise<number[]> => {
      const { tags } = await ensure(createTagsStore(tx), requireTagNames('hashtags', names))
      return tags.map((tag) => tag.tag_id)
    },

    names: (q: Queryable): Promise<string[]> => createTagsStore(q).names(),

    /** Returns on how many hosts `setAgentTags` newly allows devices, and which blocked ones work again. */
    measureAgentTags: async (tx: Tx, agents: readonly AgentTags[]) => {
      const changes = agents.length === 0 ? [] : await settingOf(tx, agents)
      return { newlyAllowed: await gate.measure(tx, changes), worksAgain: await gate.worksAgain(tx, changes) }
    },

    /**
     * Sets each agent's tags exactly, in the caller's transaction. If that needs a second approver, changes nothing and
     * returns what the transaction returns to file the request.
     */
    setAgentTags: async (
      tx: Tx,
      actor: Actor,
      agents: readonly AgentTags[],
      reason = '',
    ): Promise<Rollback<never> | null> => {
      if (agents.length === 0) return null
      const order = { op: 'set', agents, ...asReason(reason) } as const
      const waits = await gate.approve(tx, actor, await settingOf(tx, agents), order)
      if (waits === null) await set(tx, agents)
      return waits
    },

    /** Refuses invalid names with their positions in the request. */
    requireNames: (field: string, names: readonly string[]): void => {
      requireTagNames(field, names)
    },

    /** Removes tags from agents, in the caller's transaction. */
    untagAgents: async (tx: Tx, agentIds: readonly string[], tagIds: readonly number[]): Promise<void> => {
      if (agentIds.length === 0 || tagIds.length === 0) return
      await createTagsStore(tx).untag(
        'Agent',
        agentIds.map((agentId) => ({ agentId, deviceId: '' })),
        tagIds,
      )
    },

    /** Adds tags to agents, in the caller's transaction. Existing ones stay. */
    tagAgents: async (tx: Tx, agentIds: readonly string[], tagIds: readonly number[]): Promise<void> => {
      if (agentIds.length === 0 || tagIds.length === 0) return
      await createTagsStore(tx).tag(
        'Agent',
        agentIds.map((agentId) => ({ agentId, deviceId: '' })),
        tagIds,
      )
    },
  }
}
