import type { HealthChange, HealthStatus, Subsystem } from '#features/contract.ts'
import { healthWords } from './shared/health-labels.ts'
import { strings } from './strings.ts'

/** A time in which a part had one state; null if it was not checked. */
export interface Segment {
  status: HealthStatus | null
  /** Milliseconds since 1970. */
  from: number
  to: number
  description: string
}

/**
 * Returns the states of a part from a time until now: from the changes in that time, in any order, and the current
 * state.
 */
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
  const changed = rising.map(({ status, at, endedAt, description }) => ({
    status,
    from: Date.parse(at),
    to: endedAt === null ? now : Date.parse(endedAt),
    description,
  }))
  return [...before, ...changed]
    .map((segment) => ({ ...segment, from: Math.max(from, segment.from), to: Math.min(now, segment.to) }))
    .filter((segment) => segment.to > segment.from)
}

/** Returns the share of the checked time in which a part was OK; null if it was not in use. */
export const shareInOrder = (segments: readonly Segment[]): number | null => {
  const sum = (statuses: readonly (HealthStatus | null)[]): number =>
    segments.filter(({ status }) => statuses.includes(status)).reduce((all, { from, to }) => all + to - from, 0)
  const checked = sum(['OK', 'Warning', 'Error'])
  return checked === 0 ? null : sum(['OK']) / checked
}

/** Returns `99.98 %`, and 100 only if the part was always OK. */
export const shareText = (share: number): string =>
  share === 1 ? '100 %' : `${(Math.floor(share * 10_000) / 100).toFixed(2)} %`

/** Describes a strip for people who do not see it. */
export const stripText = (segments: readonly Segment[]): string => {
  const share = shareInOrder(segments)
  if (share === null) return strings.notInUse
  const bad = segments.filter(({ status }) => status === 'Warning' || status === 'Error')
  const count = (status: 'Warning' | 'Error'): string[] => {
    const n = bad.filter((segment) => segment.status === status).length
    return n === 0 ? [] : [`${n} × ${healthWords[status]}`]
  }
  return [strings.shareOk({ share: shareText(share) }), ...count('Error'), ...count('Warning')].join(', ')
}
