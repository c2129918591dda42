import { Button, Group, Stack, TagsInput } from '@mantine/core'
import { addHashtags, deleteHashtags, getHashtags } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { isStoredRequest } from '../lib/problem.ts'
import { useServices } from '../lib/services.tsx'
import { ErrorState } from './ErrorState.tsx'
import { asReason, lacksReason, NewlyAllowed } from './policy/NewlyAllowed.tsx'
import { hosts as hostsText } from './policy/words.ts'
import type { TagEditorProps } from './TagEditor.tsx'
import { tell, tellWithUndo } from './tell.ts'

const tagFault = (name: string): string | null => {
  if (name.length > 64) return 'A tag has at most 64 characters.'
  return /[,;#\p{Cc}]/u.test(name) ? 'A tag has no comma, semicolon, # or control characters.' : null
}

// 50 tags on each are the 250,000 pairs that one call may have.
const idsPerCall = 5_000

const undoQuestion = (hosts: number) => ({
  title: 'Undo the change of tags',
  names: [],
  count: hosts,
  kind: ['host', 'hosts'] as const,
  consequence: 'the tags from before the change come back.',
  action: 'Undo',
  worksAgain: { severity: 'amber' as const, text: `This newly allows devices on ${hostsText(hosts)}.` },
  ...(hosts > 1 ? { reasonFor: 'Why these devices may be used' } : {}),
})

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
  // Hosts on which the change newly allows devices; above 0 the form asks a second time.
  const [opened, setOpened] = useState(0)
  const [reason, setReason] = useState('')
  const isStored = isStoredRequest(failure)
  const known = useQuery({ queryKey: ['tags'], queryFn: ({ signal }) => api.call(getHashtags, { signal }) })
  const fault = names.map(tagFault).find((one) => one !== null) ?? null

  /** Sends the change in parts; returns the number of elements, and of hosts on which a dry run newly allows devices. */
  const send = async (
    add: readonly string[],
    remove: readonly string[],
    options: { reason?: string; dryRun?: true },
  ) => {
    const ids = typeof elementIds === 'function' ? await elementIds() : elementIds
    const allowed = { byAdding: 0, byRemoving: 0 }
    for (let from = 0; from < ids.length; from += idsPerCall) {
      const element = { elementIds: ids.slice(from, from + idsPerCall), entityType, ...options }
      if (add.length > 0)
        allowed.byAdding +=
          (await api.call(addHashtags, { body: { hashtags: [...add], ...element } })).newlyAllowed ?? 0
      if (remove.length > 0)
        allowed.byRemoving +=
          (await api.call(deleteHashtags, { body: { hashtags: [...remove], ...element } })).newlyAllowed ?? 0
    }
    return { elements: ids.length, newlyAllowed: Math.max(allowed.byAdding, allowed.byRemoving) }
  }
  /** Changes the tags; returns the number of elements. */
  const apply = async (add: readonly string[], remove: readonly string[], why: string): Promise<number> => {
    const { elements } = await send(add, remove, asReason(why))
    void queries.invalidateQueries({ queryKey: ['tags'] })
    onChanged()
    return elements
  }
  /** Counts the hosts on which a change newly allows devices. */
  const count = async (add: readonly string[], remove: readonly string[]): Promise<number> =>
    entityType === 'Agent' ? (await send(add, remove, { dryRun: true })).newlyAllowed : 0
  const save = async () => {
    const before = current ?? []
    const add = names.filter((name) => !before.includes(name))
    const remove = current === undefined ? [] : before.filter((name) => !names.includes(name))
    setBusy(true)
    setFailure(null)
    try {
      if (opened === 0) {
        const hosts = await count(add, remove)
        setOpened(hosts)
        if (hosts > 0) return
      }
      const changed = await apply(add, remove, reason)
      close()
      if (add.length + remove.length > 0) {
        // Many elements may have had a tag before: taking it back from all would remove more than was added.
        if (current === undefined) tell(`Tags added to ${changed.toLocaleString('en')}.`)
        else
          tellWithUndo(
            'Tags changed.',
            (why) => apply(remove, add, why),
            async () => {
              const hosts = await count(remove, add)
              return hosts === 0 ? null : undoQuestion(hosts)
            },
          )
      }
    } catch (cause) {
      setFailure(cause)
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
        onChange={(next) => {
          setNames(next)
          setOpened(0)
          setFailure(null)
        }}
        splitChars={[',', ';']}
        maxTags={50}
        placeholder="Type and press enter"
        error={fault}
        comboboxProps={{ withinPortal: false, position: 'top' }}
        maxDropdownHeight={180}
        data-autofocus
      />
      {isStored ? null : <NewlyAllowed hosts={opened} reason={reason} setReason={setReason} />}
      {failure === null ? null : <ErrorState failure={failure} inline />}
      <Group justify="flex-end" gap="sm">
        <Button
          // Mounted again with the warning, so that it takes the focus.
          key={opened > 0 ? 'asked' : 'plain'}
          size="xs"
          variant="default"
          autoFocus={opened > 0}
          onClick={close}
        >
          {isStored ? 'Close' : 'Cancel'}
        </Button>
        {isStored ? null : (
          <Button
            size="xs"
            loading={busy}
            disabled={fault !== null || lacksReason(opened, reason)}
            onClick={() => void save()}
          >
            {opened === 0 ? 'Save' : 'Save and allow'}
          </Button>
        )}
      </Group>
    </Stack>
  )
}
