import { createApi } from '@portcullis/platform/console/lib/api.ts'
import { useServices, useSession } from '@portcullis/platform/console/lib/services.tsx'
import { useMemo, useState } from 'react'

const tokenKey = 'portcullis-wall-token'

const kept = (): string | null => {
  try {
    return window.sessionStorage.getItem(tokenKey)
  } catch {
    return null
  }
}

const keep = (token: string | null) => {
  try {
    if (token === null) window.sessionStorage.removeItem(tokenKey)
    else window.sessionStorage.setItem(tokenKey, token)
  } catch {
    // Without storage, the token is lost when the page reloads.
  }
}

/**
 * Returns the services with which the wallboard reads: those of an API token, which lives longer than a session, or those
 * of the session. The token stays in this tab, even if the page reloads.
 */
export const useWallAccess = () => {
  const services = useServices()
  const state = useSession()
  const [token, setToken] = useState(kept)
  const [isRefused, setRefused] = useState(false)
  const own = useMemo(() => {
    if (token === null) return null
    const api = createApi({
      fetch: window.fetch.bind(window),
      // The token does not expire within minutes as those of a session do: the same one is tried again once.
      refresh: async () => ({ token }),
      onSignedOut: () => undefined,
      confirmIdentity: async () => false,
      exclusively: (work) => work(),
    })
    return { ...services, api }
  }, [token, services])
  return {
    services: own ?? (state.phase === 'in' ? services : null),
    isStarting: own === null && (state.phase === 'starting' || state.phase === 'failed'),
    isRefused,
    accept: (text: string) => {
      keep(text)
      setToken(text)
      setRefused(false)
    },
    refuse: () => {
      keep(null)
      setToken(null)
      setRefused(token !== null)
    },
  }
}
