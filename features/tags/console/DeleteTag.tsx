import { Modal, TextInput } from '@mantine/core'
import { language } from '@portcullis/platform/console/lib/locale.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { deleteHashtags, type Tag } from '#features/contract.ts'
import { openedHosts } from '#features/policy/console/shared/labels.ts'
import { asReason, lacksReason, NewlyAllowed } from '#features/policy/console/shared/NewlyAllowed.tsx'
import { opensByTags } from '#features/policy/console/shared/opens-by-tags.ts'
import { strings } from './strings.ts'
import { type TagUses, useTagUses } from './useTagUses.ts'

// Above this number, the user types it to confirm.
const typedAbove = 1_000
const shown = 5

const Names = ({ names, total }: { names: readonly string[]; total: number }) => (
  <ul>
    {names.slice(0, shown).map((name, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: rules may have the same text, and their order is fixed
      <li key={index}>
        <DeviceText value={name} />
      </li>
    ))}
    {total > shown ? <li>{strings.andMore({ count: total - shown })}</li> : null}
  </ul>
)

const Uses = ({ uses }: { uses: TagUses }) => {
  if (uses.rulesTotal === 0 && uses.rollouts.length === 0 && uses.exclusions.length === 0)
    return <p>{strings.unused}</p>
  return (
    <>
      {uses.rulesTotal === 0 ? null : (
        <div>
          <strong>{strings.affectedRules({ count: uses.rulesTotal })}</strong>
          <Names names={uses.rules} total={uses.rulesTotal} />
        </div>
      )}
      {uses.rollouts.length === 0 ? null : (
        <div>
          <strong>{strings.affectedRollouts({ count: uses.rollouts.length })}</strong>
          <Names names={uses.rollouts} total={uses.rollouts.length} />
        </div>
      )}
      {uses.exclusions.length === 0 ? null : (
        <p>
          {strings.affectedExclusions({
            systems: <strong key="systems">{new Intl.ListFormat(language).format(uses.exclusions)}</strong>,
          })}
        </p>
      )}
    </>
  )
}

const Body = ({ tag, close }: { tag: Tag; close: () => void }) => {
  const { api, queries } = useServices()
  const [typed, setTyped] = useState('')
  const { busy, failure, isStored, run } = useChange()
  const uses = useTagUses(tag)
  const carriers = tag.agentsCount + tag.peripheralsCount
  const mustType = carriers > typedAbove
  const name = (
    <strong key="name">
      <DeviceText value={tag.name} />
    </strong>
  )
  const [reason, setReason] = useState('')
  const opened = useQuery({
    queryKey: ['tags', 'newly-allowed', tag.name],
    queryFn: ({ signal }) => opensByTags(api, [{ effect: 'remove', hashtags: [tag.name], uuids: null }], signal),
    gcTime: 0,
    retry: false,
  })
  const remove = () =>
    run(async () => {
      await api.call(deleteHashtags, { body: { hashtags: [tag.name], ...asReason(reason) } })
      close()
      tell(strings.tagDeleted)
      void queries.invalidateQueries({ queryKey: ['tags'] })
    })
  return (
    <Stack as="form" gap={14} breaks onSubmit={submits(() => !isStored && remove())}>
      <p>
        {carriers === 0
          ? strings.deleteUnused({ tag: name })
          : strings.deleteEffect({ tag: name, hosts: tag.agentsCount, devices: tag.peripheralsCount })}
      </p>
      {uses.error !== null ? (
        <ErrorState query={uses} inline />
      ) : uses.data === undefined ? (
        <p aria-live="polite">{strings.loadingUses}</p>
      ) : (
        <Uses uses={uses.data} />
      )}
      <ErrorState query={opened} inline />
      {isStored ? null : <NewlyAllowed opens={opened.data ?? null} reason={reason} setReason={setReason} />}
      {mustType && !isStored ? (
        <TextInput
          label={strings.typeCount({ count: carriers })}
          value={typed}
          inputMode="numeric"
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      ) : null}
      <ErrorState failure={failure} inline />
      <DialogActions
        action={strings.deleteTag}
        isDangerous
        busy={busy}
        isReady={
          uses.data !== undefined &&
          opened.data !== undefined &&
          !lacksReason(openedHosts(opened.data), reason) &&
          (!mustType || typed === String(carriers))
        }
        isStored={isStored}
        close={close}
      />
    </Stack>
  )
}

/** Confirms the deletion of a tag and shows what uses it. */
export const DeleteTag = ({ tag, close }: { tag: Tag | null; close: () => void }) => (
  <Modal opened={tag !== null} onClose={close} title={strings.deleteTag}>
    {tag === null ? null : <Body tag={tag} close={close} />}
  </Modal>
)
