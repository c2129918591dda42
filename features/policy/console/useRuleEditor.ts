import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { merged } from '@portcullis/platform/console/lib/merge.ts'
import { CallFailure, isStoredRequest } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { useKept } from '@portcullis/platform/console/ui/form/useKept.ts'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useEffect, useEffectEvent, useState } from 'react'
import {
  createPolicyRule,
  deletePolicyRule,
  type PolicyDraft,
  type PolicyRuleResource,
  previewPolicy,
  updatePolicyRule,
} from '#features/contract.ts'
import { conflictFields } from './rule-diff.ts'
import { openedHosts, openedText, type Preview } from './shared/labels.ts'
import { asReason } from './shared/NewlyAllowed.tsx'
import { bodyOf, canPreview, draftOf, faultsOf, inputOf, type RuleDraft } from './shared/rule-draft.ts'
import { tellPolicyChange } from './shared/undo.ts'
import { usePreview } from './shared/usePreview.ts'
import { strings } from './strings.ts'

export interface RuleEditorProps {
  /** The rule to edit; null for a new one. */
  rule: PolicyRuleResource | null
  /** Initial values of a new rule. */
  start: RuleDraft
  isGrant: boolean
  canWrite: boolean
  close: () => void
}

type Subject = Pick<RuleEditorProps, 'rule' | 'isGrant'>

/** Before the first save attempt, shows faults of filled fields only. */
const quietly = (faults: ReturnType<typeof faultsOf>, draft: RuleDraft) =>
  Object.fromEntries(
    Object.entries(faults).filter(
      ([field]) => field in draft && field !== 'reason' && draft[field as keyof RuleDraft] !== '',
    ),
  )

/** The requests that save and delete a rule or grant. */
const useRuleRequests = ({ rule, isGrant }: Subject) => {
  const { api } = useServices()
  return {
    /** `base`: the rule as the user began to edit it. */
    save: (draft: RuleDraft, base: PolicyRuleResource | null): Promise<{ version: number }> => {
      const body = bodyOf(draft, isGrant)
      return base === null
        ? api.call(createPolicyRule, { body })
        : api.call(updatePolicyRule, { params: { id: base.id }, body: { ...body, ifChangedAt: base.changedAt } })
    },
    remove: ({ id, changedAt }: PolicyRuleResource, reason: string): Promise<{ version: number }> =>
      api.call(deletePolicyRule, { params: { id }, query: { ...asReason(reason), ifChangedAt: changedAt } }),
    curl: (draft: RuleDraft): string => {
      const body = bodyOf(draft, isGrant)
      return rule === null
        ? curlOf(createPolicyRule, { body })
        : curlOf(updatePolicyRule, { params: { id: rule.id }, body })
    },
  }
}

const savedText = ({ rule, isGrant }: Subject): string =>
  rule === null ? (isGrant ? strings.grantAdded : strings.ruleAdded) : isGrant ? strings.grantSaved : strings.ruleSaved

const saveLabel = ({ rule, isGrant }: Subject): string =>
  rule === null ? (isGrant ? strings.addGrant : strings.addRule) : isGrant ? strings.saveGrant : strings.saveRule

/** Asks for confirmation of a change that allows devices on several hosts. */
const askFirst = (said: Preview, action: string, run: () => Promise<void>) => {
  const hosts = openedHosts(said)
  confirm({
    title: strings.confirmTitle({ hosts }),
    names: [],
    count: hosts,
    kind: strings.hostCount,
    consequence: said.secondPerson ? strings.confirmNeedsApprover : strings.confirmEffect,
    action: said.secondPerson ? strings.requestApproval : action,
    worksAgain: openedText(said),
    run,
  })
}

/** The draft of a rule or grant, its faults, and the resulting change. */
const useRuleDraft = ({ rule, start, isGrant }: RuleEditorProps) => {
  const { clock } = useServices()
  const [name] = useState(() => `rule.${rule?.id ?? `${isGrant ? 'grant' : 'new'} ${JSON.stringify(start)}`}`)
  const kept = useKept<{ draft: RuleDraft; base: PolicyRuleResource | null }>(name, { draft: start, base: rule })
  const found = kept.found?.value
  // Another person can save the rule while it is edited.
  const [base, setBase] = useState(found === undefined ? rule : found.base)
  const [draft, setDraft] = useState<RuleDraft>(() => found?.draft ?? (rule === null ? start : draftOf(rule)))
  const [tried, setTried] = useState(false)
  const [deleting, setDeleting] = useState(false)
  const faults = faultsOf(draft, { isGrant, now: clock.now() })
  const removed = rule === null ? [] : [rule.id]
  const isSame = base !== null && JSON.stringify(inputOf(draft)) === JSON.stringify(inputOf(draftOf(base)))
  const isConflict = base !== null && rule !== null && base.changedAt !== rule.changedAt
  const take = (next: RuleDraft) => {
    setDraft(next)
    setBase(rule)
    kept.forget()
  }
  const isTyped = JSON.stringify(draft) !== JSON.stringify(base === null ? start : draftOf(base))
  const keep = useEffectEvent(() => kept.keep(isTyped ? { draft, base } : null))
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the input is kept
  useEffect(() => keep(), [draft, base])
  const change: PolicyDraft | null = deleting
    ? { remove: removed }
    : canPreview(faults) && !isSame
      ? { add: [inputOf(draft)], remove: removed }
      : null
  return {
    draft,
    base,
    /** When the shown input was typed, if it was restored; null: it was not. */
    restoredAt: kept.found?.at ?? null,
    discardInput: () => take(rule === null ? start : draftOf(rule)),
    dropInput: () => kept.keep(null),
    /** What another person changed meanwhile; null: nothing. */
    conflict: isConflict
      ? {
          by: rule.changedBy,
          at: rule.changedAt,
          fields: conflictFields(base, rule, draft),
          merge: () => take(merged(draftOf(base), draftOf(rule), draft, [['scope', 'host', 'tag']])),
          discard: () => take(draftOf(rule)),
        }
      : null,
    edit: (part: Partial<RuleDraft>) => setDraft((old) => ({ ...old, ...part })),
    isFaulty: Object.keys(faults).length > 0,
    shownFaults: tried ? faults : quietly(faults, draft),
    showFaults: () => setTried(true),
    isSame,
    change,
    deleting,
    setDeleting,
  }
}

/** State and requests of the rule editor. */
export const useRuleEditor = (props: RuleEditorProps, focusFault: () => void) => {
  const { isGrant, canWrite, close } = props
  const services = useServices()
  const { api, queries } = services
  const requests = useRuleRequests(props)
  const state = useRuleDraft(props)
  const { draft, base, change, isFaulty } = state
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const [reason, setReason] = useState('')
  const isStored = isStoredRequest(failure)
  const { preview, isStale } = usePreview(canWrite ? change : null)
  const needsReason = preview !== undefined && openedHosts(preview) > 1

  const fail = (cause: unknown) => {
    setFailure(cause)
    setBusy(false)
    if (isStoredRequest(cause)) state.dropInput()
    // The rule as it is now says what the other person changed.
    if (cause instanceof CallFailure && cause.code === 'conflict' && base !== null)
      void queries.refetchQueries({ queryKey: ['policy-rule', base.id] })
  }
  const run = async (work: () => Promise<{ version: number }>, message: string) => {
    setBusy(true)
    setFailure(null)
    try {
      const { version } = await work()
      state.dropInput()
      close()
      tellPolicyChange(services, message, version)
    } catch (cause) {
      fail(cause)
    }
  }
  const store = () => run(() => requests.save(draft, base), savedText(props))
  /** Saves; asks for confirmation first if the change allows devices on more than one host. */
  const ask = async () => {
    setBusy(true)
    setFailure(null)
    try {
      const said =
        change === null
          ? null
          : await queries.fetchQuery({
              queryKey: ['policy-preview', JSON.stringify(change)],
              queryFn: () => api.call(previewPolicy, { body: change }),
              staleTime: 10_000,
            })
      if (said === null || openedHosts(said) <= 1) return await store()
      setBusy(false)
      askFirst(said, saveLabel(props), store)
    } catch (cause) {
      fail(cause)
    }
  }
  return {
    ...state,
    busy,
    failure,
    isStored,
    needsReason: needsReason && !isStored,
    needsApprover: preview?.secondPerson === true,
    reason,
    setReason,
    // The preview says whether the deletion allows devices.
    canRemove: preview !== undefined && !isStale && (!needsReason || reason.trim() !== ''),
    save: () => {
      if (isStored || state.deleting || state.conflict !== null) return
      state.showFaults()
      if (isFaulty) focusFault()
      else void ask()
    },
    remove: () => {
      if (base !== null)
        void run(() => requests.remove(base, reason), isGrant ? strings.grantEnded : strings.ruleDeleted)
    },
    curl: () => {
      if (isFaulty) tell(strings.curlIncomplete)
      return requests.curl(draft)
    },
  }
}

export type RuleEditing = ReturnType<typeof useRuleEditor>
