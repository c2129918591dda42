import { TagsInput } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { strings } from '@portcullis/platform/console/ui/strings.ts'
import { tell, tellWithUndo } from '@portcullis/platform/console/ui/tell.ts'
import { useState } from 'react'
import { addHashtags, deleteHashtags, getHashtags } from '#features/contract.ts'
import { type Opens, openedHosts, tagsOpenText } from '#features/policy/console/shared/labels.ts'
import { asReason, lacksReason, NewlyAllowed } from '#features/policy/console/shared/NewlyAllowed.tsx'
import { opensByTags, tagChanges } from '#features/policy/console/shared/opens-by-tags.ts'

const tagFault = (name: string): string | null => {
  if (name.length > 64) return strings.tagTooLong
  return /[,;#\p{Cc}]/u.test(name) ? strings.tagCharacters : null
}

// One request accepts 250,000 pairs: 50 tags on each of 5,000 elements.
const idsPerCall = 5_000

const undoQuestion = (opens: Opens) => ({
  title: strings.undoTagsTitle,
  names: [],
  count: openedHosts(opens),
  kind: strings.hostCount,
  consequence: strings.undoTagsEffect,
  action: strings.undo,
  worksAgain: tagsOpenText(opens),
  ...(openedHosts(opens) > 1 ? { reasonFor: strings.whyDevices } : {}),
})

export interface TagFormProps {
  entityType: 'Agent' | 'Peripheral'
  /** Ids of the tagged elements: host uuids, or `<uuid>|<deviceID>`; or a function that reads them when needed. */
  elementIds: readonly string[] | (() => Promise<readonly string[]>)
  /** Their current tags. If absent, tags can only be added. */
  current?: readonly string[]
  /** Called after a change. */
  onChanged: () => void
  close: () => void
}

/** Requests of the tag editor. */
const useTagChanges = ({ entityType, elementIds, onChanged }: TagFormProps) => {
  const { api, queries } = useServices()
  const idsOf = async (): Promise<readonly string[]> =>
    typeof elementIds === 'function' ? await elementIds() : elementIds
  /** Changes the tags, in parts; returns the number of elements. */
  const apply = async (add: readonly string[], remove: readonly string[], why: string): Promise<number> => {
    const ids = await idsOf()
    for (let from = 0; from < ids.length; from += idsPerCall) {
      const element = { elementIds: ids.slice(from, from + idsPerCall), entityType, ...asReason(why) }
      if (add.length > 0) await api.call(addHashtags, { body: { hashtags: [...add], ...element } })
      if (remove.length > 0) await api.call(deleteHashtags, { body: { hashtags: [...remove], ...element } })
    }
    void queries.invalidateQueries({ queryKey: ['tags'] })
    onChanged()
    return ids.length
  }
  /** Reads what a change newly allows; null if nothing. */
  const opensBy = async (add: readonly string[], remove: readonly string[]): Promise<Opens | null> => {
    if (entityType !== 'Agent') return null
    const found = await opensByTags(api, tagChanges(await idsOf(), add, remove))
    return openedHosts(found) === 0 ? null : found
  }
  return { apply, opensBy }
}

/** State of the tag editor. */
const useTagForm = (props: TagFormProps) => {
  const { current, close } = props
  const { apply, opensBy } = useTagChanges(props)
  const [names, setNames] = useState<string[]>([...(current ?? [])])
  const { busy, failure, isStored, run, setFailure } = useChange({ closes: false })
  // Devices that the change newly allows; null before the preview.
  const [opens, setOpens] = useState<Opens | null>(null)
  const opened = opens === null ? 0 : openedHosts(opens)
  const [reason, setReason] = useState('')
  const known = useRead(['tags'], getHashtags)
  const fault = names.map(tagFault).find((one) => one !== null) ?? null

  const save = async () => {
    const before = current ?? []
    const add = names.filter((name) => !before.includes(name))
    const remove = current === undefined ? [] : before.filter((name) => !names.includes(name))
    await run(async () => {
      if (opened === 0) {
        const found = await opensBy(add, remove)
        setOpens(found)
        if (found !== null) return
      }
      const changed = await apply(add, remove, reason)
      close()
      if (add.length + remove.length > 0) {
        // Some elements may already have had the tag, so an undo for all would remove too much.
        if (current === undefined) tell(strings.tagsAdded({ count: changed }))
        else
          tellWithUndo(
            strings.tagsChanged,
            (why) => apply(remove, add, why),
            async () => {
              const found = await opensBy(remove, add)
              return found === null ? null : undoQuestion(found)
            },
          )
      }
    })
  }
  const choose = (next: string[]) => {
    setNames(next)
    setOpens(null)
    setFailure(null)
  }
  const tags = (known.data ?? []).map(({ name }) => name)
  return { tags, names, choose, fault, opens, opened, reason, setReason, busy, failure, isStored, save }
}

/** The form of the tag editor. */
export const TagForm = (props: TagFormProps) => {
  const { tags, names, choose, fault, opens, opened, reason, setReason, busy, failure, isStored, save } =
    useTagForm(props)
  const { current, close } = props
  return (
    <Stack gap={8}>
      <TagsInput
        label={current === undefined ? strings.tagsToAdd : strings.tags}
        size="xs"
        data={tags}
        value={names}
        onChange={choose}
        splitChars={[',', ';']}
        maxTags={50}
        placeholder={strings.tagPlaceholder}
        error={fault}
        comboboxProps={{ withinPortal: false, position: 'top' }}
        maxDropdownHeight={180}
        data-autofocus
      />
      {isStored ? null : <NewlyAllowed opens={opens} reason={reason} setReason={setReason} />}
      <ErrorState failure={failure} inline />
      <DialogActions
        size="xs"
        close={close}
        action={opened === 0 ? strings.save : strings.saveAndAllow}
        run={() => void save()}
        busy={busy}
        isReady={fault === null && !lacksReason(opened, reason)}
        isStored={isStored}
        startsAt="form"
        takesFocus={opened > 0}
      />
    </Stack>
  )
}
