import { nacSystemNames } from '@portcullis/contract'
import { Link } from '@tanstack/react-router'
import { useServices } from '../../lib/services.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { useNacSystems } from '../../ui/nac/useNac.ts'

/** Before the first quarantine: how a system is set up, who asks for one, and what happens by itself. */
export const NoQuarantines = () => {
  const { session } = useServices()
  const inUse = useNacSystems().map(({ system }) => nacSystemNames[system])
  const links = (
    <>
      <Link to="/settings/$page" params={{ page: 'ise' }}>
        Cisco ISE
      </Link>{' '}
      or{' '}
      <Link to="/settings/$page" params={{ page: 'counteract' }}>
        Forescout CounterACT
      </Link>
    </>
  )
  return (
    <EmptyState icon="lock" title="No host was quarantined yet">
      <p>
        {inUse.length > 0
          ? `${inUse.join(' and ')} can take a host off the network: choose “Quarantine…” in the menu of a host.`
          : 'Cisco ISE or Forescout CounterACT can take a host off the network, asked by a person or because of an attack tool.'}
      </p>
      {session.may('config:read') ? (
        <p>
          {inUse.length > 0 ? 'What happens by itself is set at ' : 'Set one up first: '}
          {links}.
        </p>
      ) : inUse.length > 0 ? null : (
        <p>An Administrator sets that up in the settings.</p>
      )}
      <p>
        By itself, nothing is quarantined until that is switched on for a system. Then a confirmed attack tool that
        stays attached for 30 seconds quarantines its host; hosts with a tag that forbids it are left alone, and more
        than a few at once wait here for a person.
      </p>
    </EmptyState>
  )
}
