import { Modal, Radio, Textarea } from '@mantine/core'
import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Note, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useState } from 'react'
import {
  type AlertVerdict,
  alertVerdictLabels,
  alertVerdicts,
  closeFindings,
  type HostFinding,
} from '#features/contract.ts'
import { tellClosed } from './actions.ts'
import { FindingNames } from './FindingNames.tsx'
import { removalNeeded } from './removal.ts'
import { strings } from './strings.ts'

const hints: Readonly<Record<AlertVerdict, string>> = {
  true: strings.trueHint,
  benign: strings.benignHint,
  false: strings.falseHint,
  test: strings.testHint,
}
const labels = messages(alertVerdictLabels)

export interface CloseFindingsProps {
  /** Null: the dialog is closed. */
  findings: readonly HostFinding[] | null
  close: () => void
  onChanged: () => void
}

const Body = ({ findings, close, onChanged }: CloseFindingsProps & { findings: readonly HostFinding[] }) => {
  const services = useServices()
  const [verdict, setVerdict] = useState<AlertVerdict | null>(null)
  const [comment, setComment] = useState('')
  const { busy, failure, run } = useChange()
  const send = () =>
    run(async () => {
      if (verdict === null) return
      await services.api.call(closeFindings, { body: { ids: findings.map(({ id }) => id), verdict, comment } })
      close()
      onChanged()
      tellClosed(services, findings, onChanged)
    })
  return (
    <form onSubmit={submits(send)}>
      <Stack>
        <FindingNames findings={findings} />
        <Radio.Group
          label={strings.verdict}
          value={verdict ?? ''}
          onChange={(value) => setVerdict(value as AlertVerdict)}
        >
          <Stack gap={8} top={6}>
            {alertVerdicts.map((value) => (
              <Radio
                key={value}
                value={value}
                label={labels[value]}
                description={removalNeeded(findings, value) || hints[value]}
                disabled={removalNeeded(findings, value) !== ''}
              />
            ))}
          </Stack>
        </Radio.Group>
        <Textarea
          label={strings.comment}
          description={strings.commentHint}
          maxLength={4_000}
          rows={2}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
        />
        <Note>{strings.decisionsStay}</Note>
        <ErrorState failure={failure} inline />
        <DialogActions
          close={close}
          action={strings.closeFindings({ count: findings.length })}
          busy={busy}
          isReady={verdict !== null}
          startsAt="form"
        />
      </Stack>
    </form>
  )
}

/** Closes findings with a verdict and a comment. */
export const CloseFindingsDialog = ({ findings, close, onChanged }: CloseFindingsProps) => (
  <Modal opened={findings !== null} onClose={close} title={strings.closeFindings({ count: findings?.length ?? 1 })}>
    {findings === null ? null : <Body findings={findings} close={close} onChanged={onChanged} />}
  </Modal>
)
