import { createMetrics } from '@portcullis/platform/server/metrics.ts'
import { startCapabilityApp } from '@portcullis/server/test/capability-app.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addLatestEvents } from '#features/agents/server/index.ts'
import { type EventHistogram, mostBars } from '#features/contract.ts'
import { bordersOf } from './histogram.read.ts'
import { type EventsApi, eventsFeature, type NewEvent } from './index.ts'
import type { DeviceText } from './new-event.ts'

let t: Awaited<ReturnType<typeof startCapabilityApp<EventsApi>>>
const begin = Date.parse('2031-05-04T10:11:12Z')

const event = (n: number): NewEvent => ({
  kind: n % 4 === 0 ? 'attackTool' : 'attached',
  agentId: null,
  entity: `host-${n % 3} (10.0.0.1)`,
  hashtags: '',
  details: `no ${n}` as DeviceText,
})

beforeAll(async () => {
  t = await startCapabilityApp((app, deps) =>
    eventsFeature(app, { ...deps, hosts: { addLatestEvents }, metrics: createMetrics() }),
  )
})
afterAll(() => t.close())

const get = async (path: string) => (await t.as('user')).get(`/prime/webui/events/${path}`)
const histogram = async (query = ''): Promise<EventHistogram> => {
  const answer = await get(`histogram?${query}`)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}
const total = ({ data }: EventHistogram) => data.reduce((sum, { count }) => sum + (count ?? 0), 0)

describe('the histogram of events', () => {
  it('is empty without events, and for a range that ends before it begins', async () => {
    expect(await histogram()).toMatchObject({ data: [] })
    for (let n = 0; n < 24; n++) {
      await t.db.transaction((tx) => t.capabilities.append(tx, [event(n)]))
      t.clock.advance(7 * 60_000)
    }
    expect((await histogram('fromDate=2031-05-05&toDate=2031-05-04')).data).toEqual([])
  })

  it('counts each event once, in the part whose range lists it, with the same filters', async () => {
    for (const filters of [
      '',
      'minimumSeverity=Critical',
      'globalSearch=no%201',
      'query=source:host-1%20AND%20NOT%20minimumSeverity:Critical',
      'fromDate=2031-05-04T10:30Z&toDate=2031-05-04T12:07Z&source=host-2',
    ]) {
      const bars = await histogram(filters)
      const others = filters
        .split('&')
        .filter((part) => !/^(from|to)Date=/.test(part))
        .join('&')
      const listed = (await get(`getevents?${filters}&PageSize=1`)).json().recordsFiltered
      expect([filters, total(bars)]).toEqual([filters, listed])
      for (const [index, { start, count }] of bars.data.entries()) {
        const end = Date.parse(bars.data[index + 1]?.start ?? bars.end)
        const range = `fromDate=${start}&toDate=${new Date(end - 60_000).toISOString().slice(0, 16)}Z`
        expect((await get(`getevents?${others}&${range}&PageSize=1`)).json().recordsFiltered).toBe(count)
      }
    }
  })

  it('refuses the parameters that the list refuses', async () => {
    for (const [query, field] of [
      ['fromDate=soon', 'query.fromDate'],
      ['category=Nonsense', 'query.category'],
      ['query=(', 'query.query'],
    ]) {
      const answer = await get(`histogram?${query}`)
      expect([answer.statusCode, answer.json().errors?.[0].field]).toEqual([400, field])
    }
  })
})

describe('the parts of a range', () => {
  it('are few, equal, and cover it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4e12 }), fc.integer({ min: 1, max: 2e12 }), (from, length) => {
        const to = from + length
        const { step, borders } = bordersOf(from, to)
        expect(borders.length - 1).toBeLessThanOrEqual(mostBars)
        expect(borders[0]).toBeLessThanOrEqual(from)
        expect(borders.at(-1)).toBeGreaterThanOrEqual(to)
        expect(borders.every((border, n) => border === borders[0]! + n * step && border % 60_000 === 0)).toBe(true)
      }),
    )
    expect(bordersOf(begin, begin + 3_600_000).step).toBe(120_000)
  })
})
