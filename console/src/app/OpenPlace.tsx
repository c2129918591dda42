import { permissionTable, profileNames } from '@portcullis/contract'
import { Outlet, useLocation } from '@tanstack/react-router'
import { useServices, useSession } from '../lib/services.tsx'
import { EmptyState } from '../ui/EmptyState.tsx'
import { useTitle } from '../ui/useTitle.ts'
import { type Place, placeOf } from './places.ts'

const NotForYou = ({ title, permission }: Place) => {
  useTitle(title)
  const state = useSession()
  const own = state.phase === 'in' ? profileNames[state.profile.account.userProfile] : ''
  return (
    <EmptyState icon="lock" title={`${title} needs profile ${profileNames[permissionTable[permission]]}`}>
      <p>{`Your account has profile ${own}. An Administrator can change that under Settings, Accounts.`}</p>
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
