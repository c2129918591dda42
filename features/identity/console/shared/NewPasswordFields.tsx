import { PasswordInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { strings } from '@portcullis/platform/console/ui/form/strings.ts'
import { passwordRules } from './password-rules.ts'

export interface NewPassword {
  newPassword: string
  again: string
}

export interface NewPasswordFieldsProps<T extends NewPassword> {
  form: UseFormReturnType<T>
  /** The browser refuses to send the form without a password. */
  required?: boolean
}

/** A new password and its confirmation. */
export const NewPasswordFields = <T extends NewPassword>({ form, required = false }: NewPasswordFieldsProps<T>) => (
  <>
    <PasswordInput
      label={strings.newPassword}
      description={passwordRules.text}
      name="new-password"
      autoComplete="new-password"
      required={required}
      withAsterisk={false}
      {...form.getInputProps('newPassword')}
    />
    <PasswordInput
      label={strings.confirmPassword}
      name="new-password-again"
      autoComplete="new-password"
      required={required}
      withAsterisk={false}
      {...form.getInputProps('again')}
    />
  </>
)
