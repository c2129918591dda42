import { Button, Modal } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useState } from 'react'
import { moveRules } from '#features/contract.ts'
import { GroupField } from './shared/GroupField.tsx'
import { rereadPolicy } from './shared/undo.ts'
import { strings } from './strings.ts'

const Form = ({ ids, close }: { ids: readonly string[]; close: () => void }) => {
  const services = useServices()
  const [group, setGroup] = useState('')
  const { busy, failure, run } = useChange()
  const name = group.trim()
  const move = () =>
    run(async () => {
      await services.api.call(moveRules, { body: { ruleIds: [...ids], group: name || null } })
      rereadPolicy(services)
      tell(
        name === '' ? strings.rulesUngrouped({ count: ids.length }) : strings.rulesMoved({ count: ids.length, name }),
      )
      close()
    })
  return (
    <Stack as="form" onSubmit={submits(() => void move())}>
      <p>{strings.moveEffect}</p>
      <GroupField value={group} onChange={setGroup} />
      <ErrorState failure={failure} inline />
      <DialogActions
        close={close}
        action={name === '' ? strings.takeOut({ count: ids.length }) : strings.moveRules({ count: ids.length })}
        busy={busy}
        startsAt="form"
      />
    </Stack>
  )
}

/** Moves the selected rules to a group, or removes them from their groups. */
export const MoveRules = ({ ids }: { ids: readonly string[] }) => {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
        {strings.askMove}
      </Button>
      <Modal opened={isOpen} onClose={close} title={strings.moveTitle}>
        {isOpen ? <Form ids={ids} close={close} /> : null}
      </Modal>
    </>
  )
}
