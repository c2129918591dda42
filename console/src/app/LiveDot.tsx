import { exactUtc } from '@portcullis/platform/console/lib/time.ts'
import { Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useLiveStatus } from '@portcullis/platform/console/ui/useLive.ts'
import { strings } from './strings.ts'

const labels = { connecting: strings.connecting, live: strings.live, lost: strings.offline } as const

/** Shows whether the page receives live updates: a full, empty or crossed dot with its label. */
export const LiveDot = () => {
  const { state, lastHeard } = useLiveStatus()
  return (
    <Row
      as="span"
      gap={6}
      tiny
      pad="0 6px"
      quiet={state === 'connecting'}
      tone={state === 'live' ? 'accent' : state === 'lost' ? 'amber' : undefined}
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
    </Row>
  )
}
