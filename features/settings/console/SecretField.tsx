import { Checkbox, PasswordInput } from '@mantine/core'
import type { FieldFrame } from '@portcullis/platform/console/ui/form/field.ts'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { strings } from './strings.ts'

export interface SecretFieldProps extends FieldFrame {
  max: number
  /** The new secret; the server never returns the stored one. */
  value: string
  onChange: (text: string) => void
  isStored: boolean
  isRemoved: boolean
  onRemove: (removed: boolean) => void
}

/** A secret: replaced, kept or removed, but never shown. */
export const SecretField = ({ max, value, onChange, isStored, isRemoved, onRemove, ...frame }: SecretFieldProps) => (
  <Stack gap={6}>
    <PasswordInput
      {...frame}
      maxLength={max}
      autoComplete="new-password"
      placeholder={isStored ? (isRemoved ? strings.secretRemoved : strings.secretKeep) : strings.notSet}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
    {isStored && value === '' ? (
      <Checkbox
        label={strings.removeStored({ label: frame.label.toLowerCase() })}
        checked={isRemoved}
        onChange={(event) => onRemove(event.currentTarget.checked)}
      />
    ) : null}
  </Stack>
)
