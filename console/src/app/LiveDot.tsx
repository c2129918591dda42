import { exactUtc } from '@portcullis/platform/console/lib/time.ts'
import { useLiveStatus } from '@portcullis/platform/console/ui/useLive.ts'
import classes from './LiveDot.module.css'
import { strings } from './strings.ts'

const labels = { connecting: strings.connecting, live: strings.live, lost: strings.offline } as const

/** Shows whether the page receives live updates: a full, empty or crossed dot with its label. */
export const LiveDot = () => {
  const { state, lastHeard } = useLiveStatus()
  return (
    <span
      className={classes.live}
      data-state={state}
      title={lastHeard === null ? undefined : strings.lastUpdate({ time: exactUtc(lastHeard) })}
    >
      <svg viewBox="0 0 10 10" width={9} height={9} aria-hidden="true">
        <circle
          cx="5"
          cy="5"
          r="3.5"
          fill={state === 'live' ? 'currentColor' : 'none'}
          stroke="currentColor"
          strokeWidth="1.5"
        />
        {state === 'lost' ? <path d="M1.500 8.500l7-7" stroke="currentColor" strokeWidth="1.500" /> : null}
      </svg>
      {labels[state]}
    </span>
  )
}
