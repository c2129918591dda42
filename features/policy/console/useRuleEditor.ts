import {
  createPolicyRule,
  deletePolicyRule,
  type PolicyDraft,
  type PolicyRuleResource,
  previewPolicy,
  updatePolicyRule,
} from '@portcullis/contract'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { isStoredRequest } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useState } from 'react'
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
    save: (draft: RuleDraft): Promise<{ version: number }> => {
      const body = bodyOf(draft, isGrant)
      return rule === null
        ? api.call(createPolicyRule, { body })
        : api.call(updatePolicyRule, { params: { id: rule.id }, body })
    },
    remove: (id: string, reason: string): Promise<{ version: number }> =>
      api.call(deletePolicyRule, { params: { id }, query: asReason(reason) }),
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
  const [draft, setDraft] = useState(() => (rule === null ? start : draftOf(rule)))
  const [tried, setTried] = useState(false)
  const [deleting, setDeleting] = useState(false)
  const faults = faultsOf(draft, { isGrant, now: clock.now() })
  const removed = rule === null ? [] : [rule.id]
  const isSame = rule !== null && JSON.stringify(inputOf(draft)) === JSON.stringify(inputOf(draftOf(rule)))
  const change: PolicyDraft | null = deleting
    ? { remove: removed }
    : canPreview(faults) && !isSame
      ? { add: [inputOf(draft)], remove: removed }
      : null
  return {
    draft,
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
  const { rule, isGrant, canWrite, close } = props
  const services = useServices()
  const { api, queries } = services
  const requests = useRuleRequests(props)
  const state = useRuleDraft(props)
  const { draft, change, isFaulty } = state
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const [reason, setReason] = useState('')
  const isStored = isStoredRequest(failure)
  const { preview, isStale } = usePreview(canWrite ? change : null)
  const needsReason = preview !== undefined && openedHosts(preview) > 1

  const fail = (cause: unknown) => {
    setFailure(cause)
    setBusy(false)
  }
  const run = async (work: () => Promise<{ version: number }>, message: string) => {
    setBusy(true)
    setFailure(null)
    try {
      const { version } = await work()
      close()
      tellPolicyChange(services, message, version)
    } catch (cause) {
      fail(cause)
    }
  }
  const store = () => run(() => requests.save(draft), savedText(props))
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
      if (isStored || state.deleting) return
      state.showFaults()
      if (isFaulty) focusFault()
      else void ask()
    },
    remove: () => {
      if (rule !== null)
        void run(() => requests.remove(rule.id, reason), isGrant ? strings.grantEnded : strings.ruleDeleted)
    },
    curl: () => {
      if (isFaulty) tell(strings.curlIncomplete)
      return requests.curl(draft)
    },
  }
}

export type RuleEditing = ReturnType<typeof useRuleEditor>
