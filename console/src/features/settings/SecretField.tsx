import { Checkbox, PasswordInput } from '@mantine/core'
import type { FieldFrame } from '../../ui/form/field.ts'
import classes from './settings.module.css'
import { strings } from './strings.ts'

export interface SecretFieldProps extends FieldFrame {
  max: number
  /** The new secret; the stored one never comes here. */
  value: string
  onChange: (text: string) => void
  isStored: boolean
  isRemoved: boolean
  onRemove: (removed: boolean) => void
}

/** A secret: set anew, kept, or taken away; never shown. */
export const SecretField = ({ max, value, onChange, isStored, isRemoved, onRemove, ...frame }: SecretFieldProps) => (
  <div className={classes.secret}>
    <PasswordInput
      {...frame}
      maxLength={max}
      autoComplete="new-password"
      placeholder={isStored ? (isRemoved ? 'will be taken away' : strings.setLeaveEmptyToKeepIt) : 'not set'}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
    {isStored && value === '' ? (
      <Checkbox
        label={strings.takeTheStoredLabelAway({ label: frame.label.toLowerCase() })}
        checked={isRemoved}
        onChange={(event) => onRemove(event.currentTarget.checked)}
      />
    ) : null}
  </div>
)
