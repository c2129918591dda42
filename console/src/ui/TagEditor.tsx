import { Button, Group, Popover, Stack, TagsInput } from '@mantine/core'
import { addHashtags, deleteHashtags, getHashtags } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useServices } from '../lib/services.tsx'
import { ErrorState } from './ErrorState.tsx'
import { tell, tellWithUndo } from './tell.ts'

export interface TagEditorProps {
  entityType: 'Agent' | 'Peripheral'
  /** Ids of what gets the tags: agent uuids, or `<uuid>|<deviceID>`. */
  elementIds: readonly string[]
  /** Tags they all have now; without it tags are only added. */
  current?: readonly string[]
  /** Called after a change. */
  onChanged: () => void
  /** The button that opens the editor. */
  children: (open: () => void) => ReactNode
}

const tagFault = (name: string): string | null => {
  if (name.length > 64) return 'A tag has at most 64 characters.'
  return /[,;#\p{Cc}]/u.test(name) ? 'A tag has no comma, semicolon, # or control characters.' : null
}

/** Adds and removes tags, with an undo for ten seconds. */
export const TagEditor = ({ entityType, elementIds, current, onChanged, children }: TagEditorProps) => {
  const { api, queries } = useServices()
  const [opened, setOpened] = useState(false)
  const [names, setNames] = useState<string[]>([])
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const known = useQuery({
    queryKey: ['tags'],
    queryFn: ({ signal }) => api.call(getHashtags, { signal }),
    enabled: opened,
  })
  const fault = names.map(tagFault).find((one) => one !== null) ?? null

  const apply = async (add: readonly string[], remove: readonly string[]) => {
    const element = { elementIds: [...elementIds], entityType }
    if (add.length > 0) await api.call(addHashtags, { body: { hashtags: [...add], ...element } })
    if (remove.length > 0) await api.call(deleteHashtags, { body: { hashtags: [...remove], ...element } })
    void queries.invalidateQueries({ queryKey: ['tags'] })
    onChanged()
  }
  const save = async () => {
    const before = current ?? []
    const add = names.filter((name) => !before.includes(name))
    const remove = current === undefined ? [] : before.filter((name) => !names.includes(name))
    setBusy(true)
    setFailure(null)
    try {
      await apply(add, remove)
      setOpened(false)
      if (add.length + remove.length > 0) {
        // Many elements may have had a tag before: taking it back from all would remove more than was added.
        if (current === undefined) tell(`Tags added to ${elementIds.length.toLocaleString('en')}.`)
        else tellWithUndo('Tags changed.', () => apply(remove, add))
      }
    } catch (reason) {
      setFailure(reason)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-start" width={320} trapFocus withinPortal>
      <Popover.Target>
        <span>
          {children(() => {
            setNames([...(current ?? [])])
            setFailure(null)
            setOpened(true)
          })}
        </span>
      </Popover.Target>
      <Popover.Dropdown>
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
            comboboxProps={{ withinPortal: false }}
            data-autofocus
          />
          {failure === null ? null : <ErrorState failure={failure} inline />}
          <Group justify="flex-end" gap="sm">
            <Button size="xs" variant="default" onClick={() => setOpened(false)}>
              Cancel
            </Button>
            <Button size="xs" loading={busy} disabled={fault !== null} onClick={() => void save()}>
              Save
            </Button>
          </Group>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
