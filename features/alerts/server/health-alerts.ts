import { cleanText } from '@portcullis/domain'
import type { FollowedEvent } from '#features/events/server/index.ts'
import type { AlertRow, AlertWrite } from './alerts.store.ts'
import { healthCodes } from './groups.ts'
import type { News } from './news.ts'

/** A run of events about one subsystem. */
export interface HealthNews {
  write: AlertWrite
  news: News | null
  /** Whether it becomes unread, and open if it was closed. */
  comesUp: boolean
  /** Severity of the problem. It stays after the recovery, so that everybody who was notified of the problem is notified again. */
  severity: number
}

const statusOf = (event: FollowedEvent): 'OK' | 'Warning' | 'Error' =>
  event.code === healthCodes.recovered ? 'OK' : event.severity <= 3 ? 'Error' : 'Warning'

const rank = { OK: 0, '': 0, Warning: 1, Error: 2 } as const

/** Builds one alert per subsystem; its status follows the events. */
export const healthNews = (events: readonly FollowedEvent[], known: ReadonlyMap<string, AlertRow>): HealthNews[] => {
  const runs = new Map<string, FollowedEvent[]>()
  for (const event of events)
    if (event.code === healthCodes.degraded || event.code === healthCodes.recovered)
      runs.set(event.entity, [...(runs.get(event.entity) ?? []), event])
  return [...runs].flatMap(([subject, run]): HealthNews[] => {
    const row = known.get(`health ${subject}`)
    const [first] = run
    const last = run.at(-1)
    if (first === undefined || last === undefined) return []
    const status = statusOf(last)
    const worst = run.reduce((most, event) => Math.min(most, statusOf(event) === 'OK' ? 7 : event.severity), 7)
    const isOpen = row !== undefined && !row.is_dismissed
    const before = isOpen ? (row.status as keyof typeof rank) : 'OK'
    const isWorse = run.some((event) => rank[statusOf(event)] > rank[before])
    // An alert closed during the problem stays closed; everybody who was notified is notified of the recovery.
    const isOver = !isWorse && status === 'OK' && row?.is_dismissed === true && row.status !== 'OK'
    if (!isWorse && !isOpen && !isOver) return []
    const news: News | null = isWorse
      ? row === undefined
        ? 'opened'
        : 'reopened'
      : isOver || (status === 'OK' && before !== 'OK')
        ? 'resolved'
        : null
    return [
      {
        news,
        comesUp: isWorse,
        severity: isWorse ? worst : (row?.severity ?? worst),
        write: {
          kind: 'health',
          subject,
          title: `${subject}: ${status === 'OK' ? 'recovered' : status}`,
          description: cleanText(last.details, 600),
          // A recovery keeps the severity of the problem, so that it reaches those who were notified.
          severity: isWorse ? worst : (row?.severity ?? worst),
          status,
          entityType: '',
          entityId: '',
          link: '/settings/health',
          tags: '',
          hostCount: 0,
          firstAt: first.created_at,
          lastAt: last.created_at,
          count: run.filter((event) => statusOf(event) !== 'OK').length,
          events: run.map((event) => event.event_id).reverse(),
          turn: null,
          openedBy: '',
        },
      },
    ]
  })
}
