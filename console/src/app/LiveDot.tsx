import { exactUtc } from '../lib/time.ts'
import { useLiveStatus } from '../ui/useLive.ts'
import classes from './LiveDot.module.css'
import { strings } from './strings.ts'

const words = { connecting: 'connecting', live: 'live', lost: 'not live' } as const

/** Whether what is shown follows the fleet as it happens: a full dot, an empty one, or a broken one, with the word. */
export const LiveDot = () => {
  const { state, lastHeard } = useLiveStatus()
  return (
    <span
      className={classes.live}
      data-state={state}
      title={lastHeard === null ? undefined : strings.lastHeardLastheard({ lastHeard: exactUtc(lastHeard) })}
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
      {words[state]}
    </span>
  )
}
