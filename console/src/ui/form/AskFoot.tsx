import { Button, type ButtonProps, Group } from '@mantine/core'
import { strings } from './strings.ts'

export interface AskFootProps {
  /** Label of the button: verb and object. */
  action: string
  busy: boolean
  isReady: boolean
  /** The change waits for a second approver. */
  isStored: boolean
  close: () => void
  size?: ButtonProps['size']
  isDangerous?: boolean
  /** Initial focus. */
  startsAt?: 'cancel' | 'action' | 'form'
}

/** Buttons of a form that asks for confirmation. */
export const AskFoot = ({
  action,
  busy,
  isReady,
  isStored,
  close,
  size = 'sm',
  isDangerous = false,
  startsAt = 'cancel',
}: AskFootProps) => (
  <Group justify="flex-end" gap="sm">
    <Button size={size} variant="default" onClick={close} data-autofocus={startsAt === 'cancel' || undefined}>
      {isStored ? strings.close : strings.cancel}
    </Button>
    {isStored ? null : (
      <Button
        size={size}
        type="submit"
        loading={busy}
        disabled={!isReady}
        data-autofocus={startsAt === 'action' || undefined}
        {...(isDangerous ? { color: 'red' } : {})}
      >
        {action}
      </Button>
    )}
  </Group>
)
