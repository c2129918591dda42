import { Button } from '@mantine/core'
import { useServices, useSession } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { Columns, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useState } from 'react'
import { getMfa } from '#features/contract.ts'
import { BrandCard } from '../../shared/BrandCard.tsx'
import { passkeysWork } from '../../shared/passkeys.ts'
import { strings } from '../strings.ts'
import { AddApp } from './AddApp.tsx'
import { AddPasskey } from './AddPasskey.tsx'
import { RecoveryCodes } from './RecoveryCodes.tsx'

type Step = 'choose' | 'app' | 'passkey' | { codes: readonly string[] }

/** The only page that an account without its required second factor can open. */
export const EnrolPage = () => {
  useTitle(strings.setUpSecondFactor)
  const { session } = useServices()
  const state = useSession()
  const [step, setStep] = useState<Step>('choose')
  const mfa = useRead(['mfa'], getMfa)
  const userName = state.phase === 'in' ? state.profile.account.userName : ''
  const back = () => setStep('choose')
  const done = () => void session.reload().catch(tellFailure)
  // The codes are shown once, so the session reloads only after the user has saved them.
  const added = (codes: readonly string[]) => (codes.length === 0 ? done() : setStep({ codes }))
  const hasPasskeys = mfa.data?.canUsePasskeys === true && passkeysWork()
  return (
    <Columns as="main" pad="8dvh 16px 32px" style={{ placeItems: 'start center', minHeight: '100dvh' }}>
      <BrandCard custom={undefined} title={strings.setUpSecondFactor}>
        {step === 'choose' ? (
          <>
            <Text as="p" style={{ margin: '0 0 16px' }}>
              {strings.secondFactorRequired({ name: <strong>{userName}</strong> })}
            </Text>
            <Stack>
              <Button autoFocus onClick={() => setStep('app')}>
                {strings.addApp}
              </Button>
              {hasPasskeys ? (
                <Button variant="default" onClick={() => setStep('passkey')}>
                  {strings.addPasskey}
                </Button>
              ) : null}
              <Button variant="default" onClick={() => void session.signOut().catch(tellFailure)}>
                {strings.signOut}
              </Button>
            </Stack>
          </>
        ) : step === 'app' ? (
          <AddApp close={back} onAdded={added} />
        ) : step === 'passkey' ? (
          <AddPasskey close={back} onAdded={added} />
        ) : (
          <RecoveryCodes codes={step.codes} close={done} />
        )}
      </BrandCard>
    </Columns>
  )
}
