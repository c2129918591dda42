import { useServices, useSession } from '@portcullis/platform/console/lib/services.tsx'
import { useRouter, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { SignIn, safeNext } from './SignIn.tsx'

/** The sign-in page of a console that is already loaded, for example after a session ended. */
export const SignInPage = () => {
  const services = useServices()
  const state = useSession()
  const search = useSearch({ from: '/sign-in' })
  const router = useRouter()
  const isIn = state.phase === 'in'
  const next = safeNext(search.next)
  useEffect(() => {
    if (isIn) router.history.replace(next)
  }, [isIn, next, router])
  return isIn || state.phase === 'starting' ? null : <SignIn services={services} search={search} />
}
