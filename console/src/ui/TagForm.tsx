import { Button, Group, Stack, TagsInput } from '@mantine/core'
import { addHashtags, deleteHashtags, getHashtags } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useServices } from '../lib/services.tsx'
import { ErrorState } from './ErrorState.tsx'
import type { TagEditorProps } from './TagEditor.tsx'
import { tell, tellWithUndo } from './tell.ts'

const tagFault = (name: string): string | null => {
  if (name.length > 64) return 'A tag has at most 64 characters.'
  return /[,;#\p{Cc}]/u.test(name) ? 'A tag has no comma, semicolon, # or control characters.' : null
}

// 50 tags on each are the 250,000 pairs that one call may have.
const idsPerCall = 5_000

/** The form of the tag editor. */
export const TagForm = ({
  entityType,
  elementIds,
  current,
  onChanged,
  close,
}: Omit<TagEditorProps, 'children'> & { close: () => void }) => {
  const { api, queries } = useServices()
  const [names, setNames] = useState<string[]>([...(current ?? [])])
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const known = useQuery({ queryKey: ['tags'], queryFn: ({ signal }) => api.call(getHashtags, { signal }) })
  const fault = names.map(tagFault).find((one) => one !== null) ?? null

  /** Changes the tags and gives the number of things they were changed on. */
  const apply = async (add: readonly string[], remove: readonly string[]): Promise<number> => {
    const ids = typeof elementIds === 'function' ? await elementIds() : elementIds
    for (let from = 0; from < ids.length; from += idsPerCall) {
      const element = { elementIds: ids.slice(from, from + idsPerCall), entityType }
      if (add.length > 0) await api.call(addHashtags, { body: { hashtags: [...add], ...element } })
      if (remove.length > 0) await api.call(deleteHashtags, { body: { hashtags: [...remove], ...element } })
    }
    void queries.invalidateQueries({ queryKey: ['tags'] })
    onChanged()
    return ids.length
  }
  const save = async () => {
    const before = current ?? []
    const add = names.filter((name) => !before.includes(name))
    const remove = current === undefined ? [] : before.filter((name) => !names.includes(name))
    setBusy(true)
    setFailure(null)
    try {
      const changed = await apply(add, remove)
      close()
      if (add.length + remove.length > 0) {
        // Many elements may have had a tag before: taking it back from all would remove more than was added.
        if (current === undefined) tell(`Tags added to ${changed.toLocaleString('en')}.`)
        else tellWithUndo('Tags changed.', () => apply(remove, add))
      }
    } catch (reason) {
      setFailure(reason)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Stack gap="sm">
      <TagsInput
        label={current === undefined ? 'Tags to add' : 'Tags'}
        size="xs"
        data={(known.data ?? []).map(({ name }) => name)}
        value={names}
        onChange={setNames}
        splitChars={[',', ';']}
        maxTags={50}
        placeholder="Type and press enter"
        error={fault}
        comboboxProps={{ withinPortal: false, position: 'top' }}
        maxDropdownHeight={180}
        data-autofocus
      />
      {failure === null ? null : <ErrorState failure={failure} inline />}
      <Group justify="flex-end" gap="sm">
        <Button size="xs" variant="default" onClick={close}>
          Cancel
        </Button>
        <Button size="xs" loading={busy} disabled={fault !== null} onClick={() => void save()}>
          Save
        </Button>
      </Group>
    </Stack>
  )
}
