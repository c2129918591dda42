import { Button, Group, Modal } from '@mantine/core'
import { Differences } from './Differences.tsx'
import type { Difference } from './draft.ts'
import classes from './settings.module.css'
import { strings } from './strings.ts'

export interface SaveDialogProps {
  /** Null: closed. */
  rows: readonly Difference[] | null
  consequence: string
  close: () => void
  save: () => void
}

/** What a change comes to, before something that others rely on leads elsewhere. */
export const SaveDialog = ({ rows, consequence, close, save }: SaveDialogProps) => (
  <Modal opened={rows !== null} onClose={close} title={strings.saveTheseChanges}>
    {rows === null ? null : (
      <form
        className={classes.dialog}
        onSubmit={(event) => {
          event.preventDefault()
          close()
          save()
        }}
      >
        <p>{strings.consequenceTheHistoryKeepsWhatWas({ consequence })}</p>
        <Differences rows={rows} label={strings.whatChanges} />
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
