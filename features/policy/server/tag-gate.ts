import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import { hostsText } from '#features/agents/server/index.ts'
import { NeedsApprover } from '#features/change-requests/server/index.ts'
import { type previewTags, profiles, type ResponseOf } from '#features/contract.ts'
import type { HostTagChange, TagChange, TagGate } from '#features/tags/server/index.ts'
import type { PolicyContext } from './policy.context.ts'
import type { Predicted } from './predict.ts'
import { hostText } from './shown-rules.ts'
import { worksAgainLines } from './works-again.ts'

/** A tag change that waits for a second approver. */
interface CarriedOrder {
  order: TagChange
  changes: readonly HostTagChange[]
  hosts: number
}

const listed = (names: readonly string[]): string =>
  `${names.length === 1 ? 'tag' : 'tags'} ${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`

const titleOf = ({ order, hosts }: CarriedOrder): string => {
  const what =
    order.op === 'delete'
      ? `Delete ${listed(order.names)}`
      : order.op === 'set'
        ? `Set the tags of ${hostsText(order.agents.length)}`
        : order.op === 'add'
          ? `Add ${listed(order.names)} to ${hostsText(order.agentIds.length)}`
          : `Remove ${listed(order.names)} from ${hostsText(order.agentIds.length)}`
  return `${what} (newly allows devices on ${hostsText(hosts)})`
}

/** Treats tag changes as changes of the rules and options that apply to hosts, and measures them. */
export type PolicyTagGate = ReturnType<typeof createTagGate>

export const createTagGate = (context: PolicyContext) => {
  const { clock, store, newlyAllowed, policySettings: settings, changeRequests, predict, scopes, tags } = context
  /** Predicts the effect of tag changes on the hosts that they name. */
  function predicted(q: Queryable, changes: readonly HostTagChange[], isTimed = false): Promise<Predicted> {
    const named = changes.flatMap(({ agentIds }) => agentIds ?? [])
    const isNamed = changes.every(({ agentIds }) => agentIds !== null)
    return predict(q, { tags: changes }, { hosts: isNamed ? scopes.hosts([...new Set(named)]) : null, isTimed })
  }

  /**
   * Counts hosts on which a tag change newly allows devices or changes an option that a tag sets. `until`: only hosts that
   * enrolled before that time.
   */
  async function measure(tx: Queryable, changes: readonly HostTagChange[], until: Date | null = null): Promise<number> {
    const now = new Date(clock.now())
    const rules = await store.wide(tx)
    const optionTags = await settings.optionTags(tx)
    const hosts = new Set<string>()
    for (const { effect, names, agentIds } of changes)
      for (const folded of new Set(names.map(fold))) {
        const ofTag = rules.filter((r) => r.tag_name !== null && fold(r.tag_name) === folded)
        const gone = effect === 'remove' ? ofTag.filter((r) => r.effect === 'deny') : []
        const write = effect === 'add' ? ofTag.filter((r) => r.effect === 'allow') : []
        const isOption = optionTags.has(folded)
        if (gone.length + write.length === 0 && !isOption) continue
        const changing = await store.hostsChangingTag(tx, folded, agentIds, effect, until)
        const opened = isOption ? changing : await newlyAllowed.among(tx, { gone, write }, changing, now)
        for (const agentId of opened) hosts.add(agentId)
      }
    return hosts.size
  }

  /**
   * Returns the number of hosts on which the change allows devices, and null if one person may make it: it is then counted.
   * Otherwise returns the limit that it exceeds. `approved` hosts are already counted. Waits for other transactions that change
   * rules.
   */
  async function take(tx: Tx, actor: Actor, changes: readonly HostTagChange[], approved: number | 'all' = 0) {
    const names = new Set(changes.flatMap((change) => change.names.map(fold)))
    if ((await store.wide(tx)).some((r) => r.tag_name !== null && names.has(fold(r.tag_name)))) await store.lockHead(tx)
    const hosts = await measure(tx, changes)
    if (approved === 'all') return { hosts, refused: null }
    const counted = Math.max(0, hosts - approved)
    return { hosts, refused: await changeRequests.take(tx, actor, { kind: 'allow', hosts: counted }) }
  }

  changeRequests.handle<CarriedOrder>('tags', {
    action: 'rules',
    title: titleOf,
    hosts: ({ hosts }) => hosts,
    approver: profiles.manager,
    details: async (tx, { order, changes }) => {
      const { stated } = await predicted(tx, changes)
      const first = [
        ...(order.reason === undefined ? [] : [`Reason: ${order.reason}`]),
        ...worksAgainLines(stated.worksAgain),
      ]
      const tags = (verb: string, names: readonly string[]): string[] => names.map((name) => `${verb} tag ${name}`)
      if (order.op === 'delete') return [...first, ...tags('Delete', order.names)]
      const asked = order.op === 'set' ? order.agents.map(({ agentId }) => agentId) : order.agentIds
      const names = await store.hostNames(tx, asked)
      return [
        ...first,
        ...(order.op === 'set' ? [] : tags(order.op === 'add' ? 'Add' : 'Remove', order.names)),
        ...asked.map((agentId, i) => {
          const host = hostText(agentId, names)
          return order.op === 'set' ? `${host}: ${order.agents[i]?.names.join(', ') || 'no tags'}` : host
        }),
      ]
    },
    carryOut: async (tx, actor, { order, changes, hosts }, { requestedAt }) => {
      // Deleting a tag also removes it from hosts that enrolled after the request, so they are not counted.
      const now = await measure(tx, changes, requestedAt)
      if (now > hosts)
        throw new AppError('conflict', {
          detail: `This request is out of date. It would newly allow devices on ${hostsText(now)}, not ${hosts}. Request it again.`,
        })
      await tags.carryOut(tx, actor, order)
      return undefined
    },
  })

  const gate: TagGate = {
    measure,
    worksAgain: async (q, changes) => (await predicted(q, changes)).stated.worksAgain,
    approve: async (tx, actor, changes, order) => {
      const { hosts, refused } = await take(tx, actor, changes)
      const change: CarriedOrder = { order, changes, hosts }
      return refused === null ? null : new NeedsApprover({ kind: 'tags', change, ...refused })
    },
    settle: changeRequests.settle,
  }
  /** Previews the effect of tag changes. Writes nothing. */
  async function preview(
    q: Queryable,
    actor: Actor,
    changes: readonly HostTagChange[],
  ): Promise<ResponseOf<typeof previewTags>> {
    const hosts = await measure(q, changes)
    return {
      newlyAllowed: hosts,
      secondPerson: !(await changeRequests.mayAlone(actor, { kind: 'allow', hosts })),
      prediction: (await predicted(q, changes, true)).stated,
    }
  }

  return { ...gate, take, preview }
}
