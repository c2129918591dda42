import type {
  AuditAction,
  PolicyChange,
  PolicyGrantInput,
  PolicyRuleInput,
  PolicyRuleResource,
  PolicyWarning,
} from '@portcullis/contract'
import { profiles } from '@portcullis/contract'
import { AppError, invalid, notFound } from '@portcullis/platform/server/app-error.ts'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import { type Db, type Queryable, type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { assertFresh } from '@portcullis/platform/server/http/fresh.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import type { Log } from '@portcullis/platform/server/log.ts'
import type { Audit, AuditFacts } from '#features/audit/server/index.ts'
import { type ChangeRequestsApi, NeedsApprover } from '#features/change-requests/server/index.ts'
import type { Affected } from './affected.ts'
import { because, type CarriedChange, carried, ruleFacts, uncarried } from './change-record.ts'
import type { NewlyAllowed } from './newly-allowed.ts'
import { inBrackets, type WrittenRule, writtenRule } from './policy.rules.ts'
import type { PolicySettingsApi } from './policy.settings.ts'
import { type PolicyStore, type RuleRow, writtenForm } from './policy.store.ts'
import { warningsOf } from './policy.warnings.ts'
import type { PolicyHostsStore } from './policy-hosts.store.ts'
import type { RuleIntegrity } from './rule-integrity.ts'
import type { RulePrints } from './rule-prints.ts'
import type { IdentityPart, Seals } from './seal.ts'
import { linesOfRequest, reachOf, titleOfChange } from './shown-rules.ts'

export interface ChangesDeps {
  db: Db
  clock: Clock
  log: Log
  store: PolicyStore
  seals: Seals
  settings: PolicySettingsApi
  audit: Audit
  hosts: Pick<PolicyHostsStore, 'giveJob'>
  affected: Affected
  rulePrints: RulePrints
  integrity: Pick<RuleIntegrity, 'changed'>
  newlyAllowed: Pick<NewlyAllowed, 'measure'>
  changeRequests: Pick<ChangeRequestsApi, 'handle' | 'takeAllowed' | 'require'>
  /** Starts the job that recalculates the decisions of this number of hosts. Returns the id of the job. */
  startJob(tx: Tx, actor: Actor, hosts: number, title: string): Promise<string>
  /** Notifies every replica at COMMIT. */
  announceChange(tx: Tx): Promise<void>
  /** Recalculates queued decisions. */
  drain(): Promise<void>
}

/** Number of hosts whose decisions are recalculated before the response. More hosts become a job. */
const hostsAtOnce = 200

/** The rules that a change removes and adds. */
export interface RuleChanges {
  remove: readonly RuleRow[]
  write: readonly RuleRow[]
  reason?: string | undefined
  /** Text of the audit record in place of the rules. */
  stated?: AuditFacts
}

class DryRun extends Error {}

const inputOf = (row: RuleRow): PolicyRuleInput => ({
  effect: row.effect,
  ...(row.vid === null ? {} : { vid: row.vid }),
  ...(row.pid === null ? {} : { pid: row.pid }),
  ...(row.serial === null ? {} : { serial: row.serial }),
  ...(row.kinds === null ? {} : { kinds: row.kinds }),
  ...(row.fingerprint === null ? {} : { fingerprint: row.fingerprint }),
  ...(row.agent_id === null ? {} : { host: row.agent_id }),
  ...(row.tag_name === null ? {} : { tag: row.tag_name }),
  ...(row.expires_at === null ? {} : { expiresAt: row.expires_at.toISOString() }),
  reason: row.reason,
  ...(row.override_attack_tool ? { overrideAttackTool: true } : {}),
})

/** Returns the same text for rules with the same content. */
const contentOf = (row: RuleRow): string => {
  const { kinds, ...rest } = inputOf(row)
  return JSON.stringify([rest, kinds === null || kinds === undefined ? null : [...kinds].sort()])
}

export const createChanges = ({
  db,
  clock,
  log,
  store,
  seals,
  settings,
  audit,
  hosts,
  affected,
  rulePrints,
  integrity,
  newlyAllowed,
  changeRequests,
  startJob,
  announceChange,
  drain,
}: ChangesDeps) => {
  /** Converts a written rule into a sealed row. The host and the tag must exist. */
  async function rowOf(
    tx: Queryable,
    written: WrittenRule,
    actor: Actor,
    known: RuleRow | null,
    field: string,
  ): Promise<RuleRow> {
    const now = new Date(clock.now())
    let tag: { tag_id: number; name: string } | undefined
    if (written.tag_name !== null) {
      tag = await store.tagByName(tx, fold(written.tag_name))
      if (tag === undefined) throw invalid(`${field}.tag`, `tag ${written.tag_name} does not exist`)
    }
    if (written.agent_id !== null && !(await store.hostExists(tx, written.agent_id)))
      throw invalid(`${field}.host`, 'no agent has this uuid')
    return seals.sealed({
      ...written,
      ...(await identityOf(tx, written, known)),
      rule_id: known?.rule_id ?? newId(clock.now()),
      tag_id: tag?.tag_id ?? null,
      tag_name: tag?.name ?? null,
      origin: known?.origin ?? 'rule',
      created_at: known?.created_at ?? now,
      created_by: known?.created_by ?? actor.userName,
      changed_at: now,
      changed_by: actor.userName,
    })
  }

  /** Returns what a written rule binds. A serial number that an earlier release cleaned keeps its mark until somebody changes it. */
  async function identityOf(
    tx: Queryable,
    { fingerprint, serial }: Pick<RuleRow, 'fingerprint' | 'serial'>,
    known: RuleRow | null,
  ): Promise<Required<IdentityPart>> {
    return {
      rule_fingerprint: fingerprint === null ? null : ((await rulePrints(tx, [fingerprint])).get(fingerprint) ?? null),
      exact_serial: known === null || known.serial !== serial || known.exact_serial === true,
    }
  }

  /**
   * Commits rule changes: one version, its history, the affected hosts and the audit record. The caller has locked the
   * head (`store.lockHead`). Returns the new version.
   */
  async function commit(
    tx: Tx,
    actor: Actor,
    { remove, write, reason = '', stated }: RuleChanges,
    summary: string,
    action: AuditAction,
    details: string,
    /** Other parts of the change that lock hosts. */
    lockedWork: (version: number) => Promise<unknown> = async () => {},
    /** Number of hosts already counted for this change. Infinity: a second approver approved it. */
    granted = 0,
  ): Promise<{ version: number; jobId: string | null; after: ReadonlyMap<string, PolicyRuleResource> }> {
    const [head, before] = [
      (await store.versionAndOwn(tx, [])).version,
      await store.shown(
        tx,
        [...remove, ...write].map((r) => r.rule_id),
      ),
    ]
    const old = await store.byIds(tx, [...before.keys()])
    const sealOf = new Map(old.map((r) => [r.rule_id, r.seal]))
    if (granted !== Number.POSITIVE_INFINITY) {
      if (write.some((r) => r.override_attack_tool)) assertFresh(actor, clock.now())
      await assertAlone(
        tx,
        actor,
        { remove, write, old, reason },
        { summary, action, details: because(details, reason), ...(stated === undefined ? {} : { stated }) },
        granted,
      )
    }
    const hadWideAllow = await affected.hasWideAllow(tx)
    await store.remove(
      tx,
      remove.map((r) => r.rule_id),
    )
    await store.write(tx, write)
    const after = await store.shown(
      tx,
      write.map((r) => r.rule_id),
    )
    const version = head + 1
    await store.addVersion(tx, version, new Date(clock.now()), actor.userName, summary, [
      ...remove.map((r) => ({
        ruleId: r.rule_id,
        before: before.get(r.rule_id) ?? null,
        after: null,
        seal: sealOf.get(r.rule_id) ?? null,
      })),
      ...write.map((r) => ({
        ruleId: r.rule_id,
        before: before.get(r.rule_id) ?? null,
        after: after.get(r.rule_id) ?? null,
        seal: sealOf.get(r.rule_id) ?? null,
      })),
    ])
    await integrity.changed(tx, version, old, write)
    const queued = await affected.queue(tx, [...old, ...write], hadWideAllow)
    const jobId = queued > hostsAtOnce ? await startJob(tx, actor, queued, summary) : null
    if (jobId !== null) await hosts.giveJob(tx, jobId)
    await announceChange(tx)
    await lockedWork(version)
    await audit.write(tx, actor, {
      action,
      entity: summary,
      details: because(details, reason),
      severity: 4,
      ...ruleFacts(before, after, remove),
      ...(reason === '' ? {} : { reason }),
      ...stated,
    })
    return { version, jobId, after }
  }

  changeRequests.handle<CarriedChange>('rules', {
    action: 'rules',
    title: ({ title }) => title,
    details: (tx, request) => linesOfRequest(tx, store, request),
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
      if (!isShown) throw moved(`It would newly allow devices on ${hosts} hosts, not ${request.hosts}.`)
      const removed = new Set(request.remove)
      const remove = old.filter((r) => removed.has(r.rule_id))
      const { summary, action, details, stated } = request
      const { jobId } = await commit(
        tx,
        actor,
        { remove, write, ...(stated === undefined ? {} : { stated }) },
        summary,
        action,
        details,
        undefined,
        Number.POSITIVE_INFINITY,
      )
      return jobId === null ? settle : undefined
    },
  })

  const moved = (why: string): AppError =>
    new AppError('conflict', { detail: `This request is out of date. ${why} Request it again.` })

  /** Refuses a change that newly allows devices on more hosts than one person may open alone. */
  async function assertAlone(
    tx: Tx,
    actor: Actor,
    { remove, write, old, reason = '' }: RuleChanges & { old: readonly RuleRow[] },
    texts: Pick<CarriedChange, 'summary' | 'action' | 'details' | 'stated'>,
    granted: number,
  ): Promise<void> {
    const { hosts, isForLaterHosts, isForAnyHost } = await newlyAllowed.measure(
      tx,
      { gone: old, write },
      new Date(clock.now()),
    )
    if (isForAnyHost && actor.kind === 'apiToken') throw new AppError('named_hosts_required')
    const limit = await changeRequests.takeAllowed(tx, actor, Math.max(0, hosts - granted), isForLaterHosts)
    if (limit === null) return
    const sealOf = new Map(old.map((r) => [r.rule_id, r.seal.toString('base64')]))
    const ids = [...remove, ...write].map((r) => r.rule_id)
    const named = [...old, ...write].flatMap((r) => (r.agent_id === null ? [] : [r.agent_id]))
    const names = await store.hostNames(tx, [...new Set(named)])
    throw new NeedsApprover<CarriedChange>({
      kind: 'rules',
      ...(isForLaterHosts
        ? {
            detail: `This allows attack tools on ${reachOf(hosts, true)}. Request {id} waits for a second approver.`,
          }
        : { limit }),
      change: {
        ...(reason === '' ? {} : { reason }),
        title: titleOfChange({ gone: old, write }, names, { hosts, isForLaterHosts }),
        hosts,
        isForAnyHost,
        remove: remove.map((r) => r.rule_id),
        write: write.map(carried),
        replaced: Object.fromEntries(ids.map((id) => [id, sealOf.get(id) ?? null])),
        ...texts,
      },
    })
  }

  // The change is in force. If this recalculation of decisions fails, the timer repeats it.
  const settle = (): Promise<void> =>
    drain().catch((error: unknown) =>
      log.warn({ err: error }, 'cannot recalculate the decisions; the timer retries in a second'),
    )

  /** Runs a change in its transaction. If few hosts are affected, recalculates their decisions before the response. */
  async function change<T extends { jobId: string | null }>(actor: Actor, work: (tx: Tx) => Promise<T>): Promise<T> {
    const done = await transactionAgain(db, async (tx) => {
      await store.lockHead(tx)
      return work(tx)
    }).catch((error: unknown) => {
      // The transaction was rolled back, so the request is stored in another one.
      if (error instanceof NeedsApprover) return changeRequests.require(actor, error.proposed)
      throw error
    })
    if (done.jobId === null) await settle()
    return done
  }

  const answer = (
    done: { version: number; jobId: string | null; after: ReadonlyMap<string, PolicyRuleResource> },
    id: string | null,
    warnings: PolicyWarning[],
  ): PolicyChange & { jobId: string | null } => ({
    version: done.version,
    rule: id === null ? null : (done.after.get(id) ?? null),
    warnings,
    jobId: done.jobId,
  })

  async function existing(tx: Tx, id: string, isGrant: boolean): Promise<RuleRow> {
    const [row] = isId(id) ? await store.byIds(tx, [id]) : []
    if (row === undefined || row.is_grant !== isGrant) throw notFound(`No ${isGrant ? 'grant' : 'rule'} has this id.`)
    return row
  }

  const written = async (tx: Queryable, actor: Actor, input: PolicyRuleInput | PolicyGrantInput, isGrant: boolean) =>
    writtenRule(input, {
      actor,
      now: clock.now(),
      field: 'body',
      grantMaxHours: isGrant ? (await settings.read(tx)).grantMaxHours : null,
    })

  const noun = (isGrant: boolean): 'grant' | 'rule' => (isGrant ? 'grant' : 'rule')
  const sentenceOf = (after: ReadonlyMap<string, PolicyRuleResource>, id: string): string =>
    after.get(id)?.sentence ?? id

  return {
    commit,
    change,
    sealed: seals.sealed<Omit<RuleRow, 'seal'>>,
    identityOf,

    create: (actor: Actor, input: PolicyRuleInput | PolicyGrantInput, isGrant: boolean): Promise<PolicyChange> =>
      change(actor, async (tx) => {
        const row = await rowOf(tx, await written(tx, actor, input, isGrant), actor, null, 'body')
        const warnings = warningsOf(row, await store.beside(tx, row.agent_id))
        const override = row.override_attack_tool ? ' It allows a known attack tool.' : ''
        const done = await commit(
          tx,
          actor,
          { remove: [], write: [row] },
          `Added a ${noun(isGrant)}${inBrackets(row.reason)}`,
          `policy.${noun(isGrant)}.created`,
          `${JSON.stringify(writtenForm(row))}${override}`,
        )
        return answer(done, row.rule_id, warnings)
      }),

    replace: (
      actor: Actor,
      id: string,
      input: PolicyRuleInput | PolicyGrantInput,
      isGrant: boolean,
    ): Promise<PolicyChange> =>
      change(actor, async (tx) => {
        const old = await existing(tx, id, isGrant)
        const row = await rowOf(tx, await written(tx, actor, input, isGrant), actor, old, 'body')
        const others = (await store.beside(tx, row.agent_id)).filter((other) => other.rule_id !== id)
        const warnings = warningsOf(row, others)
        const done = await commit(
          tx,
          actor,
          { remove: [], write: [row] },
          `Changed a ${noun(isGrant)}${inBrackets(row.reason)}`,
          `policy.${noun(isGrant)}.changed`,
          `from ${JSON.stringify(writtenForm(old))} to ${JSON.stringify(writtenForm(row))}`,
        )
        return answer(done, id, warnings)
      }),

    /**
     * Returns the rules that people wrote, in the form in which they write them. The order does not depend on time, so
     * documents compare.
     */
    writtenRules: async (q: Queryable): Promise<PolicyRuleInput[]> =>
      (await store.writtenRules(q))
        .map((row) => [contentOf(row), inputOf(row)] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, input]) => input),

    /**
     * Replaces the rules that people wrote by exactly these; null keeps the current ones. Other work of the same
     * transaction runs before and after it. Work that locks the audit trail belongs after it, because this function
     * locks hosts.
     *
     * A dry run does all of this and rolls it back, so its result cannot differ from the real change.
     */
    replaceRules: async <T>(
      actor: Actor,
      inputs: readonly PolicyRuleInput[] | null,
      { before: prepare, after: conclude }: { before(tx: Tx): Promise<unknown>; after(tx: Tx): Promise<T> },
      isDry: boolean,
    ): Promise<{ alongside: T; added: string[]; removed: string[] }> => {
      type Done = { alongside: T; added: string[]; removed: string[]; jobId: string | null }
      const dry: Done[] = []
      try {
        return await change<Done>(actor, async (tx) => {
          await prepare(tx)
          const rules: Omit<Done, 'alongside'> = { added: [], removed: [], jobId: null }
          const before = inputs === null ? [] : await store.writtenRules(tx)
          const left = Map.groupBy(before, contentOf)
          const write: RuleRow[] = []
          for (const [i, input] of (inputs ?? []).entries()) {
            const field = `body.rules[${i}]`
            const given = writtenRule(input, { actor, now: clock.now(), field, grantMaxHours: null })
            const row = await rowOf(tx, given, actor, null, field)
            if (left.get(contentOf(row))?.shift() === undefined) write.push(row)
          }
          const remove = [...left.values()].flat()
          if (write.length + remove.length > 0) {
            const removed = await store.shown(
              tx,
              remove.map((row) => row.rule_id),
            )
            const { after, jobId } = await commit(
              tx,
              actor,
              { remove, write },
              `Rules of a document: ${write.length} added, ${remove.length} deleted`,
              'policy.replaced',
              `${write.length} added, ${remove.length} deleted`,
              undefined,
              isDry ? Number.POSITIVE_INFINITY : 0,
            )
            rules.added = write.map((row) => sentenceOf(after, row.rule_id))
            rules.removed = remove.map((row) => sentenceOf(removed, row.rule_id))
            rules.jobId = jobId
          }
          const done: Done = { ...rules, alongside: await conclude(tx) }
          if (isDry) {
            dry.push(done)
            throw new DryRun()
          }
          return done
        })
      } catch (error) {
        const [done] = dry
        if (error instanceof DryRun && done !== undefined) return done
        throw error
      }
    },

    remove: (actor: Actor, id: string, isGrant: boolean, reason?: string): Promise<PolicyChange> =>
      change(actor, async (tx) => {
        const old = await existing(tx, id, isGrant)
        const shown = await store.shown(tx, [id])
        const done = await commit(
          tx,
          actor,
          { remove: [old], write: [], reason },
          `${isGrant ? 'Ended' : 'Deleted'}: ${sentenceOf(shown, id)}`.slice(0, 500),
          `policy.${noun(isGrant)}.deleted`,
          JSON.stringify(writtenForm(old)),
        )
        return answer(done, null, [])
      }),
  }
}

export type Changes = ReturnType<typeof createChanges>
