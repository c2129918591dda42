import { relativeTime } from '../lib/time.ts'
import { useLiveStatus } from '../ui/useLive.ts'
import { useNow } from '../ui/useNow.ts'
import classes from './ConnectionBanner.module.css'

// A reconnect within this time is nothing to read about.
const patience = 6_000

/** A quiet strip while the live channel is away, with the age of what is shown. */
export const ConnectionBanner = () => {
  const { state, lastHeard } = useLiveStatus()
  const now = useNow()
  if (state !== 'lost' || lastHeard === null || now - lastHeard < patience) return null
  return (
    <output className={classes.banner}>
      Connection to the server lost. What you see is {relativeTime(lastHeard, now)} old; reconnecting by itself.
    </output>
  )
}
