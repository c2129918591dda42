import { describe, expect, it } from 'vitest'
import { type Licence, licenceStateAt } from '../src/index.ts'

const licence = (more: Partial<Licence> = {}): Licence => ({
  product: 'portcullis',
  accountId: 'A-1',
  accountName: 'Example Works',
  agents: null,
  expires: '2031-03-31',
  graceDays: 14,
  features: [],
  issued: '2030-03-31',
  ...more,
})
const at = (text: string, more: Partial<Licence> = {}) => licenceStateAt(licence(more), Date.parse(text))

describe('a licence', () => {
  it.each([
    ['thirty days before', '2031-03-01T12:00:00.000Z', 'Activated', 30],
    ['in the first instant of its last day', '2031-03-31T00:00:00.000Z', 'Activated', 0],
    ['in the last instant of its last day', '2031-03-31T23:59:59.999Z', 'Activated', 0],
    ['in the first instant after its last day', '2031-04-01T00:00:00.000Z', 'Grace', 0],
    ['one day later', '2031-04-02T00:00:00.000Z', 'Grace', -1],
    ['in the last instant of its grace period', '2031-04-14T23:59:59.999Z', 'Grace', -14],
    ['in the first instant after its grace period', '2031-04-15T00:00:00.000Z', 'Expired', -14],
    ['a year later', '2032-03-31T00:00:00.000Z', 'Expired', -365],
  ])('is, %s (%s): %s, with %d days left', (_when, now, state, daysLeft) => {
    expect(at(now)).toEqual({ state, daysLeft })
  })

  it('expires right after its last day if it has no grace period', () => {
    expect(at('2031-03-31T23:59:59.999Z', { graceDays: 0 }).state).toBe('Activated')
    expect(at('2031-04-01T00:00:00.000Z', { graceDays: 0 }).state).toBe('Expired')
  })

  it('expires a day later if it has one day of grace', () => {
    expect(at('2031-04-01T23:59:59.999Z', { graceDays: 1 }).state).toBe('Grace')
    expect(at('2031-04-02T00:00:00.000Z', { graceDays: 1 }).state).toBe('Expired')
  })

  it('does not expire if it has no last day', () => {
    expect(at('2999-01-01T00:00:00.000Z', { expires: null, graceDays: 0 })).toEqual({
      state: 'Activated',
      daysLeft: null,
    })
  })
})
