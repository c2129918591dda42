import {
  type Channel,
  type ConfigTested,
  maskedSecret,
  type NotificationGroup,
  testNotificationChannel,
  updateNotificationGroup,
} from '@portcullis/contract'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { useServices } from '../../lib/services.tsx'
import { changeOf, type Draft, draftOf, faultsOfDraft, faultsOfFailure, freshSecretOf, triedOf } from './draft.ts'
import { groupsKey } from './useGroups.ts'

export interface Trial {
  channel: Channel
  busy: boolean
  result: ConfigTested | null
  failure: unknown
}

/** What somebody enters for a group, what is wrong with it, how it is tried and stored. */
export const useGroupDraft = (group: NotificationGroup, form: RefObject<HTMLFormElement | null>) => {
  const { api, queries } = useServices()
  const [edited, setEdited] = useState<Draft | null>(null)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const [trial, setTrial] = useState<Trial | null>(null)
  const [said, setSaid] = useState('')
  const [fresh, setFresh] = useState<string | null>(null)
  const [isJudged, setIsJudged] = useState(false)
  /** Fields that were changed since the server judged them: what it said of them is over. */
  const [mended, setMended] = useState<ReadonlySet<string>>(new Set())
  const under = useRef<AbortController | null>(null)
  useEffect(() => () => under.current?.abort(), [])

  const draft = edited ?? draftOf(group)
  const change = changeOf(group, draft)
  const isDirty = Object.keys(change).length > 0
  const own = faultsOfDraft(draft)
  const found = { ...faultsOfFailure(trial?.failure), ...faultsOfFailure(failure) }

  // Whoever saved or tried by the keyboard goes on where it is wrong.
  const focusOn = (faults: Record<string, string>) => {
    const fields = [...(form.current?.querySelectorAll<HTMLElement>('[name]') ?? [])]
    fields.find((field) => Object.hasOwn(faults, field.getAttribute('name') ?? ''))?.focus()
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each refusal
  useEffect(() => focusOn(found), [failure, trial?.failure])

  const store = async () => {
    setBusy(true)
    setFailure(null)
    setMended(new Set())
    try {
      const groups = await api.call(updateNotificationGroup, { body: { id: group.id, ...change } })
      const secret = groups.map(freshSecretOf).find((one) => one !== null) ?? null
      // Held by this page only, until somebody says that he has it: another save does not take it away.
      if (secret !== null) setFresh(secret)
      queries.setQueryData(
        groupsKey,
        groups.map((one) =>
          freshSecretOf(one) === null
            ? one
            : { ...one, channels: { ...one.channels, webhook: { ...one.channels.webhook, secret: maskedSecret } } },
        ),
      )
      setEdited(null)
      setIsJudged(false)
      setTrial(null)
      setSaid(
        secret === null
          ? 'Saved. It counts from now on.'
          : 'Saved. The new secret of the webhook is shown above, this once: store it.',
      )
    } catch (reason) {
      setFailure(reason)
    } finally {
      setBusy(false)
    }
  }

  return {
    draft,
    change,
    busy,
    failure,
    trial,
    said,
    fresh,
    isDirty,
    acknowledge: () => setFresh(null),
    /** Everything that is wrong stands at its field. */
    isAtField: Object.keys(faultsOfFailure(failure)).length > 0,
    errorOf: (name: string): string | undefined =>
      (isJudged || name === 'channels.email.recipients' ? own[name] : undefined) ??
      (mended.has(name) ? undefined : found[name]),
    /** Enters a part of the draft; `names` are the fields that it changes. */
    enter: (part: Partial<Draft>, ...names: string[]) => {
      setSaid('')
      setMended((old) => new Set([...old, ...names]))
      setEdited({ ...draft, ...part })
    },
    tryOut: async (channel: Channel) => {
      if (channel === 'email' && own['channels.email.recipients'] !== undefined) {
        focusOn(own)
        return
      }
      under.current?.abort()
      const control = new AbortController()
      under.current = control
      setMended(new Set())
      setTrial({ channel, busy: true, result: null, failure: null })
      const answer = (result: ConfigTested | null, reason: unknown) => {
        if (!control.signal.aborted) setTrial({ channel, busy: false, result, failure: reason })
      }
      await api
        .call(testNotificationChannel, {
          body: { id: group.id, channel, channels: triedOf(draft, channel) },
          signal: control.signal,
        })
        .then(
          (result) => answer(result, null),
          (reason: unknown) => answer(null, reason),
        )
    },
    stop: () => {
      under.current?.abort()
      setTrial(null)
    },
    discard: () => {
      setEdited(null)
      setFailure(null)
      setTrial(null)
      setIsJudged(false)
      setSaid('')
    },
    submit: () => {
      setIsJudged(true)
      if (Object.keys(own).length > 0) focusOn(own)
      else if (isDirty) void store()
      else setSaid('Nothing was changed.')
    },
  }
}

export type GroupDraft = ReturnType<typeof useGroupDraft>
