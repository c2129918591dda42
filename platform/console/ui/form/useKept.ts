import { useMemo, useState } from 'react'
import { createKept, type Kept } from '../../lib/kept.ts'
import { useServices } from '../../lib/services.tsx'

/**
 * Keeps the input of a form in this browser until it is saved. `found` is what was kept when the form opened, if it has the
 * shape of `sample`.
 */
export const useKept = <T>(name: string, sample: T) => {
  const [shape] = useState(sample)
  const { session, clock } = useServices()
  const state = session.state()
  const account = state.phase === 'in' ? state.profile.account.userName : ''
  const kept = useMemo(() => createKept<T>(window.localStorage, account, name, shape), [account, name, shape])
  const [found, setFound] = useState<Kept<T> | null>(() => kept.read(clock.now()))
  return {
    found,
    keep: (value: T | null) => kept.keep(value, clock.now()),
    /** Hides that input was restored. */
    forget: () => setFound(null),
  }
}
