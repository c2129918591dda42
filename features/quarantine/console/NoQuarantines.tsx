import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { nacSystemNames } from '#features/contract.ts'
import { useNacSystems } from './shared/useNac.ts'
import { strings } from './strings.ts'

/** Shown before the first quarantine: how to set up a system, and what happens automatically. */
export const NoQuarantines = () => {
  const { session } = useServices()
  const inUse = useNacSystems().map(({ system }) => nacSystemNames[system])
  const links = {
    ise: (text: ReactNode) => (
      <Link to="/settings/$page" params={{ page: 'ise' }}>
        {text}
      </Link>
    ),
    cact: (text: ReactNode) => (
      <Link to="/settings/$page" params={{ page: 'counteract' }}>
        {text}
      </Link>
    ),
  }
  return (
    <EmptyState icon="lock" title={strings.emptyTitle}>
      <p>{inUse.length > 0 ? strings.canQuarantine({ systems: inUse.join(', ') }) : strings.cannotQuarantine}</p>
      {session.may('config:read') ? (
        <p>{(inUse.length > 0 ? strings.setUpAutomatic : strings.setUpFirst)(links)}</p>
      ) : inUse.length > 0 ? null : (
        <p>{strings.askAdministrator}</p>
      )}
      <p>{strings.automaticText}</p>
    </EmptyState>
  )
}
