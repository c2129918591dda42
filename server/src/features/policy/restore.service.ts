import { AppError, notFound } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Actor } from '#platform/http/actor.ts'
import { fold } from '#platform/list/columns.ts'
import type { Changes } from './changes.service.ts'
import type { Drafts } from './draft.service.ts'
import type { LongRead } from './long.read.ts'
import type { PolicySettingsApi } from './policy.settings.ts'
import type { PolicyStore, RuleRow } from './policy.store.ts'
import type { Seals } from './seal.ts'

export interface RestoreDeps {
  clock: Clock
  store: PolicyStore
  changes: Pick<Changes, 'change' | 'commit' | 'sealed'>
  seals: Seals
  settings: PolicySettingsApi
  drafts: Pick<Drafts, 'worksAgain'>
  longRead: LongRead
}

/**
 * Makes the rules what they were at a version. Rules of hosts that are gone stay away; ended ones come back ended, grants for no
 * longer than one may last today.
 */
export const createRestore =
  ({ clock, store, changes, seals, settings, drafts, longRead }: RestoreDeps) =>
  async (actor: Actor, version: number, { dryRun, reason }: { dryRun: boolean; reason: string }) => {
    const plan = async (tx: Tx) => {
      const inForce = (await store.versionAndOwn(tx, [])).version
      if (version > inForce || !(await store.versionExists(tx, version)))
        throw notFound('There is no such version of the policy.')
      const then = await store.changesSince(tx, version)
      const now = new Map(
        (
          await store.byIds(
            tx,
            then.map((c) => c.rule_id),
          )
        ).map((r) => [r.rule_id, r]),
      )
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
        if (before.host !== null && !(await store.hostExists(tx, before.host))) continue
        if (before.overrideAttackTool && actor.profile > 10)
          throw new AppError('forbidden_object', { detail: 'Only an Administrator allows a known attack tool.' })
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
            detail: `Rule ${id} was changed in the history by somebody else than this server: it is not brought back.`,
          })
        // A grant may not last longer than one that is made today.
        const isTooLong = was.is_grant && was.expires_at !== null && was.expires_at > grantEnd
        const row = changes.sealed({
          ...was,
          expires_at: isTooLong ? grantEnd : was.expires_at,
          tag_id: tag?.tag_id ?? null,
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
    const counts = (p: Awaited<ReturnType<typeof plan>>) => ({
      added: p.added,
      changed: p.changed,
      deleted: p.remove.length,
    })
    if (dryRun)
      return longRead(async (tx) => {
        const p = await plan(tx)
        const worksAgain = await drafts.worksAgain(tx, { removed: [...p.remove, ...p.replaced], added: p.write })
        return { version: p.inForce, ...counts(p), jobId: null, worksAgain }
      })
    return changes.change(actor, async (tx) => {
      const p = await plan(tx)
      if (p.write.length + p.remove.length === 0)
        return { version: p.inForce, ...counts(p), jobId: null, worksAgain: null }
      const done = await changes.commit(
        tx,
        actor,
        p,
        `Back to version ${version}`,
        'policy.restored',
        `version ${version}: ${p.added} added, ${p.changed} changed, ${p.remove.length} deleted${reason === '' ? '' : `, reason: ${reason}`}`,
      )
      return { version: done.version, ...counts(p), jobId: done.jobId, worksAgain: null }
    })
  }

export type Restore = ReturnType<typeof createRestore>
