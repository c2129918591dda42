import type { HealthChange, HealthStatus, Subsystem } from '@portcullis/contract'
import { healthWords } from '../../ui/health-labels.ts'
import { strings } from './strings.ts'

/** A time in which a part was the same; null: nobody looked yet. */
export interface Segment {
  status: HealthStatus | null
  /** Milliseconds since 1970. */
  from: number
  to: number
  description: string
}

/** How a part was from then until now, by the changes of that time (in any order) and by how it is. */
export const segmentsOf = (
  changes: readonly HealthChange[],
  part: Pick<Subsystem, 'status' | 'since' | 'description'>,
  from: number,
  now: number,
): Segment[] => {
  const rising = [...changes].sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || a.id - b.id)
  const first = rising[0]
  const since = part.since === null ? null : Date.parse(part.since)
  const before: Segment[] =
    first !== undefined
      ? [{ status: first.previous, from, to: Date.parse(first.at), description: '' }]
      : since === null
        ? [{ status: null, from, to: now, description: '' }]
        : [
            { status: null, from, to: since, description: '' },
            { status: part.status, from: since, to: now, description: part.description },
          ]
  const told = rising.map(({ status, at, endedAt, description }) => ({
    status,
    from: Date.parse(at),
    to: endedAt === null ? now : Date.parse(endedAt),
    description,
  }))
  return [...before, ...told]
    .map((segment) => ({ ...segment, from: Math.max(from, segment.from), to: Math.min(now, segment.to) }))
    .filter((segment) => segment.to > segment.from)
}

/** Share of the time that somebody looked in which it was OK; null: it was not in use. */
export const shareInOrder = (segments: readonly Segment[]): number | null => {
  const sum = (statuses: readonly (HealthStatus | null)[]): number =>
    segments.filter(({ status }) => statuses.includes(status)).reduce((all, { from, to }) => all + to - from, 0)
  const looked = sum(['OK', 'Warning', 'Error'])
  return looked === 0 ? null : sum(['OK']) / looked
}

/** `99.98 %`, and never 100 when something was. */
export const shareText = (share: number): string =>
  share === 1 ? '100 %' : `${(Math.floor(share * 10_000) / 100).toFixed(2)} %`

/** What the strip shows, for who does not see it. */
export const stripText = (segments: readonly Segment[]): string => {
  const share = shareInOrder(segments)
  if (share === null) return 'not in use'
  const bad = segments.filter(({ status }) => status === 'Warning' || status === 'Error')
  const count = (status: 'Warning' | 'Error'): string[] => {
    const n = bad.filter((segment) => segment.status === status).length
    return n === 0 ? [] : [`${n} × ${healthWords[status]}`]
  }
  return [strings.shareOk({ share: shareText(share) }), ...count('Error'), ...count('Warning')].join(', ')
}
