import type { HealthStatus } from '@portcullis/contract'
import { localTime } from '../../lib/time.ts'
import { healthWords } from '../../ui/health-labels.ts'
import classes from './HealthPage.module.css'
import { strings } from './strings.ts'
import { type Segment, stripText } from './strip.ts'

const width = 1_000
const height = 20
/** Worse is taller: the meaning survives without colour. Part of the height, and the class of the colour. */
const bars: Record<HealthStatus | 'none', { share: number; className: string | undefined }> = {
  none: { share: 0, className: undefined },
  Unknown: { share: 0.08, className: classes.barUnknown },
  OK: { share: 0.3, className: classes.barOK },
  Warning: { share: 0.65, className: classes.barWarning },
  Error: { share: 1, className: classes.barError },
}

const titleOf = ({ status, from, to, description }: Segment): string =>
  strings.valueFromToToValue2({
    value: status === null ? 'not looked at' : healthWords[status],
    from: localTime(from),
    to: localTime(to),
    value2: description === '' ? '' : `\n${description}`,
  })

/** How a part was over a time, drawn as a strip. */
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
        // A short failure has to be seen: three of 1,000 at least.
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
