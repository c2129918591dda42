import { Modal } from '@mantine/core'
import { DecideForm } from './DecideForm.tsx'
import type { DecideStart, DecideSubject } from './decide.ts'
import { strings } from './strings.ts'

export interface DecideQuestion {
  subject: DecideSubject
  start: DecideStart
}

/** Approves, denies or grants a device after a preview of the changes. */
export const DecideDialog = ({ question, close }: { question: DecideQuestion | null; close: () => void }) => (
  <Modal opened={question !== null} onClose={close} title={strings.decideTitle}>
    {question === null ? null : <DecideForm {...question} close={close} />}
  </Modal>
)
