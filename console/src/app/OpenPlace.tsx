import { permissionTable, profileNames } from '@portcullis/contract'
import { Outlet, useLocation } from '@tanstack/react-router'
import { useServices, useSession } from '../lib/services.tsx'
import { EmptyState } from '../ui/EmptyState.tsx'
import { useTitle } from '../ui/useTitle.ts'
import { type Place, placeOf } from './places.ts'
import { strings } from './strings.ts'

const NotForYou = ({ title, permission }: Place) => {
  useTitle(title)
  const state = useSession()
  const own = state.phase === 'in' ? profileNames[state.profile.account.userProfile] : ''
  return (
    <EmptyState
      icon="lock"
      title={strings.titleNeedsProfileValue({ title, value: profileNames[permissionTable[permission]] })}
    >
      <p>{strings.yourAccountHasProfileOwnAn({ own })}</p>
    </EmptyState>
  )
}

/** The page that is open; where it is not for the reader, who it is for: the server is asked for nothing that it would refuse. */
export const OpenPlace = ({ among }: { among: readonly Place[] }) => {
  const { session } = useServices()
  const { pathname } = useLocation()
  const place = placeOf(among, pathname)
  return place === undefined || session.may(place.permission) ? <Outlet /> : <NotForYou {...place} />
}
