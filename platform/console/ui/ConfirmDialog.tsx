import { Modal, TextInput } from '@mantine/core'
import { useState } from 'react'
import { DetailLines } from './DetailLines.tsx'
import { DeviceText } from './DeviceText.tsx'
import { ErrorState } from './ErrorState.tsx'
import { DialogActions } from './form/DialogActions.tsx'
import { ReasonField } from './form/ReasonField.tsx'
import { useChange } from './form/useChange.ts'
import { Stack, Text } from './layout/layout.tsx'
import { SeverityLine } from './SeverityTag.tsx'
import { strings } from './strings.ts'
import type { Severity } from './theme/tokens.ts'

// Above this number, the user types it to confirm.
const typedAbove = 1_000
const namesShown = 8

export interface Confirmation {
  title: string
  /** Names of the affected items. */
  names: readonly string[]
  /** All parts of the change, shown in full. */
  details?: readonly string[]
  /** Number of affected items, if it differs from the number of names. */
  count?: number
  /** Formats the number with its noun, such as `3 hosts`. */
  kind: (values: { count: number }) => string
  /** The effect, and whether it can be undone. */
  consequence: string
  /** Label of the button. */
  action: string
  /** Says which blocked devices work again. */
  worksAgain?: { severity: Severity; text: string } | null
  /** Asks for a reason, with this placeholder. */
  reasonFor?: string
  /** Receives the reason; empty if none was requested. */
  run: (reason: string) => Promise<unknown>
}

const Body = ({
  names,
  details = [],
  count = names.length,
  kind,
  consequence,
  action,
  worksAgain = null,
  reasonFor,
  run,
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
