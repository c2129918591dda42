import { Button } from '@mantine/core'
import { Note, Panel, Quiet, Row, Skeleton, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Link, type LinkProps } from '@tanstack/react-router'
import { type CSSProperties, type ReactNode, useEffect, useId, useState } from 'react'
import { ticksOf } from './chart.ts'
import classes from './DayChart.module.css'
import { strings } from './strings.ts'

/** Look of a part of a bar: the usual colour, stripes, grey, or the colour of a severity. */
export type PartKind = 'plain' | 'blocked' | 'faint' | 'red' | 'amber'

export interface ChartDay {
  /** Day (UTC), as `2031-05-04`. */
  day: string
  /** Heights of the parts, from the bottom. Null: the numbers of this day are unknown. */
  parts: readonly number[] | null
  /** What the numbers count, as `13 attachments`. */
  texts: readonly string[]
  /** Cells of the table. */
  cells: readonly number[]
  /** The rows behind the numbers. */
  link: Pick<LinkProps, 'to' | 'search'>
}

export interface DayChartProps {
  title: string
  /** What the height counts. */
  axis: string
  legend: readonly { label: string; kind: PartKind }[]
  /** Oldest first; undefined while they are read. */
  days: readonly ChartDay[] | undefined
  /** Shown in place of bars if all are empty. */
  empty: string
  /** Null: a chart that nobody operates, without the choice of a table. */
  controls: ReactNode
  failure: ReactNode
}

const dayName = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' })
const monthName = new Intl.DateTimeFormat('en', { month: 'short', timeZone: 'UTC' })

const percent = (part: number, whole: number): string => `${(part / whole) * 100}%`
const sum = (parts: readonly number[] | null): number => (parts ?? []).reduce((total, part) => total + part, 0)

/** Hides the tooltip on Escape, without moving the pointer or the focus (WCAG 1.4.13). */
const useEscape = (isShown: boolean, hide: () => void) =>
  useEffect(() => {
    if (!isShown) return
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape') hide()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [isShown, hide])

const Bar = ({ parts, legend, top }: { parts: readonly number[]; legend: DayChartProps['legend']; top: number }) => {
  const total = sum(parts)
  return total === 0 ? null : (
    <span className={classes.bar} style={{ height: percent(total, top) }}>
      {parts.map((part, index) =>
        part === 0 ? null : (
          <span
            key={legend[index]?.label}
            className={classes.part}
            data-kind={legend[index]?.kind}
            style={{ height: percent(part, total) }}
          />
        ),
      )}
    </span>
  )
}

/** The bars: one link per day, with a tooltip on hover and on keyboard focus. */
const Plot = ({ axis, legend, days }: Pick<DayChartProps, 'axis' | 'legend'> & { days: readonly ChartDay[] }) => {
  const [shown, setShown] = useState<number | null>(null)
  const hide = () => setShown(null)
  useEscape(shown !== null, hide)
  const ticks = ticksOf(Math.max(...days.map(({ parts }) => sum(parts))))
  const top = ticks.at(-1)!
  const tip = shown === null ? undefined : days[shown]
  // About 14 names fit without touching each other.
  const named = Math.ceil(days.length / 14)
  // The tooltip of the first day starts at the left edge, that of the last day ends at the right edge.
  const place = (index: number): CSSProperties => ({
    left: percent(index + 0.5, days.length),
    transform: `translateX(-${percent(index, Math.max(1, days.length - 1))})`,
  })
  return (
    <Stack gap={8}>
      <Quiet tiny style={{ lineHeight: '16px' }} aria-hidden="true">
        {axis}
      </Quiet>
      <div className={classes.plot} onPointerLeave={hide}>
        {ticks.map((tick) => (
          <span key={tick} className={classes.tick} style={{ bottom: percent(tick, top) }} aria-hidden="true">
            <span>{tick.toLocaleString('en')}</span>
          </span>
        ))}
        <ul className={classes.bars}>
          {days.map(({ day, parts, texts, link }, index) => (
            <li key={day}>
              <Link
                {...link}
                className={classes.day}
                aria-label={`${dayName.format(new Date(day))}: ${parts === null ? strings.notRecorded : texts.join(', ')}`}
                onPointerEnter={() => setShown(index)}
                onFocus={() => setShown(index)}
                onBlur={hide}
              >
                {parts === null ? null : <Bar parts={parts} legend={legend} top={top} />}
                {(days.length - 1 - index) % named === 0 ? (
                  <span className={classes.name} aria-hidden="true">
                    {Number(day.slice(8))}
                    <span
                      data-month={index < named || Number(day.slice(8)) <= named ? monthName.format(new Date(day)) : ''}
                    />
                  </span>
                ) : null}
              </Link>
            </li>
          ))}
        </ul>
        {tip === undefined || shown === null ? null : (
          <div className={classes.tip} style={place(shown)} role="tooltip" aria-hidden="true">
            <strong>{dayName.format(new Date(tip.day))}</strong>
            {tip.parts === null ? (
              <span>{strings.notRecorded}</span>
            ) : (
              tip.texts.map((text) => <span key={text}>{text}</span>)
            )}
          </div>
        )}
      </div>
      <Quiet tiny style={{ textAlign: 'center' }} aria-hidden="true">
        {strings.dayAxis}
      </Quiet>
    </Stack>
  )
}

const AsTable = ({ title, heads, days }: { title: string; heads: readonly string[]; days: readonly ChartDay[] }) => (
  <SmallTable
    label={title}
    head={[strings.dayAxis, ...heads.map((label) => right(label))]}
    rows={days.toReversed().map(({ day, parts, cells, link }) => ({
      key: day,
      cells: [
        <Link key="day" {...link}>
          {dayName.format(new Date(day))}
        </Link>,
        ...cells.map((cell) => (parts === null ? '–' : cell.toLocaleString('en'))),
      ],
    }))}
    empty=""
  />
)

/** Numbers by day as bars, each a link to its rows, or as a table. */
export const DayChart = ({ title, axis, legend, days, empty, controls, failure }: DayChartProps) => {
  const [isTable, setIsTable] = useState(false)
  const titleId = useId()
  const isEmpty = days?.every(({ parts }) => sum(parts) === 0) ?? false
  return (
    <Panel small className={classes.card} aria-labelledby={titleId} aria-busy={days === undefined}>
      <Row as="header" wrap gap="4px 20px">
        <h2 id={titleId}>{title}</h2>
        <p className={classes.legend}>
          {legend.map(({ label, kind }) => (
            <span key={label} data-kind={kind}>
              {label}
            </span>
          ))}
        </p>
        {days === undefined || isEmpty || controls === null ? null : (
          <Button size="compact-xs" variant="subtle" aria-pressed={isTable} onClick={() => setIsTable(!isTable)}>
            {strings.showAsTable}
          </Button>
        )}
        {controls}
      </Row>
      {days === undefined ? (
        (failure ?? <Skeleton height={190} />)
      ) : isEmpty ? (
        <Note>{empty}</Note>
      ) : isTable ? (
        <AsTable title={title} heads={legend.map(({ label }) => label)} days={days} />
      ) : (
        <Plot axis={axis} legend={legend} days={days} />
      )}
    </Panel>
  )
}
