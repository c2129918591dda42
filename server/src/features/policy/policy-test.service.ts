import type { PolicyDraft } from '@portcullis/contract'
import type { Clock } from '#platform/clock.ts'
import type { Actor } from '#platform/http/actor.ts'
import type { Drafts } from './draft.service.ts'
import type { LongRead } from './long.read.ts'
import { createPolicyTestRead, type OtherDecision, type TestSelection } from './policy-test.read.ts'

const dayMs = 86_400_000

/** What arming would do: every device of stored inventory and history, judged as if newly attached to an armed host. */
export const createPolicyTest = ({ longRead, clock, drafts }: { longRead: LongRead; clock: Clock; drafts: Drafts }) => {
  const run = async (selection: Omit<TestSelection, 'since'>, others: readonly OtherDecision[]) => ({
    computedAt: new Date(clock.now()).toISOString(),
    days: selection.days,
    ...(await longRead((tx) =>
      createPolicyTestRead(tx).run({ ...selection, since: new Date(clock.now() - selection.days * dayMs) }, others),
    )),
  })
  return {
    /** The stored decisions are those of an armed host already. */
    inForce: (selection: Omit<TestSelection, 'since'>) => run(selection, []),
    ofDraft: async (actor: Actor, draft: PolicyDraft, selection: Omit<TestSelection, 'since'>) => {
      const since = new Date(clock.now() - selection.days * dayMs)
      const { decided } = await longRead((tx) => drafts.decisions(tx, actor, draft, since))
      return run(
        selection,
        decided.map(({ candidate, source, ruleId }) => ({
          agentId: candidate.agent_id,
          deviceId: candidate.device_id,
          source,
          ruleId,
        })),
      )
    },
  }
}

export type PolicyTest = ReturnType<typeof createPolicyTest>
