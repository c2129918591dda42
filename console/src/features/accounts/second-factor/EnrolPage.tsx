import { Button } from '@mantine/core'
import { getMfa } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { passkeysWork } from '../../../lib/passkeys.ts'
import { useServices, useSession } from '../../../lib/services.tsx'
import { BrandCard } from '../../../ui/sign-in/BrandCard.tsx'
import { tellFailure } from '../../../ui/tell.ts'
import { useTitle } from '../../../ui/useTitle.ts'
import { AddApp } from './AddApp.tsx'
import { AddPasskey } from './AddPasskey.tsx'
import classes from './EnrolPage.module.css'
import { RecoveryCodes } from './RecoveryCodes.tsx'

type Step = 'choose' | 'app' | 'passkey' | { codes: readonly string[] }

/** The only page that an account without its required second factor can open. */
export const EnrolPage = () => {
  useTitle('Set up a second factor')
  const { api, session } = useServices()
  const state = useSession()
  const [step, setStep] = useState<Step>('choose')
  const mfa = useQuery({ queryKey: ['mfa'], queryFn: ({ signal }) => api.call(getMfa, { signal }) })
  const userName = state.phase === 'in' ? state.profile.account.userName : ''
  const back = () => setStep('choose')
  const done = () => void session.reload().catch(tellFailure)
  // The codes are shown once, so the session reloads only after the user has saved them.
  const added = (codes: readonly string[]) => (codes.length === 0 ? done() : setStep({ codes }))
  const hasPasskeys = mfa.data?.canUsePasskeys === true && passkeysWork()
  return (
    <main className={classes.page}>
      <BrandCard custom={undefined} title="Set up a second factor">
        {step === 'choose' ? (
          <>
            <p className={classes.message}>
              Your organisation requires a second factor for <strong>{userName}</strong>. Set one up to continue.
            </p>
            <div className={classes.choices}>
              <Button autoFocus onClick={() => setStep('app')}>
                Add an authenticator app
              </Button>
              {hasPasskeys ? (
                <Button variant="default" onClick={() => setStep('passkey')}>
                  Add a passkey
                </Button>
              ) : null}
              <Button variant="default" onClick={() => void session.signOut().catch(tellFailure)}>
                Sign out
              </Button>
            </div>
          </>
        ) : step === 'app' ? (
          <AddApp close={back} onAdded={added} />
        ) : step === 'passkey' ? (
          <AddPasskey close={back} onAdded={added} />
        ) : (
          <RecoveryCodes codes={step.codes} close={done} />
        )}
      </BrandCard>
    </main>
  )
}
