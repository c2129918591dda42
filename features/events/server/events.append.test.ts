import { randomUUID } from 'node:crypto'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { createMetrics } from '@portcullis/platform/server/metrics.ts'
import { contextOf } from '@portcullis/server/test/capability-app.ts'
import { cloneDatabase, createFakeClock } from '@portcullis/server/test/database.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addLatestEvents } from '#features/agents/server/index.ts'
import { createEventsService } from './events.service.ts'
import { deviceDetails, type NewEvent } from './new-event.ts'

let t: Awaited<ReturnType<typeof cloneDatabase>>
let events: ReturnType<typeof createEventsService>
const clock = createFakeClock()

beforeAll(async () => {
  t = await cloneDatabase()
  events = createEventsService(
    contextOf({ db: t.db, clock, log: t.log, hosts: { addLatestEvents }, metrics: createMetrics() }),
  )
})
afterAll(() => t.close())

const event = (details: string, agentId: string | null = null): NewEvent => ({
  kind: 'enrolled',
  agentId,
  entity: 'HOST-1 (10.0.0.1)',
  hashtags: '',
  icon: 1,
  details,
})

const agent = async (): Promise<string> => {
  const id = randomUUID()
  await t.db.execute(
    sql`insert into agents (agent_id, host, address, enrolled_at, facts) values (${id}, 'h', 'a', now(), '{}')`,
  )
  return id
}

describe('append', () => {
  it('numbers events in order without gaps, also with several writers and a failed one', async () => {
    const write = (n: number) =>
      t.db.transaction((tx) =>
        events.append(
          tx,
          Array.from({ length: n }, (_, i) => event(`${n}/${i}`)),
        ),
      )
    const failed = t.db.transaction(async (tx) => {
      await events.append(tx, [event('lost')])
      throw new Error('on purpose')
    })
    const ids = (await Promise.all([write(3), write(1), failed.catch(() => []), write(5), write(2)])).flat()
    expect(ids.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    const rows = await t.db.query<{ event_id: number; details: string }>(
      sql`select event_id, details from events order by event_id`,
    )
    expect(rows.map((r) => r.event_id)).toEqual(ids.toSorted((a, b) => a - b))
    expect(rows.filter((r) => r.details.startsWith('5/')).map((r) => r.details)).toEqual(
      [0, 1, 2, 3, 4].map((i) => `5/${i}`),
    )
  })

  it('keeps the three newest texts of each agent', async () => {
    const [a, b] = [await agent(), await agent()]
    await t.db.transaction((tx) => events.append(tx, [event('one', a), event('two', a), event('other', b)]))
    clock.advance(1000)
    await t.db.transaction((tx) => events.append(tx, [event('three', a), event('four', a)]))
    const rows = await t.db.query<{ agent_id: string; latest_events: string[] }>(
      sql`select agent_id, latest_events from agents where agent_id = any(${[a, b]}::uuid[])`,
    )
    const of = (id: string) => rows.find((r) => r.agent_id === id)?.latest_events
    expect(of(a)).toEqual([
      '2031-05-04 10:11:13 Agent enrolled: four',
      '2031-05-04 10:11:13 Agent enrolled: three',
      '2031-05-04 10:11:12 Agent enrolled: two',
    ])
    expect(of(b)).toEqual(['2031-05-04 10:11:12 Agent enrolled: other'])
  })

  it('stores hostile text, and replaces what PostgreSQL cannot store', async () => {
    const [id] = await t.db.transaction((tx) => events.append(tx, [event('a\u0000b\ud800')]))
    const rows = await t.db.query<{ details: string }>(sql`select details from events where event_id = ${id}`)
    expect(rows[0]?.details).toBe('a\ufffdb\ufffd')
  })

  it('never lacks a partition, however far the stream jumps', async () => {
    await t.db.execute(sql`update ordered_head set n = 24999998 where stream = 'events'`)
    const fresh = createEventsService(
      contextOf({ db: t.db, clock, log: t.log, hosts: { addLatestEvents }, metrics: createMetrics() }),
    )
    const ids = await t.db.transaction((tx) => fresh.append(tx, [event('a'), event('b'), event('c')]))
    expect(ids).toEqual([24_999_999, 25_000_000, 25_000_001])
    await fresh.ensureAhead()
    const [next] = await t.db.query<{ there: boolean }>(sql`select to_regclass('events_6') is not null as there`)
    expect(next?.there).toBe(true)
    // A partition that is created separately and attached has each index of the parent once.
    const indexes = await t.db.query<{ table: string; n: number }>(sql`
      select tablename as table, count(*) as n from pg_indexes where tablename in ('events', 'events_0', 'events_6') group by 1`)
    expect(new Set(indexes.map((row) => row.n)).size).toBe(1)
    expect(indexes.length).toBe(3)
  })
})

describe('deviceDetails', () => {
  const device = { vulnerable: false, vid: '046d', pid: 'c52b', serial: '', vendor: 'Logitech', product: 'Receiver' }
  it('returns the text that clients match on', () => {
    expect(deviceDetails(device)).toBe('[Agent] Device VID/PID are 046D/C52B  (Logitech Receiver)')
    expect(deviceDetails({ ...device, vulnerable: true, serial: 'A1' })).toBe(
      '[Agent] Vulnerable Device VID/PID are 046D/C52B SN A1  (Logitech Receiver)',
    )
    expect(deviceDetails({ ...device, product: '' })).toBe('[Agent] Device VID/PID are 046D/C52B  (Logitech)')
  })
})
