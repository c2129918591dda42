import {
  eventCatalogue,
  type FleetDay,
  type getTrends,
  type policyActivity,
  type ResponseOf,
} from '#features/contract.ts'
import type { ChartDay, DayChartProps } from './DayChart.tsx'
import { strings } from './strings.ts'

/** What the chart can show, in the order of the choice. */
export const measures = ['attachments', 'coverage', 'attackTools', 'vulnerable', 'unapproved', 'newModels'] as const
export type Measure = (typeof measures)[number]

export interface TrendFacts {
  activity: ResponseOf<typeof policyActivity> | undefined
  trends: ResponseOf<typeof getTrends> | undefined
}

type Chart = Pick<DayChartProps, 'title' | 'axis' | 'legend' | 'days' | 'empty'>

/** Filters for the events of a day. Events count for the day on which they happened. */
const eventsOf = (day: string, more: Record<string, string> = {}) => ({
  to: '/events' as const,
  search: { occurredFrom: `${day}T00:00:00Z`, occurredTo: `${day}T23:59:59Z`, ...more },
})

/** Returns the last days (UTC) up to that of `now` (ms since 1970), oldest first. */
export const lastDays = (now: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) =>
    new Date(now - (count - 1 - index) * 86_400_000).toISOString().slice(0, 10),
  )

const attachments = ({ activity }: TrendFacts): Omit<Chart, 'title' | 'empty'> => ({
  axis: strings.attachmentsAxis,
  legend: [
    { label: strings.blocked, kind: 'blocked' },
    { label: strings.allowed, kind: 'plain' },
  ],
  days: activity?.data.map(({ day, attachments: count, blocked }) => ({
    day,
    parts: [blocked, count - blocked],
    texts: [strings.attachmentCount({ count }), strings.blockedCount({ count: blocked })],
    cells: [blocked, count - blocked],
    link: eventsOf(day, { category: 'USB' }),
  })),
})

/** The hosts of each day in parts. Past days link to the events that changed the numbers, today to the hosts. */
const hostsByDay = (
  { trends }: TrendFacts,
  days: readonly string[],
  legend: DayChartProps['legend'],
  partsOf: (day: FleetDay) => number[],
  now: ChartDay['link'],
  past: string,
): Omit<Chart, 'title' | 'empty'> => {
  const byDay = new Map(trends?.data.map((one) => [one.day, one]))
  return {
    axis: strings.hosts,
    legend,
    days:
      trends &&
      days.map((day) => {
        const noted = byDay.get(day)
        const parts = noted === undefined ? null : partsOf(noted)
        return {
          day,
          parts,
          texts: legend.map(({ label }, index) => `${label}: ${(parts?.[index] ?? 0).toLocaleString('en')}`),
          cells: parts ?? legend.map(() => 0),
          link: day === days.at(-1) ? now : eventsOf(day, { globalSearch: past }),
        }
      }),
  }
}

const hosts = (search: Record<string, string>) => ({ to: '/agents' as const, search })

const newModels = ({ trends }: TrendFacts, days: readonly string[]): Omit<Chart, 'title' | 'empty'> => {
  const byDay = new Map(trends?.newModels.map(({ day, count }) => [day, count]))
  return {
    axis: strings.models,
    legend: [{ label: strings.newModels, kind: 'plain' }],
    days:
      trends &&
      days.map((day) => {
        const count = byDay.get(day) ?? 0
        return {
          day,
          parts: [count],
          texts: [strings.newModelCount({ count })],
          cells: [count],
          link: { to: '/peripherals/models', search: { firstSeen: `${day}..${day}` } },
        }
      }),
  }
}

/** Returns the chart of a measure over days. */
export const chartOf = (measure: Measure, facts: TrendFacts, days: readonly string[]): Chart => {
  const titles: Record<Measure, string> = {
    attachments: strings.trendAttachments,
    coverage: strings.trendCoverage,
    attackTools: strings.withAttackTools,
    vulnerable: strings.vulnerable,
    unapproved: strings.notAllowed,
    newModels: strings.trendNewModels,
  }
  const one = (
    kind: 'red' | 'amber',
    name: 'attackTools' | 'vulnerable' | 'unapproved',
    filter: string,
    event: string,
  ) =>
    hostsByDay(facts, days, [{ label: titles[name], kind }], (day) => [day[name]], hosts({ [filter]: 'true' }), event)
  const charts: Record<Measure, () => Omit<Chart, 'title' | 'empty'>> = {
    attachments: () => attachments(facts),
    coverage: () =>
      hostsByDay(
        facts,
        days,
        [
          { label: strings.protected, kind: 'plain' },
          { label: strings.couldBeProtected, kind: 'amber' },
          { label: strings.cannotBlock, kind: 'faint' },
        ],
        (day) => [day.protected, day.possible, day.impossible],
        hosts({}),
        eventCatalogue.armed.name,
      ),
    attackTools: () => one('red', 'attackTools', 'HasKnownAttackTools', eventCatalogue.attackTool.name),
    vulnerable: () => one('amber', 'vulnerable', 'HasVulnerablePeripherals', eventCatalogue.vulnerable.name),
    unapproved: () => one('amber', 'unapproved', 'HasUnapprovedPeripherals', eventCatalogue.violation.name),
    newModels: () => newModels(facts, days),
  }
  return {
    ...charts[measure](),
    title: strings.trendTitle({ measure: titles[measure], days: days.length }),
    empty:
      measure === 'attachments'
        ? strings.noAttachments({ days: days.length })
        : strings.noneInDays({ days: days.length }),
  }
}

export const measureLabels = (): { value: Measure; label: string }[] =>
  measures.map((value) => ({
    value,
    label: {
      attachments: strings.attachmentsAxis,
      coverage: strings.coverage,
      attackTools: strings.withAttackTools,
      vulnerable: strings.vulnerable,
      unapproved: strings.notAllowed,
      newModels: strings.newModels,
    }[value],
  }))
