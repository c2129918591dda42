import { randomUUID } from 'node:crypto'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { createMetrics } from '@portcullis/platform/server/metrics.ts'
import { startCapabilityApp } from '@portcullis/server/test/capability-app.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addLatestEvents } from '#features/agents/server/index.ts'
import type { FleetEvent } from '#features/contract.ts'
import { type EventsApi, eventsFeature, type NewEvent } from './index.ts'
import type { DeviceText } from './new-event.ts'

type App = Awaited<ReturnType<typeof startCapabilityApp<EventsApi>>>
let t: App
const agentId = randomUUID()

const kinds = ['attached', 'gone', 'attackTool', 'inventory'] as const
/** Stores twelve events, one a minute, of alternating kinds and hosts. */
const stored: NewEvent[] = Array.from({ length: 12 }, (_, i) => ({
  kind: kinds[i % 4] as 'attached',
  agentId: i % 2 === 0 ? agentId : null,
  entity: i % 2 === 0 ? 'ÄPFEL-1 (10.0.0.1)' : 'host_2 (10.0.0.2)',
  hashtags: 'blue,red',
  ...(i % 4 === 3 ? {} : { icon: 1 + (i % 3) }),
  details: (i === 5 ? 'SN 100%_x' : `no ${i}`) as DeviceText,
  // The host of the third event was offline for two days.
  ...(i === 2 ? { occurred: { at: Date.parse('2031-05-02T08:00Z'), uncertaintyMs: 1_000 } } : {}),
}))

beforeAll(async () => {
  t = await startCapabilityApp((app, deps) =>
    eventsFeature(app, { ...deps, hosts: { addLatestEvents }, metrics: createMetrics() }),
  )
  await t.db.execute(
    sql`insert into agents (agent_id, host, address, enrolled_at, facts) values (${agentId}, 'h', 'a', now(), '{}')`,
  )
  for (const event of stored) {
    await t.db.transaction((tx) => t.capabilities.append(tx, [event]))
    t.clock.advance(60_000)
  }
})
afterAll(() => t.close())

interface Page {
  recordsTotal: number
  recordsFiltered: number
  data: FleetEvent[]
}
const read = async (url: string): Promise<Page> => {
  const answer = await t.as('user').get(`/prime/webui/events/${url}`)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}
const ids = (page: Page) => page.data.map((e) => e.eventID)
const newestFirst = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, i) => from - i)

describe('GET events/getevents', () => {
  it('returns every fixed key, newest first', async () => {
    const page = await read('getevents?PageSize=1')
    expect(page).toEqual({
      recordsTotal: 12,
      recordsFiltered: 12,
      data: [
        {
          eventID: 12,
          category: 'Agent',
          creationTime: '2031-05-04T10:22:12.000',
          occurredAt: '2031-05-04T10:22:12.000',
          occurredUncertaintyMs: null,
          eventCode: '0x120001',
          severity: 5,
          severityString: 'Notice',
          eventEntityID: 'host_2 (10.0.0.2)',
          description: 'Inventory received',
          hashtags: 'blue,red',
          peripheralIcon: '-1',
          details: 'no 11',
        },
      ],
    })
    expect(ids(await read('getevents'))).toEqual(newestFirst(12, 1))
  })

  it.each([
    ['category=agent', [12, 8, 4]],
    ['category=USB,Agent', newestFirst(12, 1)],
    ['minimumSeverity=critical', [11, 7, 3]],
    ['minimumSeverity=4', [11, 7, 3]],
    ['minimumSeverity=5', newestFirst(12, 1)],
    ['source=%C3%A4pfel', [11, 9, 7, 5, 3, 1]],
    ['source=t_2', [12, 10, 8, 6, 4, 2]],
    ['peripheralIcon=2,3', [11, 9, 6, 5, 3, 2]],
    ['peripheralIcon=-1', [12, 8, 4]],
    ['globalSearch=0%25_', [6]],
    ['globalSearch=no%201', [12, 11, 2]],
    ['fromDate=2031-05-04T10:20:12Z', [12, 11, 10]],
    ['toDate=2031-05-04T10:12', [2, 1]],
    ['toDate=2031-05-04T10:12:11', [1]],
    ['fromDate=2031-05-05', []],
    ['fromDate=05/04/2031&toDate=2031-05-04&category=Agent&minimumSeverity=Debug', [12, 8, 4]],
    ['occurredTo=2031-05-03', [3]],
    ['occurredFrom=2031-05-02T08:00&occurredTo=2031-05-02T08:00', [3]],
    ['occurredFrom=2031-05-03', [...newestFirst(12, 4), 2, 1]],
    ['occurredFrom=2031-05-02&toDate=2031-05-03', []],
    ['occurredTo=2031-05-04T10:12&fromDate=2031-05-04T10:12', [3, 2]],
    ['SortBy=occurredAt_asc&PageSize=3', [3, 1, 2]],
    ['SortBy=creationTime_asc&PageSize=3', [1, 2, 3]],
    ['SortBy=eventID_asc&PageSize=3', [1, 2, 3]],
    ['SortBy=date_desc&PageSize=3', [12, 11, 10]],
    ['SortBy=-source&PageSize=1', [11]],
    ['sortby=eventID&pagesize=5&pageNumber=3', [11, 12]],
    ['PageNumber=99', []],
    ['fromEventId=4&PageSize=3', [6, 5, 4]],
    ['fromEventId=4&PageSize=3&SortBy=source_asc', [6, 5, 4]],
    ['fromEventId=4&PageSize=3&PageNumber=2', [9, 8, 7]],
    ['fromEventId=13', []],
  ])('selects rows by %s', async (query, expected) => {
    const page = await read(`getevents?${query}`)
    expect(ids(page)).toEqual(expected)
    expect(page.recordsTotal).toBe(12)
    if (!/PageSize|PageNumber/i.test(query)) expect(page.recordsFiltered).toBe(expected.length)
  })

  it.each([
    ['SortBy=date_asc&PageSize=3', [3, 2, 1]],
    ['sortby=DATE_ASC&PageSize=3&PageNumber=2', [6, 5, 4]],
    ['SortBy=date_asc&PageSize=3&category=Agent', [12, 8, 4]],
    ['SortBy=date_asc&PageSize=2&fromDate=2031-05-04T10:20:12Z', [11, 10]],
    ['SortBy=date_asc&PageSize=3&fromEventId=4', [6, 5, 4]],
  ])('answers the oldest rows, newest first, in the poll order: %s', async (query, expected) => {
    expect(ids(await read(`getevents?${query}`))).toEqual(expected)
  })

  it('returns every event once to a client that polls with SortBy=date_asc', async () => {
    const seen: number[] = []
    for (let next = ''; ; ) {
      const page = await read(`getevents?SortBy=date_asc&PageSize=5${next}`)
      if (page.data.length === 0) break
      seen.push(...ids(page).reverse())
      next = `&fromEventId=${(page.data[0]?.eventID ?? 0) + 1}`
    }
    expect(seen).toEqual(newestFirst(12, 1).reverse())
  })

  it.each([
    ['category=Usb2', 'query.category'],
    ['minimumSeverity=loud', 'query.minimumSeverity'],
    ['fromDate=yesterday', 'query.fromDate'],
    ['occurredFrom=yesterday', 'query.occurredFrom'],
    ['occurredTo=1', 'query.occurredTo'],
    ['fromEventId=-1', 'query.fromEventId'],
    ['SortBy=agent_id', 'query.SortBy'],
    ['SortBy=minimumSeverity', 'query.SortBy'],
    ['peripheralIcon=x', 'query.peripheralIcon'],
    ['PageNumber=0', 'query.PageNumber'],
    ['severity=4', 'query.severity'],
  ])('refuses %s', async (query, field) => {
    const answer = await t.as('user').get(`/prime/webui/events/getevents?${query}`)
    expect([answer.statusCode, answer.json().errors[0].field]).toEqual([400, field])
  })

  it('requires a signed-in caller', async () => {
    expect((await t.as(null).get('/prime/webui/events/getevents')).statusCode).toBe(401)
  })

  it('streams large pages with the same content as small ones', async () => {
    const before = await read('getevents')
    const events = Array.from(
      { length: 3_000 },
      (_, i): NewEvent => ({
        kind: 'gone',
        agentId: null,
        entity: 'BULK (10.0.0.3)',
        hashtags: '',
        details: `a "quoted", ${i}\n line` as DeviceText,
      }),
    )
    await t.db.transaction((tx) => t.capabilities.append(tx, events))
    const page = await read('getevents?PageSize=1000000&source=bulk')
    expect([page.recordsTotal, page.recordsFiltered, page.data.length]).toEqual([3_012, 3_000, 3_000])
    expect(page.data[0]?.details).toBe('a "quoted", 2999\n line')
    const fromStart = await read('GetEventsIntegration?PageSize=1000000&FromEventId=2')
    expect(ids(fromStart)).toEqual(newestFirst(3_012, 2))
    expect((await read('getevents?PageSize=50&PageNumber=61')).data.slice(-12)).toEqual(before.data)
  })
})

describe('GET events/GetEventsIntegration', () => {
  it('answers the newest rows without a start, the oldest from a start, newest first in both', async () => {
    expect(ids(await read('GetEventsIntegration?PageSize=2&ToDate=2031-05-04T10:13'))).toEqual([3, 2])
    expect(ids(await read('GetEventsIntegration?PageSize=2&FromDate=2031-05-04T10:13:12'))).toEqual([4, 3])
    expect(ids(await read('GetEventsIntegration?PageSize=2&FromEventId=7&MinimumSeverity=Critical'))).toEqual([11, 7])
  })

  it('ignores PageNumber, which clients send with every list', async () => {
    expect(ids(await read('GetEventsIntegration?PageSize=2&FromEventId=4&PageNumber=1'))).toEqual([5, 4])
    expect(ids(await read('GetEventsIntegration?PageSize=2&FromEventId=4&PageNumber=3'))).toEqual([5, 4])
  })

  it('lets a polling client read everything once, whatever its page size', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 700 }), fc.constantFrom('Notice', 'Warning'), async (size, least) => {
        const seen: number[] = []
        for (let next = 2_000; ; ) {
          const page = await read(`GetEventsIntegration?PageSize=${size}&FromEventId=${next}&MinimumSeverity=${least}`)
          if (page.data.length === 0) break
          seen.push(...ids(page).reverse())
          next = (page.data[0]?.eventID ?? 0) + 1
        }
        expect(seen).toEqual(least === 'Notice' ? newestFirst(3_012, 2_000).reverse() : [])
      }),
      { numRuns: 10 },
    )
  })
})

describe('recentOf', () => {
  it('returns the newest events of one agent', async () => {
    expect((await t.capabilities.recentOf(agentId, 2)).map((e) => e.eventID)).toEqual([11, 9])
  })
})
