import type { QueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useSyncExternalStore } from 'react'
import type { Api } from './api.ts'
import type { Clock } from './clock.ts'
import type { FilterValues } from './filter-values.ts'
import type { Identity } from './identity.ts'
import type { Keys } from './keys.ts'
import type { Live } from './live.ts'
import type { Session } from './session.ts'
import type { Work } from './work.ts'

/** The services of all screens, created once in `app/main.tsx`. */
export interface Services {
  api: Api
  live: Live
  session: Session
  identity: Identity
  clock: Clock
  keys: Keys
  queries: QueryClient
  work: Work
  filterValues: FilterValues
}

const ServicesContext = createContext<Services | null>(null)

export const ServicesProvider = ({ services, children }: { services: Services; children: ReactNode }) => (
  <ServicesContext value={services}>{children}</ServicesContext>
)

export const useServices = (): Services => {
  const services = useContext(ServicesContext)
  if (services === null) throw new Error('ServicesProvider is missing')
  return services
}

/** Returns the current session; the component renders again when it changes. */
export const useSession = () => {
  const { session } = useServices()
  return useSyncExternalStore(session.watch, session.state)
}
