import { Button, Checkbox, Modal, NativeSelect, TextInput } from '@mantine/core'
import { fieldMessage } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import type { View } from '@portcullis/platform/console/ui/useView.ts'
import { useState } from 'react'
import { saveView, updateView } from '#features/contract.ts'
import { viewsKey } from './shared/view-address.ts'
import { strings } from './strings.ts'
import { useViews } from './useViews.ts'

const Form = ({ view, close }: { view: View; close: () => void }) => {
  const { api, session, queries } = useServices()
  const { page, current, views, open } = useViews(view)
  const own = views.filter(({ isOwn }) => isOwn)
  const [id, setId] = useState(open?.isOwn === true ? open.id : '')
  const replaced = own.find((one) => one.id === id)
  const [name, setName] = useState(replaced?.name ?? '')
  const [isShared, setShared] = useState(replaced?.isShared ?? false)
  const { busy, failure, run } = useChange()
  const choose = (next: string) => {
    const other = own.find((one) => one.id === next)
    setId(next)
    setName(other?.name ?? '')
    setShared(other?.isShared ?? false)
  }
  const fault = fieldMessage(failure, 'name')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void run(async () => {
          const body = { page, name: name.trim(), search: current, isShared }
          await (id === '' ? api.call(saveView, { body }) : api.call(updateView, { params: { id }, body }))
          await queries.invalidateQueries({ queryKey: viewsKey })
          tell(strings.viewSaved({ name: body.name }))
          close()
        })
      }}
    >
      <Stack>
        {own.length === 0 ? null : (
          <NativeSelect
            label={strings.saveAs}
            value={id}
            data={[
              { value: '', label: strings.newView },
              ...own.map((one) => ({ value: one.id, label: strings.replaceView({ name: one.name }) })),
            ]}
            onChange={(event) => choose(event.currentTarget.value)}
          />
        )}
        <TextInput
          label={strings.viewName}
          value={name}
          maxLength={60}
          data-autofocus
          error={fault}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {session.may('fleet:write') ? (
          <Checkbox
            label={strings.sharedView}
            checked={isShared}
            onChange={(event) => setShared(event.currentTarget.checked)}
          />
        ) : null}
        {fault === undefined ? <ErrorState failure={failure} inline /> : null}
        <DialogActions
          close={close}
          action={strings.saveTitle}
          busy={busy}
          isReady={name.trim() !== ''}
          startsAt="form"
        />
      </Stack>
    </form>
  )
}

/** Saves the state of a list under a name. Nothing, while the list shows its default or a saved view. */
export const SaveView = ({ view }: { view: View }) => {
  const { current, open } = useViews(view)
  const [isOpen, setOpen] = useState(false)
  if (!isOpen && (current === '' || (open !== undefined && open.missing.length === 0))) return null
  return (
    <>
      <Button variant="subtle" size="compact-sm" onClick={() => setOpen(true)}>
        {strings.saveView}
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={strings.saveTitle}>
        <Form view={view} close={() => setOpen(false)} />
      </Modal>
    </>
  )
}
