import { useEffect, useEffectEvent, useState } from 'react'
import { isOutage, retryAfterOf } from '../lib/problem.ts'
import { reach } from './code.ts'

export interface Recovery {
  /** Reads again what failed. */
  retry: (() => void) | undefined
  /** Sends a change again. */
  resend: (() => void) | undefined
}

/**
 * Recovers from an outage without a reload: reads again as soon as that can help. Sends a change again only if nobody
 * has typed since it failed. Otherwise returns true when the server responds again.
 */
export const useRecovery = (failure: unknown, { retry, resend }: Recovery): boolean => {
  const [over, setOver] = useState<unknown>(null)
  const recover = useEffectEvent((hasTyped: boolean) => {
    if (retry !== undefined) retry()
    else if (resend !== undefined && !hasTyped) resend()
    else setOver(failure)
  })
  useEffect(() => {
    if (!isOutage(failure)) return
    let isGone = false
    let hasTyped = false
    const note = () => {
      hasTyped = true
    }
    document.addEventListener('input', note, true)
    void reach.untilWorthRetrying(retryAfterOf(failure)).then(() => {
      if (!isGone) recover(hasTyped)
    })
    return () => {
      isGone = true
      document.removeEventListener('input', note, true)
    }
  }, [failure])
  return failure !== null && over === failure
}
