import { type Channel, maskedSecret, type NotificationGroup, updateNotificationGroup } from '@portcullis/contract'
import { type RefObject, useEffect, useState } from 'react'
import { useServices } from '../../lib/services.tsx'
import { changeOf, type Draft, draftOf, faultsOfDraft, faultsOfFailure, freshSecretOf } from './draft.ts'
import { strings } from './strings.ts'
import { useChannelTest } from './useChannelTest.ts'
import { groupsKey } from './useGroups.ts'

const savedText = (hasSecret: boolean): string =>
  hasSecret ? strings.savedTheNewSecretOfThe : strings.savedItCountsFromNowOn

/** Stores a change of a group, and holds a new secret until somebody says that it is kept. */
const useSaveGroup = () => {
  const { api, queries } = useServices()
  const [fresh, setFresh] = useState<string | null>(null)
  /** Returns whether the webhook got a new secret. */
  const save = async (id: number, change: ReturnType<typeof changeOf>): Promise<boolean> => {
    const groups = await api.call(updateNotificationGroup, { body: { id, ...change } })
    queries.setQueryData(
      groupsKey,
      groups.map((one) =>
        freshSecretOf(one) === null
          ? one
          : { ...one, channels: { ...one.channels, webhook: { ...one.channels.webhook, secret: maskedSecret } } },
      ),
    )
    const secret = groups.map(freshSecretOf).find((one) => one !== null) ?? null
    // Another save does not take it away.
    if (secret !== null) setFresh(secret)
    return secret !== null
  }
  return { save, fresh, acknowledge: () => setFresh(null) }
}

/** Moves the focus to the first wrong field after a refusal. Returns how to move it there at other times. */
const useFocusOnFaults = (
  form: RefObject<HTMLFormElement | null>,
  found: Record<string, string>,
  saveFailure: unknown,
  testFailure: unknown,
) => {
  // Whoever saved or tried by the keyboard goes on where it is wrong.
  const focusOn = (faults: Record<string, string>) => {
    const fields = [...(form.current?.querySelectorAll<HTMLElement>('[name]') ?? [])]
    fields.find((field) => Object.hasOwn(faults, field.getAttribute('name') ?? ''))?.focus()
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each refusal
  useEffect(() => focusOn(found), [saveFailure, testFailure])
  return focusOn
}

/** What somebody enters for a group, what is wrong with it, how it is tried and stored. */
export const useGroupDraft = (group: NotificationGroup, form: RefObject<HTMLFormElement | null>) => {
  const { save, fresh, acknowledge } = useSaveGroup()
  const [edited, setEdited] = useState<Draft | null>(null)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const { trial, start, stop, forget } = useChannelTest(group)
  const [said, setSaid] = useState('')
  const [isJudged, setIsJudged] = useState(false)
  /** Fields that were changed since the server judged them: what it said of them is over. */
  const [mended, setMended] = useState<ReadonlySet<string>>(new Set())

  const draft = edited ?? draftOf(group)
  const change = changeOf(group, draft)
  const isDirty = Object.keys(change).length > 0
  const own = faultsOfDraft(draft)
  const found = { ...faultsOfFailure(trial?.failure), ...faultsOfFailure(failure) }

  const focusOn = useFocusOnFaults(form, found, failure, trial?.failure)

  const store = async () => {
    setBusy(true)
    setFailure(null)
    setMended(new Set())
    try {
      const hasSecret = await save(group.id, change)
      setEdited(null)
      setIsJudged(false)
      forget()
      setSaid(savedText(hasSecret))
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
    acknowledge,
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
      if (channel === 'email' && own['channels.email.recipients'] !== undefined) return focusOn(own)
      setMended(new Set())
      await start(channel, draft)
    },
    stop,
    discard: () => {
      setEdited(null)
      setFailure(null)
      forget()
      setIsJudged(false)
      setSaid('')
    },
    submit: () => {
      setIsJudged(true)
      if (Object.keys(own).length > 0) focusOn(own)
      else if (isDirty) void store()
      else setSaid(strings.nothingWasChanged)
    },
  }
}

export type GroupDraft = ReturnType<typeof useGroupDraft>
