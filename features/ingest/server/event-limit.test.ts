import { storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { attachmentKinds, eventCatalogue, type FleetEvent } from '#features/contract.ts'

let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const hourMs = 3_600_000
const hourOf = (at: number): number => at - (at % hourMs)
const mostEvents = 500
const mostIdentities = 200
const { gone, eventsMerged } = eventCatalogue
const arrivals = attachmentKinds.map((kind) => eventCatalogue[kind])

const stick = (serial: number) => storageStick({ portPath: '1-4', serial: `S${serial}` })

/** Sends attachments and removals of sticks with these serial numbers, in check-ins of 1,000 changes at most. */
const flap = async (agent: TestAgent, serials: readonly number[]): Promise<void> => {
  const changes = serials.flatMap((serial) => [
    { op: 'attached' as const, at: t.clock.now(), device: stick(serial) },
    { op: 'removed' as const, at: t.clock.now(), portPath: '1-4' },
  ])
  for (let i = 0; i < changes.length; i += 1_000) {
    // Time in which the quota of the agent refills.
    t.clock.advance(20_000)
    await agent.checkIn({ clock: t.clock.now(), changes: changes.slice(i, i + 1_000) })
  }
}

/** Ends the hour and stores its summaries. */
const nextHour = async (agent: TestAgent): Promise<void> => {
  t.clock.advance(hourMs + 60_000)
  await agent.session()
  await t.server.events.summarise()
}

const ofDevices = (events: readonly FleetEvent[]) =>
  events.filter(({ eventCode }) => [...arrivals, gone, eventsMerged].some(({ code }) => code === eventCode))
const serialOf = ({ details }: FleetEvent): string => / SN (S\d+) /.exec(details)?.[1] ?? 'several'
/** Returns how often a kind of event happened to each device, from single events and summaries. */
const countsOf = (
  events: readonly FleetEvent[],
  kinds: readonly { code: string; name: string }[],
): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const event of events) {
    const times = /^(.*?): ([\d,]+) more times? between /.exec(event.details)
    const isKind = kinds.some(
      ({ code, name }) => event.eventCode === code || (event.eventCode === eventsMerged.code && times?.[1] === name),
    )
    const n = times === null ? 1 : Number(times[2]?.replaceAll(',', ''))
    if (isKind) counts[serialOf(event)] = (counts[serialOf(event)] ?? 0) + n
  }
  return counts
}

it('a device that returns 3,000 times raises a limited number of events, and a summary counts the others', async () => {
  const [agent, other] = [await enrolAgent(t), await enrolAgent(t)]
  await flap(
    agent,
    Array.from({ length: 3_000 }, () => 1),
  )
  await flap(agent, [2])
  const beforeSummary = ofDevices(await agent.events())
  // Without enrolment and inventory. Of both kinds: the first event of either device beyond the limit.
  expect(beforeSummary.length).toBe(mostEvents - 2 + 4)
  expect(countsOf(beforeSummary, arrivals).S2).toBe(1)
  await flap(other, [1])
  expect(ofDevices(await other.events())).toHaveLength(2)

  await nextHour(agent)
  const events = ofDevices(await agent.events())
  expect([countsOf(events, arrivals), countsOf(events, [gone])]).toEqual([
    { S1: 3_000, S2: 1 },
    { S1: 3_000, S2: 1 },
  ])
  const summaries = events.filter(({ eventCode }) => eventCode === eventsMerged.code)
  expect(summaries.map(({ description, severityString, details }) => [description, severityString, details])).toEqual([
    [
      'Repeated events of a host were merged',
      'Notice',
      expect.stringMatching(/^USB peripheral disconnected: 2,7\d\d more times/),
    ],
    [
      'Repeated events of a host were merged',
      'Notice',
      expect.stringMatching(
        `^USB peripheral attached again: 2,7\\d\\d more times between [\\dT:-]{19}Z and [\\dT:-]{19}Z: \\[Agent\\] Device VID/PID are 0781/5581 SN S1 `,
      ),
    ],
  ])
  const metrics = await (await fetch(`${t.address}/metrics`)).text()
  expect(metrics).toMatch(/^portcullis_events_merged_total 5\d{3}$/m)

  // The next hour has its own limit, and a summary is stored once.
  await flap(agent, [1])
  await t.server.events.summarise()
  expect(ofDevices(await agent.events())).toHaveLength(events.length + 2)
})

it('loses no event of any kind, whatever a host sends', async () => {
  const burst = fc.record({
    times: fc.integer({ min: 1, max: 700 }),
    serials: fc.integer({ min: 1, max: 500 }),
    isNextHour: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(burst, { minLength: 1, maxLength: 4 }), async (bursts) => {
      const agent = await enrolAgent(t)
      const seen = new Set<string>()
      let total = 0
      const start = hourOf(t.clock.now())
      for (const { times, serials, isNextHour } of bursts) {
        const sent = Array.from({ length: times }, (_, i) => i % serials)
        for (const serial of sent) seen.add(`S${serial}`)
        total += times
        await flap(agent, sent)
        if (isNextHour) await nextHour(agent)
      }
      await nextHour(agent)
      const hours = (hourOf(t.clock.now()) - start) / hourMs
      const events = ofDevices(await agent.events())
      for (const kinds of [arrivals, [gone]]) {
        const counts = countsOf(events, kinds)
        expect(Object.values(counts).reduce((sum, n) => sum + n, 0)).toBe(total)
        expect(Object.keys(counts).every((serial) => serial === 'several' || seen.has(serial))).toBe(true)
      }
      // Single events, first events of identities, and summaries of four kinds.
      expect(events.length).toBeLessThanOrEqual(hours * (mostEvents + 4 * (2 * mostIdentities + 1)))
      // Only more identities than the limit may lack an event of their own.
      const single = events.filter(({ eventCode }) => arrivals.some(({ code }) => code === eventCode))
      const withoutEvent = [...seen].filter((serial) => !single.some((event) => serialOf(event) === serial))
      if (seen.size <= mostIdentities) expect(withoutEvent).toEqual([])
    }),
    { numRuns: 5 },
  )
})

it('a report that was rolled back takes no identity its first event', async () => {
  const agent = await enrolAgent(t)
  await flap(
    agent,
    Array.from({ length: 300 }, () => 1),
  )
  await t.db.execute(sql`alter table events add constraint fails check (details not like '% SN S9999 %')`)
  await expect(flap(agent, [9_999])).rejects.toThrow()
  await t.db.execute(sql`alter table events drop constraint fails`)
  await flap(agent, [9_999])
  expect(countsOf(await agent.events(), arrivals).S9999).toBe(1)
})
