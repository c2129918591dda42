import { PasswordInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { passwordRules } from '../../lib/password-rules.ts'
import { strings } from './strings.ts'

export interface NewPassword {
  newPassword: string
  again: string
}

/** A new password and its confirmation. */
export const NewPasswordFields = <T extends NewPassword>({ form }: { form: UseFormReturnType<T> }) => (
  <>
    <PasswordInput
      label={strings.newPassword}
      description={passwordRules.text}
      name="new-password"
      autoComplete="new-password"
      required
      withAsterisk={false}
      {...form.getInputProps('newPassword')}
    />
    <PasswordInput
      label={strings.confirmPassword}
      name="new-password-again"
      autoComplete="new-password"
      required
      withAsterisk={false}
      {...form.getInputProps('again')}
    />
  </>
)
