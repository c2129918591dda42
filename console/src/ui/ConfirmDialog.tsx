import { Modal, TextInput } from '@mantine/core'
import { useState } from 'react'
import classes from './ConfirmDialog.module.css'
import { DetailLines } from './DetailLines.tsx'
import { DeviceText } from './DeviceText.tsx'
import { ErrorState } from './ErrorState.tsx'
import { AskFoot } from './form/AskFoot.tsx'
import { ReasonField } from './form/ReasonField.tsx'
import { useChange } from './form/useChange.ts'
import { SeverityShape } from './SeverityTag.tsx'
import { strings } from './strings.ts'
import type { Severity } from './theme/tokens.ts'

// Above this many things a click is too easy: the number is typed.
const typedAbove = 1_000
const namesShown = 8

export interface Confirmation {
  title: string
  /** Names of what is meant. */
  names: readonly string[]
  /** Every part of what is meant, shown completely. */
  details?: readonly string[]
  /** How many things are meant, when that is not the number of names. */
  count?: number
  /** What they are, for one and for many. */
  kind: readonly [one: string, many: string]
  /** What will happen, and whether it can be taken back. */
  consequence: string
  /** Words of the button. */
  action: string
  /** Blocked devices that work again, in words. */
  worksAgain?: { severity: Severity; text: string } | null
  /** Asks for a reason: what it is for stands in the empty field. */
  reasonFor?: string
  /** Gets the reason; empty when none is asked for. */
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
  // What allows devices starts at Cancel, however many things are meant.
  const startsAtCancel = !mustType || worksAgain !== null || reasonFor !== undefined
  return (
    <form
      className={classes.body}
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
        <strong>
          {count.toLocaleString('en')} {count === 1 ? kind[0] : kind[1]}
        </strong>
        : {consequence}
      </p>
      {names.length === 0 ? null : (
        <ul className={classes.names}>
          {names.slice(0, namesShown).map((name) => (
            <li key={name}>
              <DeviceText value={name} />
            </li>
          ))}
          {names.length > namesShown ? <li>{strings.andNamesMore({ names: names.length - namesShown })}</li> : null}
        </ul>
      )}
      {worksAgain === null ? null : (
        <p className={classes.warning} data-testid="works-again">
          <SeverityShape severity={worksAgain.severity} />
          <strong>{worksAgain.text}</strong>
        </p>
      )}
      {details.length === 0 ? null : <DetailLines lines={details} />}
      {mustType && !isStored ? (
        <TextInput
          label={strings.typeCountToGoOn({ count })}
          value={typed}
          inputMode="numeric"
          data-autofocus={!startsAtCancel || undefined}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      ) : null}
      {reasonFor === undefined || isStored ? null : (
        <ReasonField required value={reason} placeholder={reasonFor} onChange={setReason} />
      )}
      {failure === null ? null : <ErrorState failure={failure} inline />}
      <AskFoot
        action={action}
        isDangerous
        busy={busy}
        isReady={(!mustType || typed === String(count)) && (reasonFor === undefined || reason.trim() !== '')}
        isStored={isStored}
        close={close}
        startsAt={startsAtCancel ? 'cancel' : 'form'}
      />
    </form>
  )
}

/** The question before something that hurts. */
export const ConfirmDialog = ({ confirmation, close }: { confirmation: Confirmation | null; close: () => void }) => (
  <Modal
    opened={confirmation !== null}
    onClose={close}
    title={<span className={classes.title}>{confirmation?.title}</span>}
  >
    {confirmation === null ? null : <Body {...confirmation} close={close} />}
  </Modal>
)
