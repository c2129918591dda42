import { Button, FileButton, Textarea } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { CallFailure, fieldMessage, messageOf } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { LeaveGuard } from '@portcullis/platform/console/ui/form/LeaveGuard.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Quiet, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { useState } from 'react'
import { addOrUpdateLicense, configGroups, type LicenceDetails } from '#features/contract.ts'
import { licenceLabels } from './licence-labels.ts'
import { strings } from './strings.ts'

const { max } = configGroups.license.items.LICENSE_KEY

export interface LicenceFormProps {
  isHeld: boolean
  onChanged: (licence: LicenceDetails) => void
}

/** Enters a licence as text or from a file. */
export const LicenceForm = ({ isHeld, onChanged }: LicenceFormProps) => {
  const { api } = useServices()
  const [text, setText] = useState('')
  const { busy, failure, run, setFailure } = useChange({ closes: false })
  const [status, setStatus] = useState('')
  const body = { LICENSE_KEY: text.trim() }
  const enter = (next: string) => {
    setText(next)
    setFailure(null)
    setStatus('')
  }
  const save = () =>
    run(async () => {
      const next = await api.call(addOrUpdateLicense, { body })
      setText('')
      setStatus(strings.licenceSaved({ status: licenceLabels[next.status].title }))
      onChanged(next)
    })
  // Errors in the text of the licence are shown at the field.
  const isOfText = failure instanceof CallFailure && failure.code === 'licence_invalid'
  const atField = isOfText
    ? `${messageOf(failure).detail} ${messageOf(failure).cure}`
    : fieldMessage(failure, 'LICENSE_KEY')
  return (
    <Stack as="form" gap={10} onSubmit={submits(() => body.LICENSE_KEY !== '' && save())}>
      <LeaveGuard isDirty={text.trim() !== ''} />
      <Textarea
        label={isHeld ? strings.newLicence : strings.licence}
        description={strings.licenceHelp}
        name="LICENSE_KEY"
        rows={5}
        maxLength={max}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 12 } }}
        value={text}
        error={atField}
        onChange={(event) => enter(event.currentTarget.value)}
      />
      {failure === null || atField !== undefined ? null : <ErrorState failure={failure} inline />}
      <Row wrap>
        <FileButton
          onChange={(file) => {
            // A licence is a line of text: of larger files, only the beginning is read.
            if (file !== null)
              void file
                .slice(0, max + 1)
                .text()
                .then(enter)
          }}
        >
          {(props) => (
            <Button {...props} variant="default">
              {strings.uploadFile}
            </Button>
          )}
        </FileButton>
        <Button type="submit" loading={busy} disabled={text.trim() === ''}>
          {strings.saveLicence}
        </Button>
        <MoreMenu
          label={strings.moreActions}
          curl={() => curlOf(addOrUpdateLicense, { body: { LICENSE_KEY: '$LICENSE_KEY' } })}
        />
        <Quiet small role="status">
          {status}
        </Quiet>
      </Row>
    </Stack>
  )
}
