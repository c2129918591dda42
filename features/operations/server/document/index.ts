import { Rollback, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import { type Actor, assertPermission } from '@portcullis/platform/server/http/actor.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import {
  applyConfigDocument,
  type BodyOf,
  type ConfigDocument,
  type ResponseOf,
  readConfigDocument,
} from '#features/contract.ts'
import type { OperationsContext } from '../context.ts'

type Applied = ResponseOf<typeof applyConfigDocument>

/** Reads, compares and applies the configuration as one document, in one transaction. */
export const documentFeature = (app: HttpApp, { db, settings, tags, alerts, policy }: OperationsContext): void => {
  const read = async (): Promise<ConfigDocument> => ({
    settings: await settings.readSet(),
    tags: await tags.names(db),
    notificationGroups: (await alerts.listGroups()).map(({ updatedAt: _at, updatedBy: _by, ...group }) => group),
    rules: await policy.writtenRules(db),
  })

  async function apply(actor: Actor, given: BodyOf<typeof applyConfigDocument>, isDry: boolean): Promise<Applied> {
    const items = given.settings ?? {}
    const groups = given.notificationGroups ?? []
    if (!isDry) await settings.validateAll(actor, items)
    await alerts.validateGroups(groups)
    const wantedTags = given.tags ?? []
    const outcome = await transactionAgain(db, async (tx) => {
      await policy.lock(tx)
      // Every change of one of these locks it first and the head of the audit trail last. The rules write audit records
      // first, so taking these locks after them could deadlock.
      await settings.lock(tx)
      await alerts.lockGroups(tx)
      const known = new Set((await tags.names(tx)).map((name) => name.toLowerCase()))
      await tags.ensureTags(tx, wantedTags)
      const plan = given.rules == null ? null : await policy.planRules(tx, actor, given.rules)
      const rules = plan && (await policy.commit(tx, actor, isDry ? { ...plan, approved: 'all' } : plan))
      if (rules instanceof Rollback) return rules
      const applied: Applied = {
        rules: {
          added: (plan?.write ?? []).map(({ rule_id }) => rules?.after.get(rule_id)?.sentence ?? rule_id),
          removed: plan?.removed ?? [],
        },
        tags: { added: wantedTags.filter((name) => !known.has(name.trim().toLowerCase())) },
        notificationGroups: await alerts.changeGroups(tx, actor, groups),
        settings: await settings.applyAll(tx, actor, items, isDry),
      }
      const done = { applied, jobId: rules?.jobId ?? null }
      // A preview does all of this and rolls it back, so its result cannot differ from the real change.
      return isDry ? new Rollback(done) : done
    })
    return (await policy.finish<{ applied: Applied; jobId: string | null }>(actor, outcome)).applied
  }

  app.register(readConfigDocument, ({ actor }) => {
    assertPermission(actor, 'fleet:read')
    return read()
  })
  app.register(applyConfigDocument, ({ actor, body, query }) => {
    // The operations for tags and rules need this permission, so the document needs it too.
    if ((body.tags ?? []).length > 0 || body.rules != null) assertPermission(actor, 'fleet:write')
    return apply(actor, body, query.dryRun === true)
  })
}
