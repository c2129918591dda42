import { Modal } from '@mantine/core'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { Differences } from './Differences.tsx'
import type { Difference } from './draft.ts'
import { strings } from './strings.ts'

export interface SaveDialogProps {
  /** Null while the dialog is closed. */
  rows: readonly Difference[] | null
  consequence: string
  close: () => void
  save: () => void
}

/** Shows the changes before mail, sign-ins or quarantines go to another address. */
export const SaveDialog = ({ rows, consequence, close, save }: SaveDialogProps) => (
  <Modal opened={rows !== null} onClose={close} title={strings.saveTitle}>
    {rows === null ? null : (
      <Stack
        as="form"
        gap={14}
        onSubmit={(event) => {
          event.preventDefault()
          close()
          save()
        }}
      >
        <p>{strings.saveText({ consequence })}</p>
        <Differences rows={rows} label={strings.saveChanges} />
        <DialogActions close={close} action={strings.save} startsAt="action" />
      </Stack>
    )}
  </Modal>
)
