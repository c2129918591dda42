import { PasswordInput } from '@mantine/core'
import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { useSession } from '@portcullis/platform/console/lib/services.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { strings } from '../strings.ts'

export interface CurrentPasswordProps {
  value: string
  onChange: (password: string) => void
  failure: unknown
  isFirst?: boolean
}

/** Asks for the current password before a change of the protection of the account, and shows the refusal of the server. */
export const CurrentPassword = ({ value, onChange, failure, isFirst = false }: CurrentPasswordProps) => {
  const state = useSession()
  const isWrong = failure instanceof CallFailure && failure.code === 'old_password_wrong'
  return (
    <>
      <input
        type="hidden"
        autoComplete="username"
        value={state.phase === 'in' ? state.profile.account.userName : ''}
        readOnly
      />
      <PasswordInput
        label={strings.yourPassword}
        autoComplete="current-password"
        required
        withAsterisk={false}
        data-autofocus={isFirst || undefined}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        error={isWrong ? strings.incorrectPassword : undefined}
      />
      {failure === null || isWrong ? null : <ErrorState failure={failure} inline />}
    </>
  )
}
