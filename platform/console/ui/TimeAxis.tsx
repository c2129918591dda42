import { Quiet } from './layout/layout.tsx'
import { type TimeTick, timeTicks } from './time-ticks.ts'

const percent = (at: number, from: number, to: number): number => ((at - from) / (to - from)) * 100

/** The labels of an axis of time, from left to right. */
export const TimeAxis = ({ from, to, most = 7 }: { from: number; to: number; most?: number }) => (
  <Quiet tiny aria-hidden="true" style={{ display: 'block', position: 'relative', height: 18, overflow: 'hidden' }}>
    {timeTicks(from, to, most).map(({ at, label }: TimeTick) => {
      const left = percent(at, from, to)
      // The first and the last label stay inside the axis.
      const shift = left < 5 ? 0 : left > 95 ? -100 : -50
      return (
        <span
          key={at}
          style={{ position: 'absolute', left: `${left}%`, transform: `translateX(${shift}%)`, whiteSpace: 'nowrap' }}
        >
          {label}
        </span>
      )
    })}
  </Quiet>
)

/** The lines of the same axis in a drawing of `width` units. */
export const TimeLines = ({
  from,
  to,
  width,
  height,
  most = 7,
}: {
  from: number
  to: number
  width: number
  height: number
  most?: number
}) =>
  timeTicks(from, to, most).map(({ at }) => {
    const x = (percent(at, from, to) / 100) * width
    return (
      <line
        key={at}
        x1={x}
        x2={x}
        y1={0}
        y2={height}
        stroke="var(--pc-line)"
        strokeWidth={1}
        vectorEffect="non-scaling-stroke"
      />
    )
  })
