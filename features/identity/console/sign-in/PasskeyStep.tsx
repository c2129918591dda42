import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useEffect, useRef, useState } from 'react'
import { type MfaRequired, type ResponseOf, startPasskeySignIn } from '#features/contract.ts'
import { endPasskeyQuestion, passkeyRefusal, provePasskey } from '../shared/passkeys.ts'
import type { SignInServices } from '../shared/session.ts'
import { Action } from './fields.tsx'
import { isOver, refusalText } from './refusal.ts'
import type { StepProps } from './step.ts'
import { strings } from './strings.ts'

const refusalOf = (failure: unknown): string | null =>
  failure instanceof CallFailure && failure.code !== 'mfa_code_wrong' ? refusalText(failure) : passkeyRefusal(failure)

export interface PasskeyStepProps extends StepProps {
  api: SignInServices['api']
  asked: MfaRequired
  /** The sign-in has expired: returns to the password. */
  over: () => void
}

/** Asks the browser for a passkey: once when the step opens, and again when the button is pressed. */
export const PasskeyStep = ({ api, asked, prove, refuse, over }: PasskeyStepProps) => {
  const [busy, setBusy] = useState(false)
  const begun = useRef(false)
  const shown = useRef(false)
  const ask = async () => {
    setBusy(true)
    refuse(null)
    try {
      const response = await api.send(startPasskeySignIn, { body: { mfaToken: asked.mfaToken } })
      const { options } = (await response.json()) as ResponseOf<typeof startPasskeySignIn>
      // The user chose another method while the server prepared the options.
      if (!shown.current) return
      if (await prove({ response: await provePasskey(options) }, refusalOf)) return
    } catch (failure) {
      if (isOver(failure)) return over()
      refuse(refusalOf(failure))
    }
    setBusy(false)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: asks once, however often React renders
  useEffect(() => {
    shown.current = true
    if (!begun.current) {
      begun.current = true
      void ask()
    }
    return () => {
      shown.current = false
      endPasskeyQuestion()
    }
  }, [])
  return (
    <>
      <Text as="p" style={{ margin: '0 0 16px' }}>
        {strings.passkeyText}
      </Text>
      <Action busy={busy} autoFocus onClick={() => void ask()}>
        {strings.askAgain}
      </Action>
    </>
  )
}
