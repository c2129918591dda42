import { TextInput } from '@mantine/core'
import { SeverityShape } from '../SeverityTag.tsx'
import classes from './NewlyAllowed.module.css'
import { hosts as hostsText } from './words.ts'

/** Returns true if a change still needs a reason: it newly allows devices on more than one host. */
export const lacksReason = (hosts: number, reason: string): boolean => hosts > 1 && reason.trim() === ''

/** Returns the reason as a member of a body or query; nothing if no reason was given. */
export const asReason = (reason: string): { reason?: string } => (reason.trim() === '' ? {} : { reason: reason.trim() })

export interface NewlyAllowedProps {
  /** Number of hosts on which the change newly allows devices. */
  hosts: number
  reason: string
  setReason: (reason: string) => void
}

/** Says on how many hosts a change of tags newly allows devices, and asks for a reason for more than one host. */
export const NewlyAllowed = ({ hosts, reason, setReason }: NewlyAllowedProps) =>
  hosts === 0 ? null : (
    <>
      <p className={classes.warning} role="alert" data-testid="newly-allowed">
        <SeverityShape severity="amber" />
        <strong>This newly allows devices on {hostsText(hosts)}. Blocked devices will work again there.</strong>
      </p>
      {hosts > 1 ? (
        <TextInput
          size="xs"
          label="Reason"
          required
          maxLength={200}
          value={reason}
          placeholder="Why these devices may be used"
          onChange={(event) => setReason(event.currentTarget.value)}
        />
      ) : null}
    </>
  )
