import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { useKept } from '@portcullis/platform/console/ui/form/useKept.ts'
import { useEffect, useEffectEvent, useState } from 'react'
import { type BodyOf, importPolicyRules, type RuleImport } from '#features/contract.ts'
import { textOfFile } from './list-file.ts'
import { type DraftFaults, emptyDraft, faultsOf, inputOf, type RuleDraft } from './shared/rule-draft.ts'
import { tellPolicyChange } from './shared/undo.ts'
import { strings } from './strings.ts'

interface Input {
  text: string
  draft: RuleDraft
}

const empty: Input = { text: '', draft: emptyDraft }

const bodyOf = ({ text, draft }: Input): Omit<BodyOf<typeof importPolicyRules>, 'dryRun'> => {
  const { effect, vid, pid, host, tag, expiresAt } = inputOf(draft)
  return {
    ...{
      text,
      effect,
      host: host ?? null,
      tag: tag ?? null,
      expiresAt: expiresAt ?? null,
      reason: draft.reason.trim(),
      group: draft.group.trim() || null,
    },
    ...(vid === null || pid === null ? {} : { vid: vid ?? null, pid: pid ?? null }),
  }
}

/** The input of a list of serial numbers, its check, and its addition. */
export const useRuleList = (close: () => void) => {
  const services = useServices()
  const { api, clock } = services
  const kept = useKept<Input>('rule.list', empty)
  const [input, setInput] = useState<Input>(kept.found?.value ?? empty)
  const [checked, setChecked] = useState<{ of: Input; said: RuleImport } | null>(null)
  const { busy, failure, setFailure, isStored, run } = useChange({ closes: false })
  const keep = useEffectEvent(() => kept.keep(input === empty ? null : input))
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the input is kept
  useEffect(() => keep(), [input])
  // A line can have its own reason, so the server says whether one is missing.
  const { device: _, reason: __, ...faults }: DraftFaults = faultsOf(input.draft, { isGrant: false, now: clock.now() })
  const said = checked?.of === input ? checked.said : null
  return {
    ...input,
    busy,
    failure,
    isStored,
    restoredAt: kept.found?.at ?? null,
    faults,
    /** What the list would add; null: the input has not been checked. */
    said,
    isReady: input.text.trim() !== '' && Object.keys(faults).length === 0,
    setText: (text: string) => setInput({ ...input, text }),
    edit: (part: Partial<RuleDraft>) => setInput({ ...input, draft: { ...input.draft, ...part } }),
    read: async (file: File | null) => {
      try {
        if (file !== null) setInput({ ...input, text: await textOfFile(file) })
      } catch (cause) {
        setFailure(cause)
      }
    },
    discard: () => {
      setInput(empty)
      kept.forget()
    },
    cancel: () => {
      kept.keep(null)
      close()
    },
    check: () =>
      run(async () => {
        const said = await api.call(importPolicyRules, { body: { ...bodyOf(input), dryRun: true } })
        setChecked({ of: input, said })
      }),
    add: () =>
      run(async () => {
        const { added, version } = await api.call(importPolicyRules, { body: bodyOf(input) })
        kept.keep(null)
        close()
        tellPolicyChange(services, strings.listAdded({ count: added }), version)
      }),
  }
}
