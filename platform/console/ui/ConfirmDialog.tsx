import { Modal, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Confirmation } from './confirm.ts'
import { DetailLines } from './DetailLines.tsx'
import { DeviceText } from './DeviceText.tsx'
import { ErrorState } from './ErrorState.tsx'
import { DialogActions } from './form/DialogActions.tsx'
import { ReasonField } from './form/ReasonField.tsx'
import { useChange } from './form/useChange.ts'
import { Stack, Text } from './layout/layout.tsx'
import { SeverityLine } from './SeverityTag.tsx'
import { strings } from './strings.ts'
import { tell } from './tell.ts'

// Above this number, the user types it to confirm.
const typedAbove = 1_000
const namesShown = 8

const Body = ({
  title,
  names,
  details = [],
  count = names.length,
  kind,
  consequence,
  action = title,
  worksAgain = null,
  reasonFor,
  run,
  done,
  reread,
  close,
}: Confirmation & { close: () => void }) => {
  const [typed, setTyped] = useState('')
  const [reason, setReason] = useState('')
  const { busy, failure, isStored, run: send } = useChange()
  const mustType = count > typedAbove
  // Focus starts at Cancel if the change allows devices.
  const startsAtCancel = !mustType || worksAgain !== null || reasonFor !== undefined
  return (
    <Stack
      as="form"
      onSubmit={(event) => {
        event.preventDefault()
        if (isStored) return
        void send(async () => {
          await run(reason.trim())
          if (done !== undefined) tell(done)
          await reread?.()
          close()
        })
      }}
    >
      <p>
        <strong>{kind({ count })}</strong>: {consequence}
      </p>
      {names.length === 0 ? null : (
        <Text as="ul" scroll small style={{ maxHeight: 200 }}>
          {names.slice(0, namesShown).map((name) => (
            <li key={name}>
              <DeviceText value={name} />
            </li>
          ))}
          {names.length > namesShown ? <li>{strings.andMore({ count: names.length - namesShown })}</li> : null}
        </Text>
      )}
      {worksAgain === null ? null : (
        <SeverityLine severity={worksAgain.severity} data-testid="works-again">
          <strong>{worksAgain.text}</strong>
        </SeverityLine>
      )}
      {details.length === 0 ? null : <DetailLines lines={details} />}
      {mustType && !isStored ? (
        <TextInput
          label={strings.typeCount({ count })}
          value={typed}
          inputMode="numeric"
          data-autofocus={!startsAtCancel || undefined}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      ) : null}
      {reasonFor === undefined || isStored ? null : (
        <ReasonField required value={reason} placeholder={reasonFor} onChange={setReason} />
      )}
      <ErrorState failure={failure} inline />
      <DialogActions
        action={action}
        isDangerous
        busy={busy}
        isReady={(!mustType || typed === String(count)) && (reasonFor === undefined || reason.trim() !== '')}
        isStored={isStored}
        close={close}
        startsAt={startsAtCancel ? 'cancel' : 'form'}
      />
    </Stack>
  )
}

/** Asks for confirmation before a change with consequences. */
export const ConfirmDialog = ({ confirmation, close }: { confirmation: Confirmation | null; close: () => void }) => (
  <Modal
    opened={confirmation !== null}
    onClose={close}
    title={
      <Text breaks style={{ lineHeight: '1.3' }}>
        {confirmation?.title}
      </Text>
    }
  >
    {confirmation === null ? null : <Body {...confirmation} close={close} />}
  </Modal>
)
