import { merged } from '@portcullis/platform/console/lib/merge.ts'
import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { type RefObject, useEffect, useState } from 'react'
import { type Channel, maskedSecret, type NotificationGroup, updateNotificationGroup } from '#features/contract.ts'
import { faultsOfTest, focusField } from '#features/settings/console/shared/focus-field.ts'
import { changeOf, type Draft, draftOf, faultsOfDraft, faultsOfFailure, freshSecretOf } from './draft.ts'
import { groupConflict, groupParts } from './group-conflict.ts'
import { strings } from './strings.ts'
import { type TestState, useChannelTest } from './useChannelTest.ts'
import { groupsKey } from './useGroups.ts'

const savedText = (hasSecret: boolean): string => (hasSecret ? strings.savedSecret : strings.saved)

/** Saves changes of a group, and keeps a new secret until the user confirms that it is saved. */
const useSaveGroup = () => {
  const { api, queries } = useServices()
  const [fresh, setFresh] = useState<string | null>(null)
  /** Returns whether the webhook got a new secret. */
  const save = async ({ id, updatedAt }: NotificationGroup, change: ReturnType<typeof changeOf>): Promise<boolean> => {
    const body = { id, ...change, ifUpdatedAt: updatedAt }
    const groups = await api.call(updateNotificationGroup, { body }).catch(async (cause: unknown) => {
      // The group as it is now says what the other person changed.
      if (cause instanceof CallFailure && cause.code === 'conflict')
        await queries.refetchQueries({ queryKey: groupsKey })
      throw cause
    })
    queries.setQueryData(
      groupsKey,
      groups.map((one) =>
        freshSecretOf(one) === null
          ? one
          : { ...one, channels: { ...one.channels, webhook: { ...one.channels.webhook, secret: maskedSecret } } },
      ),
    )
    const secret = groups.map(freshSecretOf).find((one) => one !== null) ?? null
    // Another save does not hide the secret.
    if (secret !== null) setFresh(secret)
    return secret !== null
  }
  return { save, fresh, acknowledge: () => setFresh(null) }
}

/** Moves the focus to the first wrong field after a refusal or a failed test. Returns how to move it there at other times. */
const useFocusOnFaults = (
  form: RefObject<HTMLFormElement | null>,
  found: Record<string, string>,
  saveFailure: unknown,
  test: TestState | null,
) => {
  const focusOn = (faults: Record<string, string>) => focusField(form.current, (name) => Object.hasOwn(faults, name))
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each refusal and each test
  useEffect(() => focusOn(found), [saveFailure, test?.failure, test?.result])
  return focusOn
}

/** State of the form of a group: entered values, errors, test and save. */
export const useGroupDraft = (group: NotificationGroup, form: RefObject<HTMLFormElement | null>) => {
  const { save, fresh, acknowledge } = useSaveGroup()
  // With the group as the user began to edit it: changes that others save meanwhile are not part of this one.
  const [edited, setEdited] = useState<{ base: NotificationGroup; draft: Draft } | null>(null)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const { test, start, stop, forget } = useChannelTest(group)
  const [status, setStatus] = useState('')
  const [isSubmitted, setIsSubmitted] = useState(false)
  /** Fields that were changed since the server reported errors, which no longer apply to them. */
  const [changedFields, setChangedFields] = useState<ReadonlySet<string>>(new Set())

  const draft = edited?.draft ?? draftOf(group)
  const change = changeOf(edited?.base ?? group, draft)
  const isDirty = Object.keys(change).length > 0
  const own = faultsOfDraft(draft)
  const found = { ...faultsOfTest(test?.result), ...faultsOfFailure(test?.failure), ...faultsOfFailure(failure) }

  const focusOn = useFocusOnFaults(form, found, failure, test)

  const store = async () => {
    setBusy(true)
    setFailure(null)
    setChangedFields(new Set())
    try {
      const hasSecret = await save(edited?.base ?? group, change)
      setEdited(null)
      setIsSubmitted(false)
      forget()
      setStatus(savedText(hasSecret))
    } catch (reason) {
      setFailure(reason)
    } finally {
      setBusy(false)
    }
  }

  const take = (next: Draft) => {
    setEdited({ base: group, draft: next })
    setFailure(null)
  }
  // Another person can save the group while it is edited.
  const base = edited !== null && edited.base.updatedAt !== group.updatedAt ? edited.base : null

  return {
    draft,
    /** What another person changed meanwhile; null: nothing. */
    conflict:
      base === null
        ? null
        : {
            by: group.updatedBy,
            at: group.updatedAt,
            fields: groupConflict(base, group, draft),
            merge: () => take(merged(draftOf(base), draftOf(group), draft, groupParts)),
            discard: () => take(draftOf(group)),
          },
    change,
    busy,
    failure,
    test,
    status,
    fresh,
    isDirty,
    acknowledge,
    /** Returns whether every error is shown at a field. */
    isAtField: Object.keys(faultsOfFailure(failure)).length > 0,
    errorOf: (name: string): string | undefined =>
      (isSubmitted || name === 'channels.email.recipients' ? own[name] : undefined) ??
      (changedFields.has(name) ? undefined : found[name]),
    /** Enters a part of the draft; `names` are the fields that it changes. */
    enter: (part: Partial<Draft>, ...names: string[]) => {
      setStatus('')
      setChangedFields((old) => new Set([...old, ...names]))
      setEdited({ base: edited?.base ?? group, draft: { ...draft, ...part } })
    },
    runTest: async (channel: Channel) => {
      if (channel === 'email' && own['channels.email.recipients'] !== undefined) return focusOn(own)
      setChangedFields(new Set())
      await start(channel, draft)
    },
    stop,
    discard: () => {
      setEdited(null)
      setFailure(null)
      forget()
      setIsSubmitted(false)
      setStatus('')
    },
    submit: () => {
      setIsSubmitted(true)
      if (Object.keys(own).length > 0) focusOn(own)
      else if (isDirty && base === null) void store()
      else setStatus(strings.noChanges)
    },
  }
}

export type GroupDraft = ReturnType<typeof useGroupDraft>
