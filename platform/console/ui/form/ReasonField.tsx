import { TextInput, type TextInputProps } from '@mantine/core'
import { strings } from './strings.ts'

export interface ReasonFieldProps extends Pick<TextInputProps, 'size' | 'required' | 'description' | 'maxLength'> {
  value: string
  onChange: (reason: string) => void
  placeholder?: string | undefined
  /** The field takes the focus when its dialog opens. */
  isFirst?: boolean
}

/** The reason for a change, for the audit trail. */
export const ReasonField = ({ value, onChange, isFirst = false, ...rest }: ReasonFieldProps) => (
  <TextInput
    label={strings.reason}
    maxLength={200}
    value={value}
    data-autofocus={isFirst || undefined}
    onChange={(event) => onChange(event.currentTarget.value)}
    {...rest}
  />
)
