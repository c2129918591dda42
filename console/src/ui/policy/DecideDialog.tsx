import { Modal } from '@mantine/core'
import { DecideForm } from './DecideForm.tsx'
import type { DecideStart, DecideSubject } from './decide.ts'
import { strings } from './strings.ts'

export interface DecideQuestion {
  subject: DecideSubject
  start: DecideStart
}

/** Allows, denies or grants a device, after a look at what that changes. */
export const DecideDialog = ({ question, close }: { question: DecideQuestion | null; close: () => void }) => (
  <Modal opened={question !== null} onClose={close} title={strings.decideAboutADevice}>
    {question === null ? null : <DecideForm {...question} close={close} />}
  </Modal>
)
