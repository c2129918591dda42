import { serialKey } from '@portcullis/domain'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import type { SqlFragment } from '@portcullis/platform/server/db/sql.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import { type Prediction, predictedDays } from '#features/contract.ts'
import type { HostTagChange } from '#features/tags/server/index.ts'
import type { Affected } from './affected.store.ts'
import { decideAfter, groupHosts } from './after-change.ts'
import type { PolicyBaseContext } from './context.ts'
import { type Effects, isStopping, type Totals, takesEffectOf } from './device-states.ts'
import type { PolicyStore, RuleRow } from './policy.store.ts'
import {
  createPredictRead,
  type Examined,
  type PredictedHost,
  type PredictedPage,
  type PredictedRow,
  type Redecided,
} from './predict.read.ts'
import type { Seals } from './seal.ts'

/** A change to predict. Its parts are combined; without any part, nothing changes. */
export interface Change {
  /** Rules that are added, and stored rules that are replaced or deleted. */
  rules?: { gone: readonly RuleRow[]; write: readonly RuleRow[] }
  tags?: readonly HostTagChange[]
  /** New mode of the hosts. Deleted hosts count as `Free`. */
  mode?: 'Armed' | 'Free'
  /** Arming also evaluates the devices that are attached now. */
  applyToPresent?: boolean
  /** Every attached device is allowed on its host. */
  isApproved?: boolean
}

/** The hosts and days that a prediction examines. */
export interface PredictionScope {
  /** Condition over `agent_rows r` and `agents a`; null or absent: every host. */
  hosts?: SqlFragment | null
  /** Includes hosts that cannot block devices, because the caller named them by id. */
  isEveryGrade?: boolean
  days?: number
  /** Also returns the effect on each host. */
  isEachHost?: boolean
  /** False: does not count attachments, for callers that show none. */
  isTimed?: boolean
}

/** The effect of a change on the examined hosts. */
export interface Predicted {
  /** The part that every preview shows. */
  stated: Prediction
  totals: Totals
  /** The effect of arming on each host, without hosts that block nothing. Empty unless the scope requests it. */
  hosts: readonly PredictedHost[]
  /** Returns devices with their decisions. */
  page(page: PredictedPage): Promise<(PredictedRow & { stopsWorking: boolean })[]>
  /** Returns the first devices whose decision changes. */
  changed(limit: number): Promise<PredictedRow[]>
}

const dayMs = 86_400_000

/** Returns the part of the totals that every preview shows. */
const statedOf = (totals: Totals, from: Date, to: Date, isEveryDevice: boolean): Prediction => {
  const { agents, peripherals, attachments, newlyAllowed, newlyBlocked, worksAgain, stopsWorking } = totals
  const subject = (group: 'blocked' | 'changed') => ({
    agents: totals[group].agents,
    peripherals: totals[group].peripherals,
    attachments: attachments[group],
  })
  return {
    ...{ computedAt: to.toISOString(), from: from.toISOString(), to: to.toISOString() },
    ...{ agents, peripherals, isEveryDevice, attachments: attachments.all },
    ...{ blocked: subject('blocked'), changed: subject('changed'), takesEffect: takesEffectOf(totals, 'changed') },
    ...{ newlyAllowed, newlyBlocked, worksAgain, stopsWorking },
  }
}

/** Returns a function that applies tag changes to the tags of a host. */
const tagsAfter = (changes: readonly HostTagChange[]) => {
  const parts = changes.map(({ effect, names, agentIds }) => ({
    effect,
    folded: new Set(names.map(fold)),
    agents: agentIds === null ? null : new Set(agentIds),
  }))
  return ({ agentId, hashtags }: { agentId: string; hashtags: string }): string => {
    const tags = new Set(hashtags === '' ? [] : hashtags.split(',').map(fold))
    for (const { effect, folded, agents } of parts)
      if (agents?.has(agentId) !== false)
        for (const name of folded)
          if (effect === 'add') tags.add(name)
          else tags.delete(name)
    return [...tags].join(',')
  }
}

/** Creates the one function that predicts the effect of a change of rules, tags, modes or approvals. */
export const createPredict = (
  { clock, peripherals: { fingerprints } }: PolicyBaseContext,
  store: PolicyStore,
  seals: Seals,
  affected: Affected,
) => {
  const read = createPredictRead()

  /** Returns the ids of the hosts that a change affects; null: any host. */
  const hostsOf = (changed: readonly RuleRow[], tags: readonly HostTagChange[]): string[] | null => {
    const ids: (string | null)[] = [
      ...changed.map(({ agent_id }) => agent_id),
      ...tags.flatMap<string | null>(({ agentIds }) => agentIds ?? [null]),
    ]
    return ids.some((id) => id === null) ? null : [...new Set(ids as string[])]
  }

  /** Recalculates decisions about the devices that changed rules or tags affect; null: no device is affected. */
  const decided = async (q: Queryable, { rules, tags = [] }: Change): Promise<Redecided | null> => {
    const { gone = [], write = [] } = rules ?? {}
    if (gone.length + write.length + tags.length === 0) return null
    const stored = await store.wide(q)
    const moved = new Set(tags.flatMap(({ names }) => names.map(fold)))
    const ofTags = stored.filter((r) => r.tag_name !== null && moved.has(fold(r.tag_name)))
    const fingerprintIds = [...(await affected.fingerprintsOf(q, [...gone, ...write, ...ofTags]))]
    if (fingerprintIds.length === 0) return null
    const known = await fingerprints.byIds(fingerprintIds)
    const some = hostsOf([...gone, ...write], tags)
    const replaced = new Set([...gone, ...write].map((r) => r.rule_id))
    const left = (rows: readonly RuleRow[]): RuleRow[] =>
      rows.filter((r) => !replaced.has(r.rule_id) && seals.isAuthentic(r)).map(seals.withIdentity)
    const wide = [
      ...left(stored),
      ...write.filter((r) => r.agent_id === null && (r.tag_name === null || r.tag_id !== null)),
    ]
    const vids = [...new Set([...known.values()].map(({ vid }) => vid))]
    const own = [...left(await store.ownAbout(q, vids, some)), ...write.filter((r) => r.agent_id !== null)]
    const named = new Set(wide.flatMap(({ tag_name }) => (tag_name === null ? [] : [fold(tag_name)])))
    const hosts =
      named.size > 0 || some !== null
        ? await read.tagged(q, some)
        : [...new Set(own.map((r) => r.agent_id as string))].map((agentId) => ({ agentId, hashtags: '' }))
    const after = tagsAfter(tags)
    const { groups, groupOf } = groupHosts(
      tags.length === 0 ? hosts : hosts.map((host) => ({ ...host, hashtags: after(host) })),
      named,
      own,
      some !== null,
    )
    const by = {
      groupOf,
      serials: [...new Set([...wide, ...own].flatMap(({ serial }) => (serial === null ? [] : serialKey(serial))))],
      // A verdict that depends on a serial number has its own fingerprint.
      serialFingerprints: [...known.values()]
        .filter(({ inputs }) => inputs === null || typeof inputs.serial === 'string')
        .map(({ id }) => id),
    }
    const classes = await read.classes(q, fingerprintIds, some, by)
    const added = new Set(write.map((r) => r.rule_id))
    return { by, classes: await decideAfter({ classes, fingerprints: known, wide, groups, added }, clock.now()) }
  }

  /**
   * Predicts the effect of a change on stored hosts and devices. Every preview, dry run and simulation calls this
   * function, so they all return the same hosts, devices and times.
   */
  const predict = async (q: Queryable, change: Change, scope: PredictionScope = {}): Promise<Predicted> => {
    const { hosts: condition = null, isEveryGrade = false, days = predictedDays } = scope
    const { isEachHost = false, isTimed = true } = scope
    const to = clock.now()
    // A decision holds for every known device. Only modes depend on what hosts can block and on what is used.
    const isEveryDevice = change.mode === undefined
    const examined: Examined = {
      ...{ hosts: condition, isEveryDevice, isEveryGrade: isEveryDevice || isEveryGrade },
      since: new Date(to - days * dayMs),
    }
    const effects: Effects = {
      mode: change.mode ?? null,
      applyToPresent: change.applyToPresent === true,
      isApproved: change.isApproved === true,
    }
    const redecided = await decided(q, change)
    const asked = { examined, effects, redecided }
    const { totals, hosts } = await read.totals(q, asked, { isEachHost, isTimed })
    return {
      stated: statedOf(totals, examined.since, new Date(to), isEveryDevice),
      totals,
      hosts,
      page: async (page) =>
        (await read.page(q, asked, page)).map((row) => ({ ...row, stopsWorking: isStopping(row.state, effects) })),
      changed: async (limit) => (totals.changed.peripherals === 0 ? [] : read.changed(q, asked, limit)),
    }
  }

  return { predict, scopes: { chosen: read.chosen, hosts: read.hosts } }
}

export type Predict = ReturnType<typeof createPredict>['predict']
export type PredictionScopes = ReturnType<typeof createPredict>['scopes']
