import { toMinute } from '@portcullis/platform/console/lib/range.ts'
import { durationText, localTime } from '@portcullis/platform/console/lib/time.ts'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { Quiet, Row, Skeleton, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import type { View } from '@portcullis/platform/console/ui/useView.ts'
import { keepPreviousData } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type KeyboardEvent, useState } from 'react'
import { eventHistogram, type EventHistogram as Histogram } from '#features/contract.ts'
import classes from './EventHistogram.module.css'
import { strings } from './strings.ts'

// Bars need not follow each event.
const refreshGap = 10_000

interface Bar {
  count: number | null
  from: number
  /** End, exclusive. */
  to: number
}

const barsOf = ({ data, end }: Histogram): Bar[] =>
  data.map(({ start, count }, index) => ({
    count,
    from: Date.parse(start),
    to: Date.parse(data[index + 1]?.start ?? end),
  }))

/** Returns the filters for the events of some bars. The end of a filter range is inclusive. */
const rangeOf = (first: Bar, last: Bar) => ({
  fromDate: toMinute(first.from),
  toDate: toMinute(Math.max(first.from, last.to - 60_000)),
})

/** Returns the height of a bar. Small numbers stay visible next to large ones. */
const heightOf = ({ count }: Bar, top: number): string => {
  if (count === null) return '100%'
  return count === 0 ? '0' : `max(2px, ${(count / top) * 100}%)`
}

const Bars = ({ view, bars, note }: { view: View; bars: readonly Bar[]; note: string }) => {
  const [at, setAt] = useState<number | null>(null)
  const [focused, setFocused] = useState(0)
  const [dragFrom, setDragFrom] = useState<number | null>(null)
  const top = Math.max(1, ...bars.map(({ count }) => count ?? 0))
  const isChosen = (index: number): boolean =>
    dragFrom !== null && at !== null && index >= Math.min(dragFrom, at) && index <= Math.max(dragFrom, at)
  const finish = () => {
    if (dragFrom !== null && at !== null && dragFrom !== at) {
      const [first, last] = [bars[Math.min(dragFrom, at)], bars[Math.max(dragFrom, at)]]
      if (first !== undefined && last !== undefined) view.set({ filters: rangeOf(first, last) })
    }
    setDragFrom(null)
  }
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -bars.length, End: bars.length }[event.key]
    if (by === undefined) return
    event.preventDefault()
    const next = Math.min(bars.length - 1, Math.max(0, focused + by))
    setFocused(next)
    event.currentTarget.querySelectorAll('a')[next]?.focus()
  }
  const textOf = ({ count, from, to }: Bar): string => {
    const range = strings.barRange({ from: localTime(from), to: localTime(to) })
    return `${range}: ${count === null ? strings.notCounted : strings.eventCount({ count })}`
  }
  const shown = at === null ? undefined : bars[at]
  return (
    <Stack gap={2}>
      <Row as="div" justify="space-between" gap={12}>
        <Quiet tiny>{shown === undefined ? note : textOf(shown)}</Quiet>
        <Quiet tiny num>
          {strings.tallestBar({ count: top })}
        </Quiet>
      </Row>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the range picker; each bar is a link */}
      <div
        className={classes.plot}
        onPointerLeave={() => setAt(null)}
        onPointerUp={finish}
        onPointerCancel={() => setDragFrom(null)}
        onKeyDown={move}
      >
        {bars.map((bar, index) => (
          <Link
            key={bar.from}
            to="."
            search={(old: object) => ({ ...old, ...rangeOf(bar, bar) })}
            className={classes.bar}
            data-chosen={isChosen(index) || undefined}
            data-unknown={bar.count === null || undefined}
            draggable={false}
            tabIndex={index === focused ? 0 : -1}
            aria-label={textOf(bar)}
            onPointerEnter={() => setAt(index)}
            onPointerDown={(event) => {
              if (event.button === 0 && event.pointerType === 'mouse') setDragFrom(index)
            }}
            onFocus={() => {
              setFocused(index)
              setAt(index)
            }}
            onBlur={() => setAt(null)}
          >
            <span style={{ height: heightOf(bar, top) }} />
          </Link>
        ))}
      </div>
    </Stack>
  )
}

/** Shows the number of listed events by time. A bar links to its events; dragging over bars chooses their range. */
export const EventHistogram = ({ view, query }: { view: View; query: Readonly<Record<string, string>> }) => {
  const { SortBy: _order, ...filters } = query
  const read = useRead(['events', 'histogram', filters], eventHistogram, {
    query: filters,
    placeholderData: keepPreviousData,
    retry: false,
  })
  useLiveRefresh(['events'], refreshGap, () => void read.refetch())
  if (read.data === undefined) return read.isError ? null : <Skeleton height={66} />
  const bars = barsOf(read.data)
  if (bars.length < 2) return null
  const step = durationText(read.data.stepSeconds)
  return (
    <section aria-label={strings.histogram}>
      <Bars
        key={`${bars[0]?.from} ${step}`}
        view={view}
        bars={bars}
        note={read.data.isExact ? strings.perStep({ step }) : strings.perStepAbout({ step })}
      />
    </section>
  )
}
