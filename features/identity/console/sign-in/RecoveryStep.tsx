import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { useState } from 'react'
import { Action, Field } from './fields.tsx'
import { refusalText } from './refusal.ts'
import type { StepProps } from './step.ts'
import { strings } from './strings.ts'

const refusalOf = (failure: unknown): string =>
  failure instanceof CallFailure && failure.code === 'mfa_code_wrong'
    ? strings.recoveryCodeRefused
    : refusalText(failure)

/** Asks for one of the recovery codes that were shown when the second factor was set up. */
export const RecoveryStep = ({ prove }: StepProps) => {
  const [recoveryCode, setRecoveryCode] = useState('')
  const [busy, setBusy] = useState(false)
  return (
    <form
      style={{ display: 'contents' }}
      onSubmit={async (event) => {
        event.preventDefault()
        setBusy(true)
        if (!(await prove({ recoveryCode: recoveryCode.trim() }, refusalOf))) setBusy(false)
      }}
    >
      <Field
        label={strings.recoveryCode}
        help={strings.recoveryCodeHelp}
        placeholder="xxxx-xxxx-xxxx-xxxx"
        name="recovery-code"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={64}
        autoFocus
        value={recoveryCode}
        onChange={(event) => setRecoveryCode(event.currentTarget.value)}
      />
      <Action type="submit" busy={busy}>
        {strings.signIn}
      </Action>
    </form>
  )
}
