import { TextInput, type TextInputProps } from '@mantine/core'
import { strings } from './strings.ts'

export interface ReasonFieldProps extends Pick<TextInputProps, 'size' | 'required'> {
  value: string
  onChange: (reason: string) => void
  placeholder?: string | undefined
}

/** The reason for a change, for the audit trail. */
export const ReasonField = ({ value, onChange, ...rest }: ReasonFieldProps) => (
  <TextInput
    label={strings.reason}
    maxLength={200}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
    {...rest}
  />
)
