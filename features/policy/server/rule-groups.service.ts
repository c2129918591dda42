import { countText } from '@portcullis/domain'
import { AppError, invalid, notFound } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import { requireTime, utcDay } from '@portcullis/platform/server/time.ts'
import {
  type BodyOf,
  createRuleGroup,
  deleteRuleGroup,
  listRuleGroups,
  mostGroups,
  moveRules,
  type RuleGroup,
  updateRuleGroup,
} from '#features/contract.ts'
import type { PolicyContext } from './policy.context.ts'

type Content = Pick<RuleGroup, 'name' | 'owner' | 'reviewOn'>
type GroupContext = Pick<PolicyContext, 'clock' | 'groups'>

const nameOf = (name: string): string => name.trim().normalize('NFC')

const factsOf = (before: Content | null, after: Content | null) =>
  (
    [
      ['Name', 'name'],
      ['Owner', 'owner'],
      ['Review date', 'reviewOn'],
    ] as const
  )
    .map(([name, key]) => ({ name, before: before?.[key] ?? '', after: after?.[key] ?? '' }))
    .filter((fact) => fact.before !== fact.after)

/** Returns the ID of a group by name. Creates the group if it does not exist. The caller must hold the lock of the policy's head. */
export const ensureGroup = async (
  { clock, groups }: GroupContext,
  tx: Tx,
  actor: Actor,
  given: string,
  field = 'body.group',
): Promise<string> => {
  const name = nameOf(given)
  if (name === '') throw invalid(field, 'must not be empty')
  const known = await groups.idOf(tx, fold(name))
  if (known !== null) return known
  await assertRoom(groups, tx)
  const id = newId(clock.now())
  const by = actor.userName
  await groups.put(tx, {
    ...{ group_id: id, name, name_key: fold(name), owner: by, review_on: null, at: new Date(clock.now()), by },
  })
  return id
}

const assertRoom = async (groups: PolicyContext['groups'], tx: Tx): Promise<void> => {
  if ((await groups.count(tx)) >= mostGroups)
    throw new AppError('conflict', { detail: `There are already ${mostGroups} rule groups. Delete one first.` })
}

/** Registers the operations on rule groups. */
export const registerRuleGroups = (app: HttpApp, context: PolicyContext): void => {
  const { db, clock, store, groups, audit } = context
  const today = () => utcDay(clock.now())

  const existing = async (tx: Tx, id: string): Promise<RuleGroup> => {
    const group = isId(id) ? await groups.one(tx, id, today()) : undefined
    if (group === undefined) throw notFound('No rule group has this ID.')
    return group
  }

  /** Adds a group, or replaces the one with this ID. */
  const put = (actor: Actor, body: BodyOf<typeof updateRuleGroup>, id: string | null): Promise<RuleGroup> =>
    db.transaction(async (tx) => {
      await store.lockHead(tx)
      const known = id === null ? null : await existing(tx, id)
      if (
        known !== null &&
        body.ifChangedAt !== undefined &&
        Date.parse(body.ifChangedAt) !== Date.parse(known.changedAt)
      )
        throw new AppError('conflict', {
          detail: `${known.changedBy} changed this group at ${known.changedAt}. Nothing was saved. Compare the changes and save again.`,
        })
      const name = nameOf(body.name)
      if (name === '') throw invalid('body.name', 'must not be empty')
      const taken = await groups.idOf(tx, fold(name))
      if (taken !== null && taken !== known?.id)
        throw new AppError('conflict', { detail: `Another group has the name ${name}.` })
      if (known === null) await assertRoom(groups, tx)
      const groupId = known?.id ?? newId(clock.now())
      await groups.put(tx, {
        ...{ group_id: groupId, name, name_key: fold(name), owner: body.owner.trim() },
        review_on: body.reviewOn === null ? null : utcDay(requireTime('body.reviewOn', body.reviewOn).from.getTime()),
        ...{ at: new Date(clock.now()), by: actor.userName },
      })
      const group = await existing(tx, groupId)
      await audit.write(tx, actor, {
        action: known === null ? 'policy.group.created' : 'policy.group.changed',
        entity: name,
        facts: factsOf(known, group),
      })
      return group
    })

  const remove = (actor: Actor, id: string) =>
    db.transaction(async (tx) => {
      await store.lockHead(tx)
      const group = await existing(tx, id)
      await groups.remove(tx, id)
      await audit.write(tx, actor, {
        action: 'policy.group.deleted',
        entity: group.name,
        details: `${countText(group.rules, 'rule')} without a group now`,
        facts: factsOf(group, null),
      })
      return { deleted: id, rules: group.rules }
    })

  const move = (actor: Actor, { ruleIds, group }: BodyOf<typeof moveRules>) =>
    db.transaction(async (tx) => {
      await store.lockHead(tx)
      const wrong = ruleIds.findIndex((id) => !isId(id))
      if (wrong >= 0) throw invalid(`body.ruleIds[${wrong}]`, 'is not the ID of a rule')
      const rules = new Map((await store.shown(tx, ruleIds)).entries())
      for (const [i, id] of ruleIds.entries()) {
        const rule = rules.get(id.toLowerCase())
        if (rule === undefined) throw invalid(`body.ruleIds[${i}]`, 'no rule has this ID')
        if (rule.level === 'grant') throw invalid(`body.ruleIds[${i}]`, 'is a grant, which cannot be in a group')
      }
      const groupId = group === null ? null : await ensureGroup(context, tx, actor, group)
      const moved = await groups.move(tx, ruleIds, groupId)
      const after = groupId === null ? null : await existing(tx, groupId)
      if (moved.length > 0)
        await audit.write(tx, actor, {
          action: 'policy.group.rulesMoved',
          entity: after?.name ?? '',
          variant: after === null ? 'none' : '',
          count: moved.length,
          objects: moved.flatMap((id) => {
            const rule = rules.get(id)
            return rule === undefined ? [] : [{ kind: 'rule' as const, id, name: rule.sentence }]
          }),
          facts: [...new Set(moved.map((id) => rules.get(id)?.group ?? ''))].map((before) => ({
            ...{ name: 'Group', before, after: after?.name ?? '' },
          })),
        })
      return { moved: moved.length, group: after }
    })

  app.register(listRuleGroups, async () => ({ data: await groups.list(db, today()) }))
  app.register(createRuleGroup, ({ actor, body }) => put(actor, body, null))
  app.register(updateRuleGroup, ({ actor, params, body }) => put(actor, body, params.id))
  app.register(deleteRuleGroup, ({ actor, params }) => remove(actor, params.id))
  app.register(moveRules, ({ actor, body }) => move(actor, body))
}
