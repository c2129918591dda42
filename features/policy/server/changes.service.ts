import { countText } from '@portcullis/domain'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import { type Rollback, type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { assertFresh } from '@portcullis/platform/server/http/fresh.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import type { AuditEntry, AuditFacts } from '#features/audit/server/index.ts'
import { NeedsApprover } from '#features/change-requests/server/index.ts'
import { type AuditAction, type PolicyRuleResource, profiles } from '#features/contract.ts'
import type { PolicyContext } from './policy.context.ts'
import type { RuleRow } from './policy.store.ts'
import { ensureGroup } from './rule-groups.service.ts'
import { linesOfChange, reachOf, titleOfChange } from './shown-rules.ts'

/** A change of the rules: planned, then approved, then committed as one version of the policy and one audit record. */
export interface RuleChange {
  /** Stored rules that it deletes. */
  remove: readonly RuleRow[]
  /** Rules that it adds or replaces. */
  write: readonly RuleRow[]
  summary: string
  action: AuditAction
  details: string
  /** Reason of the person. Empty or absent if none was given. */
  reason?: string | undefined
  /** Text of the audit record in place of the rules. */
  facts?: AuditFacts | undefined
  /** Number of hosts that were already counted. `all`: a second approver approved the change. */
  approved?: number | 'all'
  /** Armed hosts that get a command to apply the policy, so that operators can follow its delivery and expiry. */
  armed?: readonly string[]
  /** Name of the group for the written rules, created if needed. Null: no group. Absent: the group in each rule. */
  group?: string | null | undefined
  /** Job that makes the change in steps. */
  jobId?: string | undefined
}

/** Adds the reason of a change to the details of its audit record. */
export const because = (details: string, reason: string): string =>
  reason === '' ? details : `${details}, reason: ${reason}`

/** A rule in a stored request: JSON has neither times nor bytes. */
type CarriedRule = Omit<RuleRow, 'expires_at' | 'created_at' | 'changed_at' | 'seal' | 'identity_seal'> & {
  expires_at: string | null
  created_at: string
  changed_at: string
  seal: string
  identity_seal?: string | null
}

/** A rule change that waits for a second approver. */
interface CarriedChange {
  /** Reason of the requester. Absent if none was given. */
  reason?: string
  title: string
  hosts: number
  /** True if it allows devices on hosts that no rule names, so hosts that enrolled since the request count as shown. */
  isForAnyHost?: boolean
  remove: readonly string[]
  write: readonly CarriedRule[]
  /** Seals of the rules that it replaces or deletes, by id; null: no rule had this id. */
  replaced: Readonly<Record<string, string | null>>
  summary: string
  action: AuditAction
  details: string
  stated?: AuditFacts
  group?: string | null
}

const carried = (r: RuleRow): CarriedRule => ({
  ...r,
  expires_at: r.expires_at?.toISOString() ?? null,
  created_at: r.created_at.toISOString(),
  changed_at: r.changed_at.toISOString(),
  seal: r.seal.toString('base64'),
  identity_seal: r.identity_seal?.toString('base64') ?? null,
})

const uncarried = (r: CarriedRule): RuleRow => ({
  ...r,
  expires_at: r.expires_at === null ? null : new Date(r.expires_at),
  created_at: new Date(r.created_at),
  changed_at: new Date(r.changed_at),
  seal: Buffer.from(r.seal, 'base64'),
  identity_seal: typeof r.identity_seal === 'string' ? Buffer.from(r.identity_seal, 'base64') : null,
})

/** Returns the sentence of a rule without its reason, which the record states on its own. */
const textOf = ({ sentence, reason }: PolicyRuleResource): string =>
  sentence.endsWith(`: ${reason}`) ? sentence.slice(0, -reason.length - 2) : sentence

/** Returns what the audit record of changed rules states. */
const ruleFacts = (
  before: ReadonlyMap<string, PolicyRuleResource>,
  after: ReadonlyMap<string, PolicyRuleResource>,
  remove: readonly Pick<RuleRow, 'rule_id'>[],
): AuditFacts => {
  const removed = new Set(remove.map(({ rule_id }) => rule_id))
  const ids = [...removed, ...after.keys()]
  const [only] = ids.length === 1 ? ids.map((id) => after.get(id) ?? before.get(id)) : []
  return {
    count: ids.length,
    reason: only?.reason ?? '',
    objects: ids.flatMap((id) => {
      const rule = after.get(id) ?? before.get(id)
      return rule === undefined ? [] : [{ kind: 'rule' as const, id, name: textOf(rule) }]
    }),
    facts: ids.flatMap((id) => {
      const [was, is] = [before.get(id), removed.has(id) ? undefined : after.get(id)]
      if (was === undefined && is === undefined) return []
      return [{ name: 'Rule', before: was === undefined ? '' : textOf(was), after: is === undefined ? '' : textOf(is) }]
    }),
  }
}

/** Number of hosts whose decisions are recalculated before the response. More hosts become a job. */
const hostsAtOnce = 200

export const jobKind = 'policy'

/** A change in force. */
export interface Committed {
  version: number
  /** False if there was nothing to change. */
  isChanged: boolean
  /** Job that recalculates decisions; null: they are recalculated before the response. */
  jobId: string | null
  /** Written rules by id, as people see them. */
  after: ReadonlyMap<string, PolicyRuleResource>
}

const moved = (why: string): AppError =>
  new AppError('conflict', { detail: `This request is out of date. ${why} Request it again.` })

/** Approves and commits changes of the rules. */
export const createChanges = (context: PolicyContext) => {
  const { db, clock, store, audit, affected, integrity, newlyAllowed, changeRequests, jobs, commands } = context
  const { announceChange, settle, ruleTests } = context
  /** Returns the request for a second approver; null: one person may make the change. */
  async function approve(
    tx: Tx,
    actor: Actor,
    change: RuleChange,
    old: readonly RuleRow[],
  ): Promise<NeedsApprover | null> {
    const { remove, write, summary, action, details, reason = '', facts, approved = 0 } = change
    if (approved === 'all') return null
    if (write.some((r) => r.override_attack_tool)) assertFresh(actor, clock.now())
    const measured = { gone: old, write }
    const { hosts, isForLaterHosts, isForAnyHost } = await newlyAllowed.measure(tx, measured, new Date(clock.now()))
    if (isForAnyHost && actor.kind === 'apiToken') throw new AppError('named_hosts_required')
    const counted = Math.max(0, hosts - approved)
    const refused = await changeRequests.take(tx, actor, { kind: 'allow', hosts: counted, isForLaterHosts })
    if (refused === null) return null
    const seals = new Map(old.map((r) => [r.rule_id, r.seal.toString('base64')]))
    const names = await store.hostNames(tx, [...new Set([...old, ...write].flatMap((r) => r.agent_id ?? []))])
    const request: CarriedChange = {
      ...(reason === '' ? {} : { reason }),
      title: titleOfChange(measured, names, { hosts, isForLaterHosts }),
      ...{ hosts, isForAnyHost, summary, action },
      remove: remove.map((r) => r.rule_id),
      write: write.map(carried),
      replaced: Object.fromEntries([...remove, ...write].map(({ rule_id }) => [rule_id, seals.get(rule_id) ?? null])),
      details: because(details, reason),
      ...(facts === undefined ? {} : { stated: facts }),
      ...(change.group === undefined ? {} : { group: change.group }),
    }
    const detail = `This allows attack tools on ${reachOf(hosts, true)}. Request {id} waits for a second approver.`
    return new NeedsApprover({ kind: 'rules', change: request, ...(isForLaterHosts ? { detail } : refused) })
  }

  /** Returns the rules with a group; null: without one. */
  async function inGroup(tx: Tx, actor: Actor, rows: readonly RuleRow[], group: string | null): Promise<RuleRow[]> {
    const id = group === null || rows.length === 0 ? null : await ensureGroup(context, tx, actor, group)
    return rows.map((row) => ({ ...row, group_id: id }))
  }

  /**
   * Approves a change and writes its rules, its version with the history, and the affected hosts. Returns the audit record,
   * which the caller writes last. If the change needs a second approver, the caller returns that from its transaction.
   */
  async function write(
    tx: Tx,
    actor: Actor,
    change: RuleChange,
  ): Promise<(Committed & { record: AuditEntry | null }) | NeedsApprover> {
    const { remove, summary, action, details, reason = '', group, jobId: madeBy = null } = change
    const head = await store.lockHead(tx)
    const ids = [...remove, ...change.write].map((r) => r.rule_id)
    if (ids.length === 0) return { version: head, isChanged: false, jobId: null, after: new Map(), record: null }
    const before = await store.shown(tx, ids)
    const old = await store.byIds(tx, [...before.keys()])
    await ruleTests.assertPass(tx, { gone: old, write: change.write })
    const waits = await approve(tx, actor, change, old)
    if (waits !== null) return waits
    const hadWideAllow = await affected.hasWideAllow(tx)
    const rules = group === undefined ? change.write : await inGroup(tx, actor, change.write, group)
    await store.remove(
      tx,
      remove.map((r) => r.rule_id),
    )
    await store.write(tx, rules)
    const after = await store.shown(
      tx,
      rules.map((r) => r.rule_id),
    )
    const version = head + 1
    const sealOf = new Map(old.map((r) => [r.rule_id, r.seal]))
    await store.addVersion(
      tx,
      { version, at: new Date(clock.now()), by: actor.userName, summary, jobId: madeBy },
      ids.map((ruleId) => ({
        ruleId,
        before: before.get(ruleId) ?? null,
        after: after.get(ruleId) ?? null,
        seal: sealOf.get(ruleId) ?? null,
      })),
    )
    await integrity.changed(tx, version, old, rules)
    const queued = await affected.queue(tx, [...old, ...rules], hadWideAllow)
    const job = { kind: jobKind, title: summary, total: queued }
    const jobId = queued > hostsAtOnce ? await jobs.enqueue(tx, actor, job) : null
    if (jobId !== null) await affected.giveJob(tx, jobId)
    await announceChange(tx)
    const record: AuditEntry = {
      ...{ action, entity: summary, details: because(details, reason), severity: 4 },
      ...ruleFacts(before, after, remove),
      ...(reason === '' ? {} : { reason }),
      ...change.facts,
    }
    if (typeof group === 'string') record.facts = [...(record.facts ?? []), { name: 'Group', before: '', after: group }]
    return { version, isChanged: true, jobId, after, record }
  }

  /** Approves and commits a change in the transaction of the caller. */
  async function commit(tx: Tx, actor: Actor, change: RuleChange): Promise<Committed | NeedsApprover> {
    const done = await write(tx, actor, change)
    if (done instanceof NeedsApprover || done.record === null) return done
    const { armed = [] } = change
    const command = { kind: 'policy', title: 'Apply policy', body: { version: done.version } } as const
    if (armed.length > 0)
      await commands.queue(
        tx,
        actor,
        armed.map((agentId) => ({ agentId, ...command })),
      )
    await audit.write(tx, actor, done.record)
    return done
  }

  /** Returns the result of a transaction that changed rules. Recalculates the decisions of few hosts before that. */
  async function finish<T extends { jobId: string | null }>(actor: Actor, outcome: T | Rollback<T>): Promise<T> {
    const done = await changeRequests.settle(actor, outcome)
    if (done.jobId === null) await settle()
    return done
  }

  /** Plans a change while no other change of the rules can commit, then approves and commits it. */
  async function make<Plan extends RuleChange>(
    actor: Actor,
    plan: (tx: Tx) => Promise<Plan>,
  ): Promise<Plan & Committed> {
    const outcome = await transactionAgain(db, async (tx) => {
      await store.lockHead(tx)
      const change = await plan(tx)
      const done = await commit(tx, actor, change)
      return done instanceof NeedsApprover ? done : { ...change, ...done }
    })
    return finish<Plan & Committed>(actor, outcome)
  }

  changeRequests.handle<CarriedChange>('rules', {
    action: 'rules',
    title: ({ title }) => title,
    details: async (tx, { reason, remove, replaced, ...request }) => {
      const write = request.write.map(uncarried)
      const gone = await store.byIds(tx, Object.keys(replaced))
      const names = await store.hostNames(tx, [...new Set([...gone, ...write].flatMap((r) => r.agent_id ?? []))])
      const known = new Set(gone.map((r) => r.rule_id))
      return [
        ...(reason === undefined ? [] : [`Reason: ${reason}`]),
        ...(typeof request.group === 'string' ? [`Group: ${request.group}`] : []),
        ...linesOfChange({ gone, write }, names),
        ...remove.filter((id) => !known.has(id)).map((id) => `Delete the rule ${id}, which no longer exists`),
      ]
    },
    hosts: ({ hosts }) => hosts,
    approver: profiles.manager,
    carryOut: async (tx, actor, request) => {
      await store.lockHead(tx)
      const write = request.write.map(uncarried)
      const old = await store.byIds(tx, Object.keys(request.replaced))
      const now = new Map(old.map((r) => [r.rule_id, r.seal.toString('base64')]))
      for (const [id, seal] of Object.entries(request.replaced))
        if ((now.get(id) ?? null) !== seal) throw moved('A rule in this request was changed or deleted.')
      if (write.some((r) => r.expires_at !== null && r.expires_at.getTime() <= clock.now()))
        throw moved('A rule in this request has expired.')
      const known = await store.hostNames(tx, [...new Set(write.flatMap((r) => r.agent_id ?? []))])
      for (const r of write) {
        if (r.agent_id !== null && !known.has(r.agent_id)) throw moved('A host was deleted.')
        if (r.tag_name !== null && (await store.tagByName(tx, fold(r.tag_name)))?.tag_id !== r.tag_id)
          throw moved('A tag was deleted or created again.')
      }
      const { hosts, isForAnyHost } = await newlyAllowed.measure(tx, { gone: old, write }, new Date(clock.now()))
      const isShown = hosts <= request.hosts || (isForAnyHost && request.isForAnyHost === true)
      if (!isShown) throw moved(`It would newly allow devices on ${countText(hosts, 'host')}, not ${request.hosts}.`)
      const removed = new Set(request.remove)
      const { summary, action, details, stated: facts } = request
      const remove = old.filter((r) => removed.has(r.rule_id))
      const done = await commit(tx, actor, {
        ...{ remove, write, summary, action, details, facts, group: request.group, approved: 'all' },
      })
      return done instanceof NeedsApprover || done.jobId !== null ? undefined : settle
    },
  })

  return { write, commit, finish, make }
}

export type Changes = ReturnType<typeof createChanges>
