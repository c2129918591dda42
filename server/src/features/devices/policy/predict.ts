import { type Prediction, predictedDays } from '@portcullis/contract'
import type { PeripheralsApi } from '#features/devices/peripherals/index.ts'
import type { HostTagChange } from '#features/system/tags/index.ts'
import type { Clock } from '#platform/clock.ts'
import type { Queryable } from '#platform/db/db.ts'
import type { SqlFragment } from '#platform/db/sql.ts'
import { fold } from '#platform/list/columns.ts'
import type { Affected } from './affected.ts'
import { type DecidedAfter, decideAfter } from './after-change.ts'
import type { PolicyStore, RuleRow } from './policy.store.ts'
import {
  type Attachments,
  createPredictRead,
  type Effects,
  type Examined,
  type PredictedHost,
  type PredictedPage,
  type PredictedRow,
  type Totals,
} from './predict.read.ts'
import type { Seals } from './seal.ts'

/** A change whose effect is asked for. Its parts are combined; without any, nothing changes. */
export interface Change {
  /** Rules that are added, and the stored ones that are replaced or deleted. */
  rules?: { gone: readonly RuleRow[]; write: readonly RuleRow[] }
  tags?: readonly HostTagChange[]
  /** Mode that the hosts get; hosts that are deleted count as `Free`. */
  mode?: 'Armed' | 'Free'
  /** Arming also judges what is attached now. */
  applyToPresent?: boolean
  /** Everything that is attached is allowed on its host. */
  isApproved?: boolean
}

/** Which hosts and days a prediction examines. */
export interface PredictionScope {
  /** Condition over `agent_rows r` and `agents a`; null or absent: every host. */
  hosts?: SqlFragment | null
  /** Examines hosts that cannot block devices, too: somebody asked for them by id. */
  isEveryGrade?: boolean
  days?: number
}

/** What a change does to the examined hosts. */
export interface Predicted {
  /** The part that every preview states. */
  stated: Prediction
  totals: Totals
  /** Devices that the added rules match, whether or not a decision changes. */
  matched: readonly DecidedAfter[]
  attachments(): Promise<Attachments>
  rows(page: PredictedPage): Promise<PredictedRow[]>
  /** What arming does to each host; hosts that block nothing are left out. */
  byHost(): Promise<PredictedHost[]>
}

export interface PredictDeps {
  clock: Clock
  store: Pick<PolicyStore, 'wide' | 'versionAndOwn'>
  seals: Pick<Seals, 'isAuthentic'>
  affected: Pick<Affected, 'designsOf'>
  designs: Pick<PeripheralsApi['designs'], 'byIds'>
}

const dayMs = 86_400_000

/** Tags of a host after changes of tags. */
const tagsAfter = (changes: readonly HostTagChange[]) => {
  const parts = changes.map(({ effect, names, agentIds }) => ({
    effect,
    folded: new Set(names.map(fold)),
    agents: agentIds === null ? null : new Set(agentIds),
  }))
  return ({ agent_id, hashtags }: { agent_id: string; hashtags: string }): string => {
    const tags = new Set(hashtags === '' ? [] : hashtags.split(',').map(fold))
    for (const { effect, folded, agents } of parts)
      if (agents?.has(agent_id) !== false)
        for (const name of folded)
          if (effect === 'add') tags.add(name)
          else tags.delete(name)
    return [...tags].join(',')
  }
}

/** Creates the one function that predicts what a change of rules, tags, modes or approvals does. */
export const createPredict = ({ clock, store, seals, affected, designs }: PredictDeps) => {
  const read = createPredictRead()

  /** Decides again about the devices that changed rules or tags concern. */
  const decided = async (q: Queryable, { rules, tags = [] }: Change, examined: Examined): Promise<DecidedAfter[]> => {
    const { gone = [], write = [] } = rules ?? {}
    if (gone.length + write.length + tags.length === 0) return []
    const stored = await store.wide(q)
    const moved = new Set(tags.flatMap(({ names }) => names.map(fold)))
    const ofTags = stored.filter((r) => r.tag_name !== null && moved.has(fold(r.tag_name)))
    const changed = [...gone, ...write, ...ofTags]
    const named = changed.flatMap((r) => (r.agent_id === null ? [] : [r.agent_id]))
    const onAll = changed.length > named.length
    const devices = await read.candidates(
      q,
      examined,
      [...(await affected.designsOf(q, changed))],
      onAll ? null : named,
    )
    const replaced = new Set([...gone, ...write].map((r) => r.rule_id))
    const left = (rows: readonly RuleRow[]): RuleRow[] =>
      rows.filter((r) => !replaced.has(r.rule_id) && seals.isAuthentic(r))
    const own = (await store.versionAndOwn(q, [...new Set(devices.map((device) => device.agent_id))])).own
    return decideAfter(
      {
        devices,
        designs: await designs.byIds(devices.map((device) => device.design_id)),
        wide: [
          ...left(stored),
          ...write.filter((r) => r.agent_id === null && (r.tag_name === null || r.tag_id !== null)),
        ],
        own: [...left(own), ...write.filter((r) => r.agent_id !== null)],
        added: new Set(write.map((r) => r.rule_id)),
        tagsOf: tagsAfter(tags),
      },
      clock.now(),
    )
  }

  /**
   * Predicts what a change does, over stored hosts and devices. Every preview, dry run and question of the product asks
   * this function, so they agree about hosts, devices and times.
   */
  const predict = async (q: Queryable, change: Change, scope: PredictionScope = {}): Promise<Predicted> => {
    const { hosts = null, isEveryGrade = false, days = predictedDays } = scope
    const to = clock.now()
    const examined: Examined = { hosts, isEveryGrade, since: new Date(to - days * dayMs) }
    const effects: Effects = {
      mode: change.mode ?? null,
      applyToPresent: change.applyToPresent === true,
      isApproved: change.isApproved === true,
    }
    const others = await decided(q, change, examined)
    const totals = await read.totals(q, examined, effects, others)
    const { agents, peripherals, newlyAllowed, newlyBlocked, worksAgain, stopsWorking } = totals
    const now = new Date(to).toISOString()
    return {
      stated: {
        ...{ computedAt: now, from: examined.since.toISOString(), to: now, agents, peripherals },
        ...{ newlyAllowed, newlyBlocked, worksAgain, stopsWorking },
      },
      totals,
      matched: others.filter(({ isMatched }) => isMatched),
      attachments: () => read.attachments(q, examined, effects, others),
      rows: (page) => read.rows(q, examined, effects, others, page),
      byHost: () => read.byHost(q, examined, effects, others),
    }
  }

  return { predict, scopes: { chosen: read.chosen, hosts: read.hosts } }
}

export type Predict = ReturnType<typeof createPredict>['predict']
export type PredictionScopes = ReturnType<typeof createPredict>['scopes']
