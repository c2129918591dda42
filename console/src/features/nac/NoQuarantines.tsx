import { nacSystemNames } from '@portcullis/contract'
import { Link } from '@tanstack/react-router'
import { useServices } from '../../lib/services.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { useNacSystems } from '../../ui/nac/useNac.ts'
import { strings } from './strings.ts'

/** Before the first quarantine: how a system is set up, who asks for one, and what happens by itself. */
export const NoQuarantines = () => {
  const { session } = useServices()
  const inUse = useNacSystems().map(({ system }) => nacSystemNames[system])
  const links = (
    <>
      {strings.ciscoIseOrForescoutCounteract({
        link: (text) => (
          <Link to="/settings/$page" params={{ page: 'ise' }}>
            {text}
          </Link>
        ),
        link2: (text) => (
          <Link to="/settings/$page" params={{ page: 'counteract' }}>
            {text}
          </Link>
        ),
      })}
    </>
  )
  return (
    <EmptyState icon="lock" title={strings.noHostWasQuarantinedYet}>
      <p>
        {inUse.length > 0
          ? strings.inuseCanTakeAHostOff({ inUse: inUse.join(' and ') })
          : strings.ciscoIseOrForescoutCounteractCan}
      </p>
      {session.may('config:read') ? (
        <p>
          {inUse.length > 0 ? 'What happens by itself is set at ' : 'Set one up first: '}
          {links}.
        </p>
      ) : inUse.length > 0 ? null : (
        <p>{strings.anAdministratorSetsThatUpIn}</p>
      )}
      <p>{strings.byItselfNothingIsQuarantinedUntil}</p>
    </EmptyState>
  )
}
