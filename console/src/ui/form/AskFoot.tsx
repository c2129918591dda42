import { Button, type ButtonProps, Group } from '@mantine/core'
import { strings } from './strings.ts'

export interface AskFootProps {
  /** Verb and object of the button that does it. */
  action: string
  busy: boolean
  isReady: boolean
  /** The change waits for a second approver: nothing is left to do here. */
  isStored: boolean
  close: () => void
  size?: ButtonProps['size']
  isDangerous?: boolean
  /** Where the focus starts. */
  startsAt?: 'cancel' | 'action' | 'form'
}

/** The foot of a form that asks before a change. */
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
