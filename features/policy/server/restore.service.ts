import { AppError, notFound } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import type { Changes } from './changes.service.ts'
import type { PolicyContext } from './policy.context.ts'
import type { PolicyStore, RuleRow } from './policy.store.ts'

/** A return to earlier rules: what to restore, and how people describe it. */
interface Return {
  dryRun: boolean
  reason: string
}

/** The stored state of a rule before a change; null: it did not exist. */
type Earlier = Awaited<ReturnType<PolicyStore['changesSince']>>[number]

export const createRestore = (
  {
    clock,
    store,
    seals,
    policySettings: settings,
    predict,
    newlyAllowed,
    longRead,
    affected,
    jobs,
    ruleTests,
  }: PolicyContext,
  { make }: Changes,
) => {
  /**
   * Plans the return of rules to an earlier state. Rules of deleted hosts are not restored. Expired rules come back as
   * expired. Restored grants last no longer than a new grant may.
   */
  const planOf = (actor: Actor, earlier: (tx: Tx, inForce: number) => Promise<Earlier[]>) => async (tx: Tx) => {
    const inForce = (await store.versionAndOwn(tx, [])).version
    const then = await earlier(tx, inForce)
    const now = new Map(
      (
        await store.byIds(
          tx,
          then.map((c) => c.rule_id),
        )
      ).map((r) => [r.rule_id, r]),
    )
    const hosts = await store.hostNames(tx, [...new Set(then.flatMap(({ before }) => before?.host ?? []))])
    const grantEnd = new Date(clock.now() + (await settings.read(tx)).grantMaxHours * 3_600_000)
    const write: RuleRow[] = []
    const remove: RuleRow[] = []
    let added = 0
    for (const { rule_id: id, before, seal } of then) {
      const current = now.get(id)
      if (before === null) {
        if (current !== undefined) remove.push(current)
        continue
      }
      if (before.host !== null && !hosts.has(before.host)) continue
      if (before.overrideAttackTool && actor.profile > 10)
        throw new AppError('forbidden_object', { detail: 'Only an Administrator can allow a known attack tool.' })
      const tag = before.tag === null ? undefined : await store.tagByName(tx, fold(before.tag))
      const was = {
        rule_id: id,
        effect: before.effect,
        is_grant: before.level === 'grant',
        vid: before.vid,
        pid: before.pid,
        serial: before.serial,
        kinds: before.kinds as RuleRow['kinds'],
        fingerprint: before.fingerprint,
        agent_id: before.host,
        tag_name: before.tag,
        expires_at: before.expiresAt === null ? null : new Date(before.expiresAt),
        reason: before.reason,
        override_attack_tool: before.overrideAttackTool,
        origin: before.origin,
      }
      if (seal === null || !seals.isAuthentic({ ...was, seal }))
        throw new AppError('conflict', {
          detail: `Cannot restore rule ${id}: its history was not written by this server.`,
        })
      // A restored grant may not last longer than a new one.
      const isTooLong = was.is_grant && was.expires_at !== null && was.expires_at > grantEnd
      const row = seals.sealed({
        ...was,
        ...(await affected.identityOf(tx, was, null)),
        // The history does not tell whether an earlier release cleaned the serial number. If in doubt, fewer devices work.
        exact_serial: current?.exact_serial ?? before.effect === 'allow',
        expires_at: isTooLong ? grantEnd : was.expires_at,
        tag_id: tag?.tag_id ?? null,
        // Versions of earlier releases have no group.
        group_id: (before.groupId === undefined ? current?.group_id : before.groupId) ?? null,
        created_at: new Date(before.createdAt),
        created_by: before.createdBy,
        changed_at: new Date(clock.now()),
        changed_by: actor.userName,
      })
      if (current?.seal.equals(row.seal) === true) continue
      if (current === undefined) added++
      write.push(row)
    }
    const replaced = write.flatMap((row) => now.get(row.rule_id) ?? [])
    return { inForce, write, remove, replaced, added, changed: write.length - added }
  }
  /** Returns the earlier state of the rules that some versions changed. Refuses rules that changed again since. */
  async function changedBy(tx: Tx, versions: readonly number[]): Promise<Earlier[]> {
    const earlier = await store.changesOf(tx, versions)
    const later = earlier.find(({ latest }) => !versions.includes(latest))
    if (later !== undefined)
      throw new AppError('conflict', {
        detail: `Version ${later.latest} changed one of these rules again. Undo that version first, or select the rules to restore in the history.`,
      })
    return earlier
  }
  async function run(
    actor: Actor,
    plan: ReturnType<typeof planOf>,
    { dryRun, reason }: Return,
    labels: { summary: string; action: 'policy.restored' | 'policy.undone'; details: string },
  ) {
    const counts = (p: Pick<Awaited<ReturnType<typeof plan>>, 'added' | 'changed' | 'remove'>) => ({
      added: p.added,
      changed: p.changed,
      deleted: p.remove.length,
    })
    if (dryRun)
      return longRead(async (tx) => {
        const p = await plan(tx)
        const rules = { gone: [...p.remove, ...p.replaced], write: p.write }
        await ruleTests.assertPass(tx, rules)
        const { stated } = await predict(tx, { rules })
        const { hosts } = await newlyAllowed.measure(tx, rules, new Date(clock.now()))
        const opened = { worksAgain: stated.worksAgain, newlyAllowed: hosts, prediction: stated }
        return { version: p.inForce, ...counts(p), jobId: null, ...opened }
      })
    const done = await make(actor, async (tx) => {
      const p = await plan(tx)
      const details = `${labels.details}: ${p.added} added, ${p.changed} changed, ${p.remove.length} deleted`
      return { ...p, ...labels, details, reason }
    })
    return { version: done.version, ...counts(done), jobId: done.jobId, worksAgain: null }
  }

  return {
    /** Restores the rules of a version. */
    to: (actor: Actor, version: number, given: Return) =>
      run(
        actor,
        planOf(actor, async (tx, inForce) => {
          if (version > inForce || !(await store.versionExists(tx, version))) throw noVersion()
          return store.changesSince(tx, version)
        }),
        given,
        { summary: `Restored version ${version}`, action: 'policy.restored', details: `version ${version}` },
      ),

    /** Reverts only the changes of one version. */
    undo: (actor: Actor, version: number, given: Return) =>
      run(
        actor,
        planOf(actor, async (tx) => {
          if (version === 0 || !(await store.versionExists(tx, version))) throw noVersion()
          return changedBy(tx, [version])
        }),
        given,
        { summary: `Undid version ${version}`, action: 'policy.undone', details: `version ${version}` },
      ),

    /** Reverts all changes of a job, in one version. */
    undoJob: async (actor: Actor, jobId: string, given: Return) => {
      const { title, state } = await jobs.read(actor, jobId)
      if (state === 'running' && !given.dryRun)
        throw new AppError('conflict', { detail: 'This job is still running. Cancel it, then undo what it changed.' })
      const labels = { summary: `Undid: ${title}`, action: 'policy.undone', details: `job ${jobId}` } as const
      return run(
        actor,
        planOf(actor, async (tx) => {
          const versions = await store.versionsOfJob(tx, jobId)
          if (state === 'completed' && versions.length === 0)
            throw new AppError('conflict', { detail: 'This job changed no rules, so there is nothing to undo.' })
          return changedBy(tx, versions)
        }),
        given,
        labels,
      )
    },
  }
}

const noVersion = (): AppError => notFound('This version of the policy does not exist.')

export type Restore = ReturnType<typeof createRestore>
