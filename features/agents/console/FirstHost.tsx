import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useState } from 'react'
import { createEnrollmentToken } from '#features/contract.ts'
import { Arrivals } from './Arrivals.tsx'
import { InstallCommand } from './InstallCommand.tsx'
import type { MadeToken } from './made-token.ts'
import { strings } from './strings.ts'

/**
 * Shown in place of the first host: the install command with a new token, then the wait for the host. The list behind
 * receives live updates and replaces this as soon as the host has enrolled.
 */
export const FirstHost = () => {
  const { api, session } = useServices()
  const [made, setMade] = useState<MadeToken | null>(null)
  const { busy, failure, run } = useChange({ closes: false })

  if (!session.may('enrolment:manage')) {
    return (
      <EmptyState icon="agents" title={strings.noHostTitle}>
        <p>{strings.noHostText}</p>
      </EmptyState>
    )
  }
  const make = () =>
    run(async () => {
      setMade(
        await api.call(createEnrollmentToken, { body: { name: strings.firstHost, expiresInHours: 1, maxUses: 1 } }),
      )
    })
  return (
    <EmptyState icon="agents" title={strings.firstHostTitle}>
      {made === null ? (
        <>
          <p>{strings.firstHostText}</p>
          <ErrorState failure={failure} inline />
          <Button
            leftSection={<Icon name="plus" />}
            loading={busy}
            onClick={() => void make()}
            data-testid="make-command"
          >
            {strings.createInstallCommand}
          </Button>
        </>
      ) : (
        <Stack gap={20} style={{ width: 'min(860px, 100%)' }}>
          <InstallCommand made={made} />
          <Arrivals made={made} />
        </Stack>
      )}
    </EmptyState>
  )
}
