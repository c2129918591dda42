import { CallFailure, isOutage } from '@portcullis/platform/console/lib/problem.ts'
import { useServices, useSession } from '@portcullis/platform/console/lib/services.tsx'
import { isFactorDue } from '@portcullis/platform/console/lib/session.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { lazily } from '@portcullis/platform/console/ui/lazily.tsx'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Frame } from './Frame.tsx'

const ChangePassword = lazily(
  async () => (await import('@portcullis/features/identity/console/sign-in/MustChangePage.tsx')).MustChangePage,
)
const EnrolFactor = lazily(
  async () => (await import('@portcullis/features/identity/console/accounts/second-factor/EnrolPage.tsx')).EnrolPage,
)

/** Interval between attempts to read the session while the server is unreachable, in ms. */
const retryGap = 3_000

const isAway = (failure: unknown): boolean =>
  // ErrorState retries after outages.
  !isOutage(failure) && failure instanceof CallFailure && (failure.code === 'unreadable' || failure.status >= 500)

/** Shows the frame to signed-in users and redirects everyone else to the sign-in page. */
export const Gate = () => {
  const state = useSession()
  const { session, clock } = useServices()
  const router = useRouter()
  const why = state.phase === 'out' ? state.why : null
  useEffect(() => {
    if (why === null) return
    // Read in the effect: in render, the address has already changed while the sign-in page loads.
    const { pathname, searchStr } = router.latestLocation
    // After an expired session the user returns to the same page; after signing out, to the overview.
    const next = why === 'signed out' || (pathname === '/' && searchStr === '') ? undefined : pathname + searchStr
    void router.navigate({
      to: '/sign-in',
      search: { next, ended: why === 'ended' ? '1' : undefined },
      replace: true,
    })
  }, [why, router])
  // Keep showing the error during retries.
  const [kept, keep] = useState<unknown>(null)
  const failure = state.phase === 'failed' ? state.failure : state.phase === 'starting' ? kept : null
  if (failure !== kept) keep(failure)
  useEffect(() => {
    if (state.phase !== 'failed' || !isAway(state.failure)) return
    const timer = setTimeout(() => void session.start(), retryGap)
    return () => clearTimeout(timer)
  }, [state, session])
  if (why !== null) return null
  if (state.phase === 'in' && state.profile.account.mustChangePassword) {
    return <ChangePassword />
  }
  if (state.phase === 'in' && isFactorDue(state.profile, clock.now())) {
    return <EnrolFactor />
  }
  return (
    <Frame isReady={state.phase === 'in'}>
      <ErrorState failure={failure} retry={() => void session.start()} />
    </Frame>
  )
}
