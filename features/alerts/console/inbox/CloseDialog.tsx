import { Modal, Radio, Textarea } from '@mantine/core'
import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Note, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useState } from 'react'
import { type AlertVerdict, alertVerdictHelp, alertVerdictLabels, alertVerdicts } from '#features/contract.ts'
import { CloseFindings, obstacleOf, useFindingsOf } from './CloseFindings.tsx'
import type { Case, Closing } from './case.ts'
import { strings } from './strings.ts'

const labels = messages(alertVerdictLabels)
const help = messages(alertVerdictHelp)
const titlesShown = 5

interface CloseDialogProps {
  /** Null: the dialog is closed. */
  cases: readonly Case[] | null
  close: (closing: Closing) => Promise<void>
  cancel: () => void
}

const Body = ({ cases, close, cancel }: CloseDialogProps & { cases: readonly Case[] }) => {
  const [verdict, setVerdict] = useState<AlertVerdict | ''>('')
  const [comment, setComment] = useState('')
  const [isTicked, tick] = useState(false)
  const findings = useFindingsOf(cases)
  const closed = isTicked && obstacleOf(findings.findings, verdict) === '' ? findings.findings : []
  const { busy, failure, run } = useChange()
  const needsVerdict = cases.some((one) => one.needsVerdict)
  const more = cases.length - titlesShown
  return (
    <Stack
      as="form"
      onSubmit={(event) => {
        event.preventDefault()
        void run(() => close({ verdict, comment: comment.trim(), findings: closed.map(({ id }) => id) }))
      }}
    >
      <Text as="ul" small breaks>
        {cases.slice(0, titlesShown).map(({ id, title }) => (
          <li key={id}>
            <DeviceText value={title} />
          </li>
        ))}
        {more > 0 ? <li>{strings.andMore({ count: more, link: (text) => text })}</li> : null}
      </Text>
      <Radio.Group
        label={strings.verdict}
        description={needsVerdict ? strings.verdictRequired : strings.verdictOptional}
        required={needsVerdict}
        value={verdict}
        onChange={(value) => setVerdict(value as AlertVerdict)}
      >
        <Stack gap={6} pad="8px 0 0">
          {alertVerdicts.map((one, index) => (
            <Radio
              key={one}
              value={one}
              label={labels[one]}
              description={help[one]}
              data-autofocus={index === 0 || undefined}
            />
          ))}
        </Stack>
      </Radio.Group>
      <Textarea
        label={strings.comment}
        maxLength={4_000}
        autosize
        minRows={2}
        maxRows={8}
        value={comment}
        onChange={(event) => setComment(event.currentTarget.value)}
      />
      <CloseFindings of={findings} verdict={verdict} isTicked={isTicked} tick={tick} />
      <Note>{strings.closeEffect}</Note>
      <ErrorState failure={failure} inline />
      <DialogActions
        action={strings.closeCount({ count: cases.length })}
        busy={busy}
        isReady={verdict !== '' || !needsVerdict}
        close={cancel}
        startsAt="form"
      />
    </Stack>
  )
}

/** Asks for the verdict and a comment, and closes alerts for everybody. */
export const CloseDialog = (props: CloseDialogProps) => (
  <Modal
    opened={props.cases !== null}
    onClose={props.cancel}
    title={strings.closeCount({ count: props.cases?.length ?? 1 })}
  >
    {props.cases === null ? null : <Body {...props} cases={props.cases} />}
  </Modal>
)
