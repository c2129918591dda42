import { Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { type HostState, hostStateOf, type StatusOfHost } from './host-state.ts'

const shield = 'M6 1l4.2 1.6v3.1c0 2.4-1.7 4.2-4.2 5.2-2.5-1-4.2-2.8-4.2-5.2V2.6z'
const ring = 'M6 2a4 4 0 1 0 0 8 4 4 0 0 0 0-8z'
const slash = 'M1.5 10.5l9-9'

// A shape per state, so that the meaning does not depend on colour: a shield is armed, a ring is free, a slash means that
// the host is not connected.
const shapes: Readonly<Record<HostState, { path: string; isFilled?: true; tone?: 'accent' | 'amber' }>> = {
  armed: { path: shield, isFilled: true, tone: 'accent' },
  free: { path: ring },
  disconnectedArmed: { path: `${shield}${slash}`, tone: 'amber' },
  disconnectedFree: { path: `${ring}${slash}` },
  licence: { path: 'M6 1.5l5 9H1zM6 5v2.5M6 8.8v.4', tone: 'amber' },
}

/** The state of a host: armed, free, or disconnected with its mode. */
export const HostStatus = ({ host }: { host: StatusOfHost }) => {
  const [state, word] = hostStateOf(host)
  const { path, isFilled, tone } = shapes[state]
  return (
    <Row as="span" gap={6} nowrap tone={tone} quiet={state === 'disconnectedFree'} data-state={state}>
      <svg viewBox="0 0 12 12" width={12} height={12} aria-hidden="true">
        <path
          d={path}
          fill={isFilled ? 'currentColor' : 'none'}
          stroke="currentColor"
          strokeWidth="1.3"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
      {word}
    </Row>
  )
}
