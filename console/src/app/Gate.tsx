import { useRouter } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { useServices, useSession } from '../lib/services.tsx'
import { isFactorDue } from '../lib/session.ts'
import { ErrorState } from '../ui/ErrorState.tsx'
import { Frame } from './Frame.tsx'

const ChangePassword = lazy(async () => ({
  default: (await import('../features/sign-in/MustChangePage.tsx')).MustChangePage,
}))

const EnrolFactor = lazy(async () => ({
  default: (await import('../features/accounts/second-factor/EnrolPage.tsx')).EnrolPage,
}))

/** Shows the frame to who is signed in, the way to the sign-in to everybody else. */
export const Gate = () => {
  const state = useSession()
  const { session, clock } = useServices()
  const router = useRouter()
  const why = state.phase === 'out' ? state.why : null
  useEffect(() => {
    if (why === null) return
    // Read here, not in render: while the sign-in page loads, this is still shown and its address has changed already.
    const { pathname, searchStr } = router.latestLocation
    // Who signed out leaves nothing behind; anybody else goes on where he was.
    const next = why === 'signed out' || (pathname === '/' && searchStr === '') ? undefined : pathname + searchStr
    void router.navigate({
      to: '/sign-in',
      search: { next, ended: why === 'ended' ? '1' : undefined } as never,
      replace: true,
    })
  }, [why, router])
  if (state.phase === 'failed') return <ErrorState failure={state.failure} retry={() => void session.start()} />
  if (why !== null) return null
  if (state.phase === 'in' && state.profile.account.mustChangePassword) {
    return (
      <Suspense>
        <ChangePassword />
      </Suspense>
    )
  }
  if (state.phase === 'in' && isFactorDue(state.profile, clock.now())) {
    return (
      <Suspense>
        <EnrolFactor />
      </Suspense>
    )
  }
  return <Frame isReady={state.phase === 'in'} />
}
