import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useState } from 'react'
import type { MfaRequired } from '#features/contract.ts'
import { passkeysWork } from '../shared/passkeys.ts'
import { completeSignIn, type SignInServices } from '../shared/session.ts'
import { CodeStep } from './CodeStep.tsx'
import { Action, Message } from './fields.tsx'
import { PasskeyStep } from './PasskeyStep.tsx'
import { RecoveryStep } from './RecoveryStep.tsx'
import { isOver, suspensionText } from './refusal.ts'
import type { StepProps } from './step.ts'
import { strings } from './strings.ts'

type Method = MfaRequired['methods'][number]

export interface SecondStepProps {
  services: SignInServices
  asked: MfaRequired
  /** Returns to the password; `why` explains it if the user did not ask for it. */
  back: (why: string | null) => void
}

const offers: Record<Method, string> = {
  totp: strings.useCode,
  passkey: strings.usePasskey,
  recovery: strings.useRecoveryCode,
}

/** Asks for the second factor after the password. */
export const SecondStep = ({ services, asked, back }: SecondStepProps) => {
  const methods = asked.methods.filter((method) => method !== 'passkey' || passkeysWork())
  const [method, setMethod] = useState<Method | undefined>(methods[0])
  const [refusal, setRefusal] = useState<string | null>(null)
  const over = () => back(strings.startOver)
  const prove: StepProps['prove'] = async (factor, refusalOf) => {
    setRefusal(null)
    try {
      await completeSignIn(services, asked, factor)
      return true
    } catch (failure) {
      const suspended = suspensionText(failure)
      // The server has ended this step and would refuse another code.
      if (suspended !== null) back(suspended)
      else if (isOver(failure)) over()
      else setRefusal(refusalOf(failure))
      return false
    }
  }
  const step = { prove, refuse: setRefusal }
  return (
    <Stack gap={16}>
      {refusal === null ? null : <Message isRefusal>{refusal}</Message>}
      {method === 'totp' ? <CodeStep {...step} /> : null}
      {method === 'passkey' ? <PasskeyStep {...step} api={services.api} asked={asked} over={over} /> : null}
      {method === 'recovery' ? <RecoveryStep {...step} /> : null}
      {methods.length === 0 ? <Message isRefusal>{strings.noPasskeyHere}</Message> : null}
      <Stack gap={8}>
        {methods
          .filter((other) => other !== method)
          .map((other) => (
            <Action
              key={other}
              variant="default"
              onClick={() => {
                setRefusal(null)
                setMethod(other)
              }}
            >
              {offers[other]}
            </Action>
          ))}
        <Action variant="subtle" onClick={() => back(null)}>
          {strings.backToPassword}
        </Action>
      </Stack>
    </Stack>
  )
}
