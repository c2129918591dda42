import { localTime } from '@portcullis/platform/console/lib/time.ts'
import { Columns, PressButton, Quiet, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { TimeAxis, TimeLines } from '@portcullis/platform/console/ui/TimeAxis.tsx'
import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'
import { Fragment } from 'react'
import type { TimelineEntry, TimelineLane } from '#features/contract.ts'
import { eventSeverity } from '#features/devices/console/shared/findings.ts'
import { laneNames, strings } from './strings.ts'

const width = 240
const height = 18

interface Mark {
  x: number
  severity: Severity
  title: string
}

const rank: Record<string, number> = { red: 2, amber: 1 }

/** Merges the entries of a lane that would overlap. A mark has the colour of its worst entry. */
const marksOf = (entries: readonly TimelineEntry[], from: number, to: number): Mark[] => {
  const marks = new Map<number, Mark>()
  for (const { at, severity: level, title } of entries) {
    const time = Date.parse(at)
    const x = Math.min(width - 1, Math.floor(((time - from) / (to - from)) * width))
    const severity = eventSeverity(level)
    const known = marks.get(x)
    if (known === undefined || (rank[severity] ?? 0) > (rank[known.severity] ?? 0))
      marks.set(x, { x, severity, title: `${localTime(time)}: ${title}` })
  }
  return [...marks.values()]
}

interface LaneStripProps {
  entries: readonly TimelineEntry[]
  from: number
  to: number
  hidden: readonly TimelineLane[]
  /** The chosen lanes; empty: all. */
  chosen: readonly string[]
  toggle: (lane: TimelineLane) => void
}

/** Draws each lane over time. The name of a lane shows or hides its entries in the list below. */
export const LaneStrip = ({ entries, from, to, hidden, chosen, toggle }: LaneStripProps) => {
  const byLane = Map.groupBy(entries, ({ lane }) => lane)
  return (
    <Columns template="minmax(104px, auto) minmax(0, 1fr)" gap="0 10px" small role="group" aria-label={strings.lanes}>
      {(Object.entries(laneNames) as [TimelineLane, string][]).map(([lane, name]) => {
        const some = byLane.get(lane) ?? []
        return (
          <Fragment key={lane}>
            <PressButton
              aria-pressed={chosen.length === 0 || chosen.includes(lane)}
              disabled={hidden.includes(lane)}
              title={hidden.includes(lane) ? strings.notAllowedToRead : undefined}
              onClick={() => toggle(lane)}
              style={{ minHeight: 24, opacity: chosen.length === 0 || chosen.includes(lane) ? 1 : 0.55 }}
            >
              <Text nowrap>{name}</Text> <Quiet num>{some.length === 0 ? '' : some.length.toLocaleString('en')}</Quiet>
            </PressButton>
            <svg
              viewBox={`0 0 ${width} ${height}`}
              preserveAspectRatio="none"
              width="100%"
              height={24}
              role="img"
              aria-label={strings.laneText({ lane: name, count: some.length })}
              style={{ borderBottom: '1px solid var(--pc-line)' }}
            >
              <TimeLines from={from} to={to} width={width} height={height} />
              {marksOf(some, from, to).map(({ x, severity, title }) => (
                <rect key={x} x={x} y={3} width={1.4} height={height - 6} fill={`var(--pc-${severity})`}>
                  <title>{title}</title>
                </rect>
              ))}
            </svg>
          </Fragment>
        )
      })}
      <span />
      <TimeAxis from={from} to={to} />
    </Columns>
  )
}
