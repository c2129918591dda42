import { PasswordInput } from '@mantine/core'
import { CallFailure } from '../../../lib/problem.ts'
import { useSession } from '../../../lib/services.tsx'
import { ErrorState } from '../../../ui/ErrorState.tsx'
import { strings } from '../strings.ts'

export interface PresentPasswordProps {
  value: string
  onChange: (password: string) => void
  failure: unknown
  isFirst?: boolean
}

/** The own password once more, before a change of what protects the account; and what the server said to it. */
export const PresentPassword = ({ value, onChange, failure, isFirst = false }: PresentPasswordProps) => {
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
        error={isWrong ? strings.thisIsNotYourPresentPassword : undefined}
      />
      {failure === null || isWrong ? null : <ErrorState failure={failure} inline />}
    </>
  )
}
