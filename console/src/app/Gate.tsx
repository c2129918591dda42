import { Navigate, useLocation } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useServices, useSession } from '../lib/services.tsx'
import { ErrorState } from '../ui/ErrorState.tsx'
import { Frame } from './Frame.tsx'

const ChangePassword = lazy(async () => ({
  default: (await import('../features/sign-in/MustChangePage.tsx')).MustChangePage,
}))

/** Shows the frame to who is signed in, the way to the sign-in to everybody else. */
export const Gate = () => {
  const state = useSession()
  const { session } = useServices()
  const { pathname, searchStr } = useLocation()
  if (state.phase === 'failed') return <ErrorState failure={state.failure} retry={() => void session.start()} />
  if (state.phase === 'out') {
    const next = pathname === '/' && searchStr === '' ? undefined : pathname + searchStr
    return <Navigate to="/sign-in" search={{ next, ended: state.ended ? '1' : undefined } as never} replace />
  }
  if (state.phase === 'in' && state.profile.account.mustChangePassword) {
    return (
      <Suspense>
        <ChangePassword />
      </Suspense>
    )
  }
  return <Frame isReady={state.phase === 'in'} />
}
