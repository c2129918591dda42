import { AppError, invalid, notFound } from '@portcullis/platform/server/app-error.ts'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import type {
  PolicyChange,
  PolicyRuleBody,
  PolicyRuleInput,
  PolicyRuleResource,
  PolicyWarning,
} from '#features/contract.ts'
import type { Changes, RuleChange } from './changes.service.ts'
import type { PolicyContext } from './policy.context.ts'
import { inBrackets, type WrittenRule, writtenRule } from './policy.rules.ts'
import { type RuleRow, writtenForm } from './policy.store.ts'
import { warningsOf } from './warnings.ts'

const kindOf = (isGrant: boolean) => (isGrant ? 'grant' : 'rule')

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

/** Rules and grants that people write, change and delete one by one or as a whole. */
export const createRules = (
  { clock, store, seals, policySettings: settings, affected }: PolicyContext,
  { make }: Changes,
) => {
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
      ...(await affected.identityOf(tx, written, known)),
      rule_id: known?.rule_id ?? newId(clock.now()),
      tag_id: tag?.tag_id ?? null,
      tag_name: tag?.name ?? null,
      origin: known?.origin ?? 'rule',
      group_id: known?.group_id ?? null,
      created_at: known?.created_at ?? now,
      created_by: known?.created_by ?? actor.userName,
      changed_at: now,
      changed_by: actor.userName,
    })
  }

  const sentenceOf = (shown: ReadonlyMap<string, PolicyRuleResource>, id: string): string =>
    shown.get(id)?.sentence ?? id

  /**
   * Returns the stored rule with this id. `isGrant`: it must be a grant, or must not be one. `ifChangedAt`: it must not have
   * changed since.
   */
  async function existing(
    tx: Tx,
    id: string,
    isGrant: boolean | undefined,
    ifChangedAt: string | undefined,
  ): Promise<RuleRow> {
    const [row] = isId(id) ? await store.byIds(tx, [id]) : []
    if (row === undefined || row.is_grant !== (isGrant ?? row.is_grant))
      throw notFound(`No ${kindOf(isGrant === true)} has this id.`)
    if (ifChangedAt !== undefined && new Date(ifChangedAt).getTime() !== row.changed_at.getTime())
      throw new AppError('conflict', {
        detail: `${row.changed_by} changed this ${kindOf(row.is_grant)} at ${row.changed_at.toISOString()}. Nothing was saved. Compare the changes and save again.`,
      })
    return row
  }

  /** Adds a rule, or replaces the one with this id. */
  async function write(
    actor: Actor,
    { ifChangedAt, ...input }: PolicyRuleBody & { ifChangedAt?: string },
    id: string | null,
  ): Promise<PolicyChange> {
    const isGrant = input.isGrant === true
    const kind = kindOf(isGrant)
    const done = await make(actor, async (tx) => {
      const old = id === null ? null : await existing(tx, id, isGrant, ifChangedAt)
      const { grantMaxHours } = await settings.read(tx)
      const written = writtenRule(input, { actor, now: clock.now(), field: 'body', grantMaxHours })
      const row = await rowOf(tx, written, actor, old, 'body')
      const others = (await store.beside(tx, row.agent_id)).filter((other) => other.rule_id !== id)
      const form = JSON.stringify(writtenForm(row))
      const override = row.override_attack_tool ? ' It allows a known attack tool.' : ''
      return {
        ...{ remove: [], write: [row], id: row.rule_id, warnings: warningsOf(row, others), group: input.group },
        summary: `${old === null ? 'Added' : 'Changed'} a ${kind}${inBrackets(row.reason)}`,
        ...(old === null
          ? { action: `policy.${kind}.created` as const, details: `${form}${override}` }
          : {
              action: `policy.${kind}.changed` as const,
              details: `from ${JSON.stringify(writtenForm(old))} to ${form}`,
            }),
      }
    })
    return answer(done, done.after.get(done.id) ?? null, done.warnings)
  }

  const answer = (
    { version, jobId }: { version: number; jobId: string | null },
    rule: PolicyRuleResource | null,
    warnings: PolicyWarning[],
  ) => ({ version, rule, warnings, jobId })

  return {
    write,
    rowOf,

    /** Deletes a rule or ends a grant. `isGrant`: it must be a grant. */
    remove: async (
      actor: Actor,
      id: string,
      { reason, ifChangedAt }: { reason?: string; ifChangedAt?: string },
      isGrant?: true,
    ): Promise<PolicyChange> => {
      const done = await make(actor, async (tx) => {
        const old = await existing(tx, id, isGrant, ifChangedAt)
        const sentence = sentenceOf(await store.shown(tx, [id]), id)
        return {
          ...{ remove: [old], write: [], reason: reason?.trim() },
          summary: `${old.is_grant ? 'Ended' : 'Deleted'}: ${sentence}`.slice(0, 500),
          action: `policy.${kindOf(old.is_grant)}.deleted` as const,
          details: JSON.stringify(writtenForm(old)),
        }
      })
      return answer(done, null, [])
    },

    /**
     * Returns the rules that people wrote, in the form in which they write them. The order does not depend on time, so
     * documents compare.
     */
    writtenRules: async (q: Queryable): Promise<PolicyRuleInput[]> =>
      (await store.writtenRules(q))
        .map((row) => [contentOf(row), inputOf(row)] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, input]) => input),

    /** Plans to replace the rules that people wrote by exactly these. Also returns the sentences of deleted rules. */
    planRules: async (
      tx: Tx,
      actor: Actor,
      inputs: readonly PolicyRuleInput[],
    ): Promise<RuleChange & { removed: string[] }> => {
      const left = Map.groupBy(await store.writtenRules(tx), contentOf)
      const { grantMaxHours } = await settings.read(tx)
      const write: RuleRow[] = []
      for (const [i, input] of inputs.entries()) {
        const field = `body.rules[${i}]`
        const given = writtenRule(input, { actor, now: clock.now(), field, grantMaxHours })
        const row = await rowOf(tx, given, actor, null, field)
        if (left.get(contentOf(row))?.shift() === undefined) write.push(row)
      }
      const remove = [...left.values()].flat()
      const ids = remove.map((row) => row.rule_id)
      const shown = await store.shown(tx, ids)
      const counts = `${write.length} added, ${remove.length} deleted`
      return {
        ...{ remove, write, summary: `Rules of a document: ${counts}`, action: 'policy.replaced', details: counts },
        removed: ids.map((id) => sentenceOf(shown, id)),
      }
    },
  }
}

export type Rules = ReturnType<typeof createRules>
