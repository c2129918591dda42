import { localTime } from '@portcullis/platform/console/lib/time.ts'
import type { HealthStatus } from '#features/contract.ts'
import classes from './HealthPage.module.css'
import { healthWords } from './shared/health-labels.ts'
import { strings } from './strings.ts'
import { type Segment, stripText } from './strip.ts'

const width = 1_000
const height = 20
/** Worse is taller, so the meaning does not depend on colour. Share of the height, and class of the colour. */
const bars: Record<HealthStatus | 'none', { share: number; className: string | undefined }> = {
  none: { share: 0, className: undefined },
  Unknown: { share: 0.08, className: classes.barUnknown },
  OK: { share: 0.3, className: classes.barOK },
  Warning: { share: 0.65, className: classes.barWarning },
  Error: { share: 1, className: classes.barError },
}

const titleOf = ({ status, from, to, description }: Segment): string =>
  (description === '' ? strings.segment : strings.segmentWithText)({
    status: status === null ? strings.notChecked : healthWords[status],
    from: localTime(from),
    to: localTime(to),
    description,
  })

/** Draws the states of a part over time as a strip. */
export const PartStrip = ({
  name,
  segments,
  from,
  to,
}: {
  name: string
  segments: readonly Segment[]
  from: number
  to: number
}) => {
  const x = (time: number): number => ((time - from) / (to - from)) * width
  return (
    <svg
      className={classes.strip}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${name}: ${stripText(segments)}`}
    >
      {segments.map((segment) => {
        const { share, className } = bars[segment.status ?? 'none']
        // A short failure must be visible: at least six of 1,000 units wide.
        const wide = Math.max(
          segment.status === 'Error' || segment.status === 'Warning' ? 6 : 0,
          x(segment.to) - x(segment.from),
        )
        return (
          <g key={segment.from}>
            <rect className={classes.barHit} x={x(segment.from)} width={wide} y={0} height={height}>
              <title>{titleOf(segment)}</title>
            </rect>
            <rect
              className={className}
              x={Math.min(x(segment.from), width - wide)}
              width={wide}
              y={height * (1 - share)}
              height={height * share}
              pointerEvents="none"
            />
          </g>
        )
      })}
    </svg>
  )
}
