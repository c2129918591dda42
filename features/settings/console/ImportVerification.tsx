import { Checkbox, Modal } from '@mantine/core'
import { isStoredRequest } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useState } from 'react'
import { importWindowsVerification } from '#features/contract.ts'
import { strings } from './strings.ts'
import { type ChosenVerification, stepTitle } from './windows.ts'

interface ImportProps {
  chosen: ChosenVerification
  close: () => void
  onDone: () => void
}

const Body = ({ chosen, close, onDone }: ImportProps) => {
  const { api } = useServices()
  const [confirmed, setConfirmed] = useState<readonly string[]>([])
  const { busy, failure, run: send } = useChange({ closes: false })
  const { file, build, passed, failed, open } = chosen
  const run = () =>
    send(async () => {
      await api.call(importWindowsVerification, { body: { file, confirmed: [...open] } })
      tell(strings.windowsImported({ build }))
      onDone()
      close()
    })
  return (
    <Stack gap={8}>
      {failed.length > 0 ? (
        <p role="alert">{strings.windowsFailed({ steps: failed.map(stepTitle).join('; ') })}</p>
      ) : (
        <>
          <p>{strings.windowsImportText({ passed })}</p>
          <Checkbox.Group
            label={strings.windowsConfirmAll}
            value={[...confirmed]}
            onChange={setConfirmed}
            hidden={open.length === 0}
          >
            <Stack gap={4} top={4}>
              {open.map((id) => (
                <Checkbox key={id} size="sm" value={id} label={stepTitle(id)} />
              ))}
            </Stack>
          </Checkbox.Group>
        </>
      )}
      <ErrorState failure={failure} inline />
      <DialogActions
        close={close}
        action={failed.length > 0 ? null : strings.windowsImport}
        run={() => void run()}
        busy={busy}
        isReady={open.every((id) => confirmed.includes(id))}
        isStored={isStoredRequest(failure)}
      />
    </Stack>
  )
}

/** Asks the person to confirm the steps that the program did not perform, then imports the file. */
export const ImportVerification = (props: Omit<ImportProps, 'chosen'> & { chosen: ChosenVerification | null }) => {
  const { chosen, close } = props
  return (
    <Modal
      opened={chosen !== null}
      onClose={close}
      title={chosen === null ? '' : strings.windowsImportTitle({ build: <DeviceText key="b" value={chosen.build} /> })}
    >
      {chosen === null ? null : <Body {...props} chosen={chosen} />}
    </Modal>
  )
}
