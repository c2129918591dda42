import { Modal, TextInput } from '@mantine/core'
import { fieldMessage } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { bindText } from '@portcullis/platform/console/ui/form/bind-text.ts'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useState } from 'react'
import { createRuleGroup, type RuleGroup, updateRuleGroup } from '#features/contract.ts'
import { rereadPolicy } from './shared/undo.ts'
import { strings } from './strings.ts'

interface Draft {
  name: string
  owner: string
  reviewOn: string
}

const Form = ({ group, close }: { group: RuleGroup | null; close: () => void }) => {
  const services = useServices()
  const { api } = services
  const [draft, setDraft] = useState<Draft>({
    name: group?.name ?? '',
    owner: group?.owner ?? '',
    reviewOn: group?.reviewOn ?? '',
  })
  const { busy, failure, run } = useChange()
  const faultOf = (name: keyof Draft) => fieldMessage(failure, name)
  const hasFault = (['name', 'owner', 'reviewOn'] as const).some((name) => faultOf(name) !== undefined)
  const text = bindText(draft, (part: Partial<Draft>) => setDraft({ ...draft, ...part }), faultOf)
  const save = () =>
    run(async () => {
      const body = { name: draft.name.trim(), owner: draft.owner.trim(), reviewOn: draft.reviewOn || null }
      await (group === null
        ? api.call(createRuleGroup, { body })
        : api.call(updateRuleGroup, { params: { id: group.id }, body: { ...body, ifChangedAt: group.changedAt } }))
      rereadPolicy(services)
      tell(group === null ? strings.groupAdded : strings.groupSaved)
      close()
    })
  return (
    <Stack as="form" onSubmit={submits(() => draft.name.trim() !== '' && void save())}>
      <TextInput label={strings.name} maxLength={60} data-autofocus {...text('name')} />
      <TextInput label={strings.groupOwner} maxLength={100} description={strings.groupOwnerHint} {...text('owner')} />
      <TextInput type="date" label={strings.groupReview} description={strings.groupReviewHint} {...text('reviewOn')} />
      {hasFault ? null : <ErrorState failure={failure} inline />}
      <DialogActions
        close={close}
        action={group === null ? strings.addGroup : strings.save}
        busy={busy}
        isReady={draft.name.trim() !== ''}
        startsAt="form"
      />
    </Stack>
  )
}

/** Adds or changes a rule group. */
export const GroupDialog = ({
  group,
  close,
}: {
  /** Undefined: closed. Null: a new group. */
  group: RuleGroup | null | undefined
  close: () => void
}) => (
  <Modal opened={group !== undefined} onClose={close} title={group === null ? strings.addGroup : strings.editGroup}>
    {group === undefined ? null : <Form group={group} close={close} />}
  </Modal>
)
