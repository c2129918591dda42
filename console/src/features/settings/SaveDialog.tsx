import { Button, Group, Modal } from '@mantine/core'
import { Differences } from './Differences.tsx'
import type { Difference } from './draft.ts'
import classes from './settings.module.css'
import { strings } from './strings.ts'

export interface SaveDialogProps {
  /** Null while the dialog is closed. */
  rows: readonly Difference[] | null
  consequence: string
  close: () => void
  save: () => void
}

/** Shows a change before something that others rely on moves elsewhere. */
export const SaveDialog = ({ rows, consequence, close, save }: SaveDialogProps) => (
  <Modal opened={rows !== null} onClose={close} title={strings.saveTitle}>
    {rows === null ? null : (
      <form
        className={classes.dialog}
        onSubmit={(event) => {
          event.preventDefault()
          close()
          save()
        }}
      >
        <p>{strings.saveText({ consequence })}</p>
        <Differences rows={rows} label={strings.saveChanges} />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={close}>
            {strings.cancel}
          </Button>
          <Button type="submit" data-autofocus>
            {strings.save}
          </Button>
        </Group>
      </form>
    )}
  </Modal>
)
