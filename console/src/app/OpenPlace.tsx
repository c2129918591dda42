import { permissionTable, profileNames } from '@portcullis/features/contract.ts'
import { useServices, useSession } from '@portcullis/platform/console/lib/services.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { Outlet, useLocation } from '@tanstack/react-router'
import { type Place, placeOf } from './places.ts'
import { strings } from './strings.ts'

const NotForYou = ({ title, permission }: Place) => {
  useTitle(title)
  const state = useSession()
  const own = state.phase === 'in' ? profileNames[state.profile.account.userProfile] : ''
  return (
    <EmptyState
      icon="lock"
      title={strings.profileNeeded({ title, profile: profileNames[permissionTable[permission]] })}
    >
      <p>{strings.profileNeededHint({ own })}</p>
    </EmptyState>
  )
}

/** Shows the open page, or which profile it requires. Without the profile no request is sent. */
export const OpenPlace = ({ among }: { among: readonly Place[] }) => {
  const { session } = useServices()
  const { pathname } = useLocation()
  const place = placeOf(among, pathname)
  return place === undefined || session.may(place.permission) ? <Outlet /> : <NotForYou {...place} />
}
