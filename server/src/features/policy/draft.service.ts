import type { PolicyDraft, PolicyEffect, PolicyRule, PolicyWarning, WorksAgain } from '@portcullis/contract'
import { decide, type PolicySource, policySources, ruleMatches } from '@portcullis/domain'
import type { ApprovalsApi } from '#features/approvals/index.ts'
import { type Design, deviceOf, type PeripheralsApi } from '#features/peripherals/index.ts'
import { createBreath } from '#platform/breath.ts'
import type { Clock } from '#platform/clock.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Actor } from '#platform/http/actor.ts'
import { isId } from '#platform/ids.ts'
import { fold } from '#platform/list/columns.ts'
import type { Affected } from './affected.ts'
import type { Candidate, DevicesRead } from './devices.read.ts'
import { allowing } from './host.ts'
import type { LongRead } from './long.read.ts'
import type { NewlyAllowed } from './newly-allowed.ts'
import { type WrittenRule, writtenRule } from './policy.rules.ts'
import { type PolicyStore, type RuleRow, wireRule } from './policy.store.ts'
import { warningsOf } from './policy.warnings.ts'
import { createRuleSet } from './rule-set.ts'
import type { Seals } from './seal.ts'

export interface DraftDeps {
  longRead: LongRead
  clock: Clock
  store: PolicyStore
  seals: Seals
  affected: Pick<Affected, 'designsOf'>
  devices: DevicesRead
  designs: Pick<PeripheralsApi['designs'], 'byIds'>
  newlyAllowed: Pick<NewlyAllowed, 'measure'>
  approvals: Pick<ApprovalsApi, 'mayAlone'>
}

/** A device that a draft decides about. */
export interface DraftDecision {
  candidate: Candidate
  design: Design
  source: PolicySource
  ruleId: string | null
  /** An added rule speaks of it, whether or not that changes anything. */
  isMatched: boolean
}

/** Days that a preview looks back over. */
const previewDays = 30
/** Effects that an answer lists. */
const listedEffects = 200
/** Warnings that an answer lists. */
const listedWarnings = 50
const dayMs = 86_400_000

/** Id of the n-th added rule of a draft; ids of stored ones are UUIDs. */
const draftId = (n: number): string => `draft-${n + 1}`

/** What a change of the rules would do, over stored devices; nothing is written. */
export const createDrafts = ({
  longRead,
  clock,
  store,
  seals,
  affected,
  devices,
  designs,
  newlyAllowed,
  approvals,
}: DraftDeps) => {
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

  /** Decisions by the draft, of devices whose decision may differ. */
  const decisions = async (tx: Tx, actor: Actor, draft: PolicyDraft, since: Date) => {
    const now = clock.now()
    const removed = await store.byIds(tx, (draft.remove ?? []).filter(isId))
    const added = (draft.add ?? []).map((input, n) =>
      rowOf(
        writtenRule(
          { ...input, overrideAttackTool: false },
          { actor, now, field: `body.add[${n}]`, grantMaxHours: null },
        ),
        n,
      ),
    )
    // What it overrides is a right of the one who saves it, not of the one who asks what it would do.
    added.forEach((row, n) => {
      row.override_attack_tool = draft.add?.[n]?.overrideAttackTool === true
    })
    return decisionsOf(tx, { removed, added }, since)
  }

  /** Decisions without the removed rules and with the added ones, of devices whose decision may differ. */
  const decisionsOf = async (
    tx: Tx,
    { removed, added }: { removed: readonly RuleRow[]; added: readonly RuleRow[] },
    since: Date,
  ) => {
    const now = clock.now()
    const changed = [...removed, ...added]
    const hosts = changed.every((r) => r.agent_id !== null) ? changed.map((r) => r.agent_id as string) : null
    const candidates =
      changed.length === 0
        ? []
        : await devices.candidates(tx, [...(await affected.designsOf(tx, changed))], hosts, since)
    const known = await designs.byIds(candidates.map((c) => c.design_id))
    const gone = new Set(removed.map((r) => r.rule_id))
    const left = (rows: readonly RuleRow[]): RuleRow[] =>
      rows.filter((r) => !gone.has(r.rule_id) && seals.isAuthentic(r))
    const wide = [...left(await store.wide(tx)), ...added.filter((r) => r.agent_id === null)]
    const rules = createRuleSet(
      0,
      wide.map((row) => ({ rule: wireRule(row), tag: row.tag_name === null ? null : fold(row.tag_name) })),
    )
    const agentIds = [...new Set(candidates.map((c) => c.agent_id))]
    const own = [...left((await store.versionAndOwn(tx, agentIds)).own), ...added.filter((r) => r.agent_id !== null)]
    const ownOf = Map.groupBy(own, (row) => row.agent_id as string)
    const addedIds = new Set(added.map((r) => r.rule_id))
    const result: DraftDecision[] = []
    const breathe = createBreath(10)
    for (const [agentId, some] of Map.groupBy(candidates, (c) => c.agent_id)) {
      await breathe()
      const first = some[0] as Candidate
      const policy = rules.hostPolicy({
        armed: first.armed,
        hashtags: first.hashtags,
        own: (ownOf.get(agentId) ?? []).map((row): PolicyRule => wireRule(row)),
      })
      for (const candidate of some) {
        const design = known.get(candidate.design_id)
        if (design === undefined) continue
        const device = deviceOf(design, { ...candidate, portPath: candidate.port_path })
        const speaking = policy.rulesFor(design)
        const { source, ruleId } = decide(speaking, device, now)
        const isMatched = speaking.some((rule) => addedIds.has(rule.id) && ruleMatches(rule, device))
        result.push({ candidate, design, source, ruleId, isMatched })
      }
    }
    return { removed, added, decided: result }
  }

  const effectOf = (source: PolicySource): 'allow' | 'block' => (allowing.has(source) ? 'allow' : 'block')
  const before = (c: Candidate): 'allow' | 'block' => effectOf(policySources[c.source] ?? 'default')
  const isMoved = (d: DraftDecision): boolean => effectOf(d.source) !== before(d.candidate)
  const isTool = (d: DraftDecision): boolean => d.design.attackTool !== null
  const agents = (all: readonly DraftDecision[]): number => new Set(all.map((d) => d.candidate.agent_id)).size
  /** Counts the attached devices of armed hosts that are blocked now and allowed afterwards. */
  const worksAgainOf = (all: readonly DraftDecision[]): WorksAgain => {
    const again = all.filter(
      (d) => isMoved(d) && d.candidate.armed && d.candidate.present && effectOf(d.source) === 'allow',
    )
    return { agents: agents(again), peripherals: again.length, attackTools: again.filter(isTool).length }
  }

  return {
    decisions,

    /** Blocked devices that work again when rules are replaced; nothing is written. */
    worksAgain: async (tx: Tx, rules: { removed: readonly RuleRow[]; added: readonly RuleRow[] }) =>
      worksAgainOf((await decisionsOf(tx, rules, new Date(clock.now() - previewDays * dayMs))).decided),

    preview: (actor: Actor, draft: PolicyDraft) =>
      longRead(async (tx) => {
        const breathe = createBreath(10)
        const { removed, added, decided } = await decisions(
          tx,
          actor,
          draft,
          new Date(clock.now() - previewDays * dayMs),
        )
        const moved = decided.filter(isMoved)
        const stops = (d: DraftDecision) => d.candidate.armed && d.candidate.present && effectOf(d.source) === 'block'
        const gravity = (d: DraftDecision) => (isTool(d) ? 2 : 0) + (stops(d) ? 1 : 0)
        const listed = [...moved].sort((a, b) => gravity(b) - gravity(a)).slice(0, listedEffects)
        const names = new Map(
          (
            await devices.named(
              tx,
              listed.map((d) => ({ agentId: d.candidate.agent_id, deviceId: d.candidate.device_id })),
            )
          ).map((n) => [`${n.agent_id}|${n.device_id}`, n]),
        )
        const warnings: PolicyWarning[] = []
        const gone = new Set(draft.remove)
        const others = (await store.wide(tx)).filter((r) => !gone.has(r.rule_id))
        const hosts = [...new Set(added.flatMap((r) => (r.agent_id === null ? [] : [r.agent_id])))]
        const own = hosts.length === 0 ? [] : (await store.own(tx, hosts)).filter((r) => !gone.has(r.rule_id))
        const ownOf = Map.groupBy(own, (r) => r.agent_id)
        for (const rule of added) {
          if (warnings.length >= listedWarnings) break
          await breathe()
          const beside = rule.agent_id === null ? others : [...others, ...(ownOf.get(rule.agent_id) ?? [])]
          warnings.push(...warningsOf(rule, beside))
        }
        const matched = decided.filter((d) => d.isMatched)
        if (added.length > 0 && matched.length === 0)
          warnings.push({ code: 'matches-nothing', text: 'No device that is known matches.', ruleId: null })
        const tools = matched.filter((d) => d.design.attackTool !== null && added.some((r) => r.effect === 'allow'))
        if (tools.length > 0)
          warnings.push({
            code: 'allows-attack-tool',
            text: `${tools.length} of the matching devices ${tools.length === 1 ? 'is a known attack tool and stays' : 'are known attack tools and stay'} blocked unless that is overridden.`,
            ruleId: null,
          })
        const blockedNow = moved.filter(stops).length
        if (blockedNow > 0)
          warnings.push({
            code: 'blocks-present',
            text: `${blockedNow} devices that are attached to armed hosts stop working.`,
            ruleId: null,
          })
        const change = { gone: removed, write: added }
        const opened = await newlyAllowed.measure(tx, change, new Date(clock.now()))
        return {
          computedAt: new Date(clock.now()).toISOString(),
          agents: agents(moved),
          peripherals: moved.length,
          matching: { agents: agents(matched), peripherals: matched.length },
          allowed: moved.filter((d) => effectOf(d.source) === 'allow').length,
          blocked: moved.filter((d) => effectOf(d.source) === 'block').length,
          blockedNow,
          worksAgain: worksAgainOf(decided),
          newlyAllowed: opened.hosts,
          effects: listed.flatMap((d): PolicyEffect[] => {
            const name = names.get(`${d.candidate.agent_id}|${d.candidate.device_id}`)
            if (name === undefined) return []
            return [
              {
                uuid: d.candidate.agent_id,
                hostIdentifier: name.host,
                deviceID: d.candidate.device_id,
                caption: name.caption,
                vid: name.vid,
                pid: name.pid,
                devIcon: name.icon,
                present: d.candidate.present,
                armed: d.candidate.armed,
                isKnownAttackTool: isTool(d),
                before: before(d.candidate),
                after: effectOf(d.source),
              },
            ]
          }),
          warnings: warnings.slice(0, listedWarnings),
          secondPerson: !(await approvals.mayAlone(actor, { kind: 'allow', ...opened }, tx)),
        }
      }),
  }
}

export type Drafts = ReturnType<typeof createDrafts>
