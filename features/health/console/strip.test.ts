import { describe, expect, it } from 'vitest'
import type { HealthChange, HealthStatus } from '#features/contract.ts'
import { segmentsOf, shareInOrder, shareText, stripText } from './strip.ts'

const hour = 3_600_000
const at = (hours: number) => new Date(hours * hour).toISOString()
const change = (
  id: number,
  from: number,
  to: number | null,
  previous: HealthStatus,
  status: HealthStatus,
): HealthChange => ({
  id,
  subsystem: 'disk',
  status,
  previous,
  at: at(from),
  notedAt: at(from),
  endedAt: to === null ? null : at(to),
  description: `change ${id}`,
})
const now = (status: HealthStatus, since: number | null) => ({
  status,
  since: since === null ? null : at(since),
  description: 'now',
})
const shown = (...args: Parameters<typeof segmentsOf>) =>
  segmentsOf(...args).map(({ status, from, to }) => [status, from / hour, to / hour])

describe('segmentsOf', () => {
  it('returns the current state if nothing changed', () => {
    expect(shown([], now('OK', 2), 10 * hour, 20 * hour)).toEqual([['OK', 10, 20]])
    expect(shown([], now('OK', 15), 10 * hour, 20 * hour)).toEqual([
      [null, 10, 15],
      ['OK', 15, 20],
    ])
    // The history contradicts the last check, which is too recent to appear in it.
    expect(shown([], now('Error', null), 10 * hour, 20 * hour)).toEqual([[null, 10, 20]])
  })

  it('follows the changes in any order, starting with the previous state', () => {
    const changes = [
      change(3, 18, null, 'Error', 'OK'),
      change(1, 5, 12, 'OK', 'Warning'),
      change(2, 12, 18, 'Warning', 'Error'),
    ]
    expect(shown(changes, now('OK', 18), 10 * hour, 20 * hour)).toEqual([
      ['Warning', 10, 12],
      ['Error', 12, 18],
      ['OK', 18, 20],
    ])
    expect(shown(changes.slice(0, 1), now('OK', 18), 10 * hour, 20 * hour)).toEqual([
      ['Error', 10, 18],
      ['OK', 18, 20],
    ])
  })

  it('is described as text', () => {
    const segments = segmentsOf(
      [change(1, 12, 13, 'OK', 'Error'), change(2, 13, null, 'Error', 'OK')],
      now('OK', 13),
      10 * hour,
      20 * hour,
    )
    expect(shareInOrder(segments)).toBeCloseTo(0.9)
    expect(stripText(segments)).toBe('90.00 % OK, 1 × Error')
    expect(stripText(segmentsOf([], now('Unknown', 1), 10 * hour, 20 * hour))).toBe('not in use')
    expect([shareText(1), shareText(0.99999), shareText(0)]).toEqual(['100 %', '99.99 %', '0.00 %'])
  })
})
