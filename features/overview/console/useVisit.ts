import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useEffect, useMemo, useState } from 'react'
import { advance, type Numbers, parseVisits, type Snapshot, type Visits } from './visit.ts'

const read = (key: string): Visits | null => {
  try {
    return parseVisits(window.localStorage.getItem(key))
  } catch {
    return null
  }
}

/** Returns the numbers from the last visit of an account; null on the first. Stores each new look for the next visit. */
export const useVisit = (userName: string, numbers: Numbers | null): Snapshot | null => {
  const { clock } = useServices()
  const key = `portcullis-visit-${userName.toLowerCase()}`
  const [before, setBefore] = useState<Snapshot | null>(() => read(key)?.before ?? null)
  const text = useMemo(() => (numbers === null ? null : JSON.stringify(numbers)), [numbers])
  useEffect(() => {
    if (text === null) return
    const next = advance(read(key), { at: clock.now(), numbers: JSON.parse(text) as Numbers })
    setBefore(next.before)
    try {
      window.localStorage.setItem(key, JSON.stringify(next))
    } catch {
      // If storage is full or disabled, changes count from the start of this page.
    }
  }, [text, key, clock])
  return before
}
