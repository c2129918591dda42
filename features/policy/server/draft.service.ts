import { isAllowing, sourceOf } from '@portcullis/domain'
import { invalid } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import { createYielder } from '@portcullis/platform/server/yielder.ts'
import type { BodyOf, PolicyDraft, PolicyEffect, PolicyWarning, previewPolicy } from '#features/contract.ts'
import type { Approvals } from './approvals.service.ts'
import { takesEffectOf } from './device-states.ts'
import type { PolicyContext } from './policy.context.ts'
import { type WrittenRule, writtenRule } from './policy.rules.ts'
import type { RuleRow } from './policy.store.ts'
import type { PredictedRow } from './predict.read.ts'
import { warningsOf } from './warnings.ts'

const listedEffects = 200
/** Maximum number of broken tests in a response. */
const listedTests = 100
/** Maximum number of warnings in a response. */
const listedWarnings = 50

/** Returns the id of the n-th added rule of a draft. Ids of stored rules are UUIDs. */
const draftId = (n: number): string => `draft-${n + 1}`

const effectOf = (source: number): 'allow' | 'block' => (isAllowing(sourceOf(source)) ? 'allow' : 'block')

const effectView = (row: PredictedRow): PolicyEffect => ({
  uuid: row.agentId,
  hostIdentifier: row.host,
  deviceID: row.deviceId,
  caption: row.caption,
  vid: row.vid,
  pid: row.pid,
  devIcon: row.icon,
  present: row.present,
  armed: row.armed,
  canBlock: row.canBlock,
  isKnownAttackTool: row.isTool,
  before: effectOf(row.before),
  after: effectOf(row.source),
  lastSeen: row.lastSeen,
  attachments: row.attachments,
})

interface Rules {
  gone: readonly RuleRow[]
  write: readonly RuleRow[]
}

/** Previews rule changes. Writes nothing. */
export const createDrafts = (context: PolicyContext, approvals: Pick<Approvals, 'plan'>) => {
  const { longRead, clock, store, affected, predict, newlyAllowed, changeRequests, ruleTests } = context
  const rowOf = (written: WrittenRule, n: number): RuleRow => ({
    ...written,
    rule_id: draftId(n),
    tag_id: written.tag_name === null ? null : -1,
    origin: 'rule',
    created_at: new Date(clock.now()),
    created_by: '',
    changed_at: new Date(clock.now()),
    changed_by: '',
    seal: Buffer.alloc(0),
  })

  /** Returns the rules that a draft adds and removes. */
  async function rulesOf(tx: Tx, actor: Actor, draft: PolicyDraft) {
    const now = clock.now()
    const gone = await store.byIds(tx, (draft.remove ?? []).filter(isId))
    const write = (draft.add ?? []).map((input, n) =>
      rowOf(
        writtenRule({ ...input, overrideAttackTool: false }, { actor, now, field: `body.add[${n}]`, grantMaxHours: 0 }),
        n,
      ),
    )
    // Only the person who saves the rule needs the right to override attack tools.
    write.forEach((row, n) => {
      row.override_attack_tool = draft.add?.[n]?.overrideAttackTool === true
    })
    const prints = await affected.rulePrints(
      tx,
      write.flatMap((row) => row.fingerprint ?? []),
    )
    return {
      gone,
      write: write.map((row) => ({
        ...row,
        rule_fingerprint: prints.get(row.fingerprint ?? '') ?? null,
        exact_serial: true,
      })),
    }
  }

  /** Returns the rules that a change adds and removes, and those among which it counts matching devices. */
  async function changeOf(
    tx: Tx,
    actor: Actor,
    { decide, ...draft }: BodyOf<typeof previewPolicy>,
  ): Promise<{ rules: Rules; matching: Rules }> {
    if (decide === undefined) {
      const rules = await rulesOf(tx, actor, draft)
      return { rules, matching: rules }
    }
    if ((draft.add ?? []).length + (draft.remove ?? []).length > 0)
      throw invalid('body.decide', 'cannot be combined with add or remove')
    const { rules, write, remove } = await approvals.plan(tx, actor, decide, 'body.decide')
    return { rules: { gone: remove, write }, matching: { gone: remove, write: rules } }
  }

  /** Returns warnings about added rules that contradict or shadow other rules, or are shadowed by them. */
  async function warningsAmongRules(tx: Tx, { gone, write }: Rules) {
    const yieldNow = createYielder(10)
    const warnings: PolicyWarning[] = []
    const removed = new Set(gone.map((r) => r.rule_id))
    const others = (await store.wide(tx)).filter((r) => !removed.has(r.rule_id))
    const hosts = [...new Set(write.flatMap((r) => (r.agent_id === null ? [] : [r.agent_id])))]
    const own = hosts.length === 0 ? [] : (await store.own(tx, hosts)).filter((r) => !removed.has(r.rule_id))
    const ownOf = Map.groupBy(own, (r) => r.agent_id)
    for (const rule of write) {
      if (warnings.length >= listedWarnings) break
      await yieldNow()
      const beside = rule.agent_id === null ? others : [...others, ...(ownOf.get(rule.agent_id) ?? [])]
      warnings.push(...warningsOf(rule, beside))
    }
    return warnings
  }

  return {
    rulesOf,

    preview: (actor: Actor, draft: BodyOf<typeof previewPolicy>) =>
      longRead(async (tx) => {
        const { rules, matching } = await changeOf(tx, actor, draft)
        const { stated, totals, changed } = await predict(tx, { rules: matching })
        const { matched } = totals
        const effects = await changed(listedEffects)
        const warnings = await warningsAmongRules(tx, rules)
        const isAllowing = matching.write.some((r) => r.effect === 'allow')
        if (matching.write.length > 0 && matched.peripherals === 0)
          warnings.push({
            code: 'matches-nothing',
            text: 'No known device matches.',
            ruleId: null,
          })
        const tools = isAllowing ? matched.attackTools : 0
        if (tools > 0)
          warnings.push({
            code: 'allows-attack-tool',
            text: `${tools} of the matching devices ${tools === 1 ? 'is a known attack tool and stays' : 'are known attack tools and stay'} blocked unless you override this.`,
            ruleId: null,
          })
        const blockedNow = totals.stopsWorking.peripherals
        if (blockedNow > 0)
          warnings.push({
            code: 'blocks-present',
            text: `${blockedNow} ${blockedNow === 1 ? 'device' : 'devices'} attached to armed hosts will stop working.`,
            ruleId: null,
          })
        const opened = await newlyAllowed.measure(tx, rules, new Date(clock.now()))
        return {
          computedAt: stated.computedAt,
          agents: totals.changed.agents,
          armedAgents: totals.changedArmed.agents,
          peripherals: totals.changed.peripherals,
          matching: {
            agents: matched.agents,
            armedAgents: totals.matchedArmed.agents,
            peripherals: matched.peripherals,
            takesEffect: takesEffectOf(totals, 'matched'),
          },
          allowed: totals.newlyAllowed.peripherals,
          blocked: totals.newlyBlocked.peripherals,
          blockedNow,
          worksAgain: totals.worksAgain,
          newlyAllowed: opened.hosts,
          effects: effects.map(effectView),
          warnings: warnings.slice(0, listedWarnings),
          brokenTests: (await ruleTests.brokenBy(tx, rules)).slice(0, listedTests),
          secondPerson: !(await changeRequests.mayAlone(actor, { kind: 'allow', ...opened }, tx)),
          prediction: stated,
        }
      }),
  }
}

export type Drafts = ReturnType<typeof createDrafts>
