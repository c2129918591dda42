import { type Knowledge, mustExist } from '@portcullis/domain'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import type { AgentState } from '#features/agents/server/index.ts'
import { type DeviceEventKind, icons, type KnowledgeEffect } from '#features/contract.ts'
import { eventOrigin, type NewEvent } from '#features/events/server/index.ts'
import { type Accepted, withAcceptance } from './accepted.ts'
import type { DevicesContext } from './context.ts'
import { eventDevice } from './event-device.ts'
import { foldedText, namesBy, type Verdict, verdictVersion } from './fingerprint.ts'
import type { Fingerprints } from './fingerprints.ts'
import { createOwnFingerprints } from './own-fingerprints.ts'
import type { DecisionsPort } from './ports.ts'
import { hasChanged, levels, newVerdict, reevaluate } from './reevaluate.ts'
import { createReevaluationStore, type EvaluatedRow, type NewVerdict } from './reevaluation.store.ts'

/** Number of fingerprints per transaction: about 20 ms of evaluation. */
const fingerprintsAtOnce = 200
const hostsAtOnce = 200
const rowsShown = 500
/** Number of inventories requested per second. A server can apply this number in addition to its check-ins. */
const inventoriesAtOnce = 250
/** Maximum time between evaluating a report and storing it. */
const underWayMs = 60_000

/** Topic of the bus that announces changed fingerprints. */
const topic = 'designs'

/** A step of the job that re-evaluates verdicts, saved in the transaction that made it. */
export interface EvaluationJob {
  /** Null: no new knowledge came into force, and the job only processes the queue. */
  data: unknown
  cursor: unknown
  save(tx: Tx, step: { done?: number; total?: number; cursor?: unknown; message?: string }): Promise<void>
}

const iconName = (icon: number): string => (icons as Readonly<Record<number, string>>)[icon] ?? 'Unknown'

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_000))

/** Yields to other requests between batches. */
const yieldNow = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * Brings the verdicts of stored fingerprints, and of the hosts that have them, up to date with the knowledge in force.
 */
/**
 * Returns the names of a model. If the knowledge has no name, the model keeps the name that its first device reported. This
 * replaces the owner of the VID, which an earlier release stored for a registered product.
 */
const modelNames = (by: Knowledge, row: EvaluatedRow): { vendor: string; product: string } => ({
  vendor: by.vendorName(row.vid, row.pid) ?? (row.vendor === by.vendorName(row.vid) ? row.manufacturer : row.vendor),
  product: by.productName(row.vid, row.pid) ?? row.model_product,
})

export const createReevaluation = (
  context: DevicesContext & { decisions: DecisionsPort },
  fingerprints: Fingerprints,
  accepted: Accepted,
) => {
  const { db, clock, bus, knowledge, agents, decisions, events } = context
  const store = createReevaluationStore(db)
  const giveOwnFingerprints = createOwnFingerprints(context, accepted)
  bus.on(topic, fingerprints.forget)
  bus.onGap(fingerprints.forget)

  const progress = (version: string) => store.progress(verdictVersion(version))

  /** Stores the verdicts of the knowledge in force on locked fingerprints. */
  async function evaluateRows(tx: Tx, by: Knowledge, rows: readonly EvaluatedRow[]): Promise<void> {
    const known = await accepted.all(tx)
    const models = []
    const verdicts: NewVerdict[] = []
    for (const row of rows) {
      const names = namesBy(by, row)
      const { vendor, product } = modelNames(by, row)
      if (vendor !== row.vendor || product !== row.model_product)
        models.push({
          modelId: row.model_id,
          vendor,
          product,
          folded: fold([row.vid, row.pid, vendor, product].join(' ')),
        })
      const verdict = withAcceptance(reevaluate(by, row), known.get(row.policy_rule_fingerprint ?? ''))
      verdicts.push(newVerdict(row, verdict, foldedText({ ...row, ...names }, iconName(verdict.icon))))
    }
    await store.renameModels(tx, models)
    await store.writeVerdicts(tx, verdictVersion(by.info.version), verdicts)
  }

  /** Evaluates one batch of fingerprints after an id. Returns the last id, or null if none was left. */
  const evaluateFingerprints = (after: number, note: (tx: Tx, last: number, count: number) => Promise<void>) =>
    db.transaction(async (tx): Promise<number | null> => {
      const by = knowledge.current()
      const rows = await store.takeOutdated(tx, verdictVersion(by.info.version), after, fingerprintsAtOnce)
      const last = rows.at(-1)?.design_id
      if (last === undefined) return null
      await evaluateRows(tx, by, rows)
      await note(tx, last, rows.length)
      await bus.publish(tx, topic)
      return last
    })

  async function newsEvents(tx: Tx, agentIds: readonly string[], states: readonly AgentState[]): Promise<NewEvent[]> {
    const rows = await store.takeNews(tx, agentIds)
    const known = await fingerprints.byIds(rows.map((row) => row.design_id))
    const stateOf = new Map(states.map((state) => [state.agent_id, state]))
    return rows.flatMap((row) => {
      const state = mustExist(stateOf.get(row.agent_id), 'the state of a host')
      const fingerprint = mustExist(known.get(row.design_id), 'the fingerprint of a device')
      const about = { ...eventOrigin(state), ...eventDevice(fingerprint, row.serial), deviceId: row.device_id }
      const event = (kind: DeviceEventKind): NewEvent => ({ ...about, kind })
      return [...(row.news & 1 ? [event('attackTool')] : []), ...(row.news & 2 ? [event('vulnerable')] : [])]
    })
  }

  /** Evaluates one batch of hosts. Returns their number; 0 if none was left. */
  const evaluateHosts = (note: (tx: Tx, count: number) => Promise<void>): Promise<number> =>
    db.transaction(async (tx) => {
      const ids = (await store.queuedHosts(tx, hostsAtOnce)).map((row) => row.agent_id)
      if (ids.length === 0) return 0
      const states = await agents.lockStates(tx, ids)
      await decisions.reassess(tx, ids)
      const news = await newsEvents(tx, ids, states)
      await note(tx, ids.length)
      if (news.length > 0) await events.append(tx, news)
      return ids.length
    })

  /**
   * Requests new reports from hosts whose fingerprints have no stored inputs. Limits the rate, because inventories of a
   * whole fleet at once would delay other requests.
   */
  async function askForInventories(): Promise<void> {
    for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
      const hosts = await store.withoutInputs(after, inventoriesAtOnce)
      const last = hosts.at(-1)
      if (last === undefined) return
      await agents.requestInventory(db, hosts)
      after = last
      await pause()
    }
  }

  /** Runs the whole job, which can resume: fingerprints first, then the hosts whose verdicts changed. */
  async function run(job: EvaluationJob): Promise<void> {
    let after: number | null = (job.cursor as { after?: number } | null)?.after ?? 0
    const since = new Date(clock.now() - underWayMs)
    fingerprints.forget()
    const { waiting } = await progress(knowledge.current().info.version)
    let total = waiting
    if (job.data !== null && job.cursor === null)
      await db.transaction(async (tx) => {
        await store.queueArmed(tx)
        await job.save(tx, { total, cursor: { after } })
      })
    while (after !== null) {
      after = await evaluateFingerprints(after, (tx, last, count) =>
        job.save(tx, { done: count, total, cursor: { after: last } }),
      )
      fingerprints.forget()
      await yieldNow()
    }
    if (job.data !== null) await giveOwnFingerprints(yieldNow)
    total += (await progress(knowledge.current().info.version)).hosts
    // Reports that arrived in the meantime may carry the previous verdict of a fingerprint.
    do while ((await evaluateHosts((tx, count) => job.save(tx, { done: count, total }))) > 0) await yieldNow()
    while ((await db.transaction((tx) => store.queueStale(tx, since))) > 0)
    if (job.data !== null) await askForInventories()
  }

  /** Computes what other knowledge would change for all attached devices. */
  async function effectOf(other: Knowledge): Promise<Omit<KnowledgeEffect, 'version' | 'computedAt'>> {
    const found: { row: EvaluatedRow; verdict: Verdict }[] = []
    const renamed = new Set<number>()
    const known = await accepted.all(db)
    for (let after = 0; ; ) {
      const rows = await store.present(after, fingerprintsAtOnce)
      for (const row of rows) {
        const verdict = withAcceptance(reevaluate(other, row), known.get(row.policy_rule_fingerprint ?? ''))
        if (hasChanged(row, verdict)) found.push({ row, verdict })
        const { vendor, product } = modelNames(other, row)
        if (vendor !== row.vendor || product !== row.model_product) renamed.add(row.model_id)
      }
      const last = rows.at(-1)
      if (last === undefined) break
      after = last.design_id
      await yieldNow()
    }
    found.sort((a, b) => b.verdict.severity - a.verdict.severity || b.row.severity - a.row.severity)
    return {
      designs: found.length,
      devices: found.reduce((sum, { row }) => sum + row.devices, 0),
      hosts: found.length === 0 ? 0 : await store.hostsOf(found.map(({ row }) => row.design_id)),
      worse: found.filter(({ row, verdict }) => verdict.severity > row.severity).length,
      better: found.filter(({ row, verdict }) => verdict.severity < row.severity).length,
      renamed: renamed.size,
      data: found.slice(0, rowsShown).map(({ row, verdict }) => ({
        vid: row.vid,
        pid: row.pid,
        guiVid: row.vendor,
        guiPid: row.model_product || row.product,
        devIcon: row.icon,
        fingerprint: row.fingerprint,
        before: {
          severity: row.severity,
          attackTool: levels[row.attack_tool] ?? '',
          vulnerable: row.vulnerable,
          findings: row.findings,
        },
        after: {
          severity: verdict.severity,
          attackTool: verdict.attackTool ?? '',
          vulnerable: verdict.vulnerable,
          findings: verdict.findings,
        },
        agentsCount: row.hosts,
        peripheralsCount: row.devices,
      })),
    }
  }

  return {
    run,
    effectOf,
    progress,

    /**
     * Evaluates all fingerprints with a rule fingerprint again. Queues their hosts, and all armed hosts, because their policies
     * list accepted findings. Call `settle` after COMMIT.
     */
    again: async (tx: Tx, fingerprint: string): Promise<void> => {
      await evaluateRows(tx, knowledge.current(), await store.takeByPolicy(tx, fingerprint))
      await store.queueArmed(tx)
      await bus.publish(tx, topic)
    },
    /** Recalculates the decisions of queued hosts, and appends events for new findings about attached devices. */
    settle: async (): Promise<void> => {
      fingerprints.forget()
      while ((await evaluateHosts(async () => {})) > 0) await yieldNow()
    },
  }
}
