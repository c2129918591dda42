import { relativeTime } from '@portcullis/platform/console/lib/time.ts'
import { code } from '@portcullis/platform/console/ui/code.ts'
import { useLiveStatus } from '@portcullis/platform/console/ui/useLive.ts'
import { useNow } from '@portcullis/platform/console/ui/useNow.ts'
import { useSyncExternalStore } from 'react'
import classes from './ConnectionBanner.module.css'
import { strings } from './strings.ts'

// A short reconnect is not worth a banner.
const patience = 6_000

/** Shows a banner while the server is unreachable, with the age of the data. */
export const ConnectionBanner = () => {
  const { state, lastHeard } = useLiveStatus()
  const now = useNow()
  const isWaiting = useSyncExternalStore(code.watch, code.isWaiting)
  const isLost = state === 'lost' && lastHeard !== null && now - lastHeard >= patience
  if (!isLost && !isWaiting) return null
  return (
    <output className={classes.banner}>
      {isLost ? strings.outageWithAge({ age: relativeTime(lastHeard, now) }) : strings.outage}
    </output>
  )
}
