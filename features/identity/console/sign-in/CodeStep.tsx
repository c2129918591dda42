import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { useRef, useState } from 'react'
import { Action, Field } from './fields.tsx'
import { refusalText } from './refusal.ts'
import type { StepProps } from './step.ts'
import { strings } from './strings.ts'

const digits = 6

const refusalOf = (failure: unknown): string =>
  failure instanceof CallFailure && failure.code === 'mfa_code_wrong' ? strings.codeRefused : refusalText(failure)

/** Asks for the code of an authenticator app and sends it at the sixth digit. */
export const CodeStep = ({ prove, refuse }: StepProps) => {
  const [code, setCode] = useState('')
  const [busy, setBusy] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const send = async (text: string) => {
    setBusy(true)
    if (await prove({ code: text }, refusalOf)) return
    setBusy(false)
    // The refused code stays selected: the next digit replaces it.
    field.current?.focus()
    field.current?.select()
  }
  return (
    <form
      style={{ display: 'contents' }}
      onSubmit={(event) => {
        event.preventDefault()
        if (code.replaceAll(/\D/g, '').length === digits) void send(code)
        else refuse(strings.codeTooShort)
      }}
    >
      <Field
        ref={field}
        label={strings.code}
        name="one-time-code"
        autoComplete="one-time-code"
        inputMode="numeric"
        maxLength={16}
        autoFocus
        readOnly={busy}
        value={code}
        onChange={(event) => {
          const text = event.currentTarget.value
          setCode(text)
          if (text.replaceAll(/\D/g, '').length === digits) void send(text)
        }}
      />
      <Action type="submit" busy={busy}>
        {strings.signIn}
      </Action>
    </form>
  )
}
