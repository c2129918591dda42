import { Button, type ButtonProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { Row } from '../layout/layout.tsx'
import { strings } from './strings.ts'

export interface DialogActionsProps {
  close: () => void
  /** Label of the first button, if it is not Cancel. */
  closeLabel?: string
  /** Label of the last button: verb and object. Null while there is nothing to do. */
  action: string | null
  /** Called by the last button. Without it, the button submits its form. */
  run?: () => void
  busy?: boolean
  isReady?: boolean
  /** The change waits for a second approver, so only Close remains. */
  isStored?: boolean
  isDangerous?: boolean
  /** Button with the focus when the dialog opens. If the action is not ready, Cancel has it: a disabled button cannot. */
  startsAt?: 'cancel' | 'action' | 'form'
  /** Cancel takes the focus when this becomes true, such as when the form now asks for more access. */
  takesFocus?: boolean
  /** Tooltip of the last button. */
  hint?: string
  size?: ButtonProps['size']
  /** Controls at the other end of the row, such as a menu. */
  aside?: ReactNode
  /** Further buttons, between the first and the last. */
  children?: ReactNode
}

/** The buttons of a dialog: Cancel, then the action. */
export const DialogActions = ({
  close,
  closeLabel,
  action,
  run,
  busy = false,
  isReady = true,
  isStored = false,
  isDangerous = false,
  startsAt = 'cancel',
  takesFocus = false,
  hint,
  size = 'sm',
  aside,
  children,
}: DialogActionsProps) => (
  <Row justify={aside === undefined ? 'flex-end' : 'space-between'} wrap>
    {aside}
    <Row justify="end" wrap>
      <Button
        // A new key mounts the button again, so that it takes the focus.
        key={takesFocus ? 'asked' : 'plain'}
        size={size}
        variant="default"
        onClick={close}
        autoFocus={takesFocus}
        data-autofocus={startsAt === 'cancel' || (startsAt === 'action' && !isReady) || undefined}
      >
        {isStored ? strings.close : (closeLabel ?? strings.cancel)}
      </Button>
      {children}
      {isStored || action === null ? null : (
        <Button
          size={size}
          type={run === undefined ? 'submit' : 'button'}
          {...(run === undefined ? {} : { onClick: run })}
          loading={busy}
          disabled={!isReady}
          title={hint}
          data-autofocus={(startsAt === 'action' && isReady) || undefined}
          {...(isDangerous ? { color: 'red' } : {})}
        >
          {action}
        </Button>
      )}
    </Row>
  </Row>
)
