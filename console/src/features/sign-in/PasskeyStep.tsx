import { Button } from '@mantine/core'
import { type MfaRequired, type ResponseOf, startPasskeySignIn } from '@portcullis/contract'
import { useEffect, useRef, useState } from 'react'
import { endPasskeyQuestion, passkeyRefusal, provePasskey } from '../../lib/passkeys.ts'
import { CallFailure } from '../../lib/problem.ts'
import { useServices } from '../../lib/services.tsx'
import { isOver, refusalText } from './refusal.ts'
import type { StepProps } from './SecondStep.tsx'
import classes from './sign-in.module.css'
import { strings } from './strings.ts'

const refusalOf = (failure: unknown): string | null =>
  failure instanceof CallFailure && failure.code !== 'mfa_code_wrong' ? refusalText(failure) : passkeyRefusal(failure)

export interface PasskeyStepProps extends StepProps {
  asked: MfaRequired
  /** The password has to be given again. */
  over: () => void
}

/** Asks the browser for a passkey: by itself, since it was chosen or is the only way, and again by the button. */
export const PasskeyStep = ({ asked, prove, refuse, over }: PasskeyStepProps) => {
  const { api } = useServices()
  const [busy, setBusy] = useState(false)
  const begun = useRef(false)
  const shown = useRef(false)
  const ask = async () => {
    setBusy(true)
    refuse(null)
    try {
      const response = await api.send(startPasskeySignIn, { body: { mfaToken: asked.mfaToken } })
      const { options } = (await response.json()) as ResponseOf<typeof startPasskeySignIn>
      // Another way was chosen while the server thought.
      if (!shown.current) return
      if (await prove({ response: await provePasskey(options) }, refusalOf)) return
    } catch (failure) {
      if (isOver(failure)) return over()
      refuse(refusalOf(failure))
    }
    setBusy(false)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: it starts by itself once, however often it is drawn
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
      <p className={classes.message}>{strings.theBrowserAsksForThePasskey}</p>
      <Button loading={busy} fullWidth autoFocus onClick={() => void ask()}>
        {strings.useThePasskey}
      </Button>
    </>
  )
}
