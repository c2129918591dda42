// Invariant: A part of the server that flaps counts as one health change, and so does a database outage.

import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp, type TestAppOptions } from '@portcullis/server/test/app.ts'
import { createDatabaseProxy } from '@portcullis/server/test/database-proxy.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type ConfigName,
  configGroups,
  type FleetEvent,
  type HealthChange,
  type Subsystem,
  type SubsystemName,
  subsystemNames,
} from '#features/contract.ts'

const admin = '/prime/webui/admin'
const apps: TestApp[] = []
const start = async (options: TestAppOptions = {}): Promise<TestApp> => {
  const t = await startTestApp(options)
  apps.push(t)
  return t
}
afterEach(async () => {
  for (const t of apps.splice(0).reverse()) await t.close()
})

const look = async (t: TestApp, times = 1): Promise<void> => {
  for (let i = 0; i < times; i++) {
    t.clock.advance(15_000)
    await t.health.watch()
  }
}
/** Changes thresholds, and waits until each server has applied them. */
const set = async (t: TestApp, items: Partial<Record<ConfigName<'health'>, string | null>>) => {
  const answer = await (await t.admin()).post('/prime/webui/generalconfig/AddOrUpdateHealthThresholds', items)
  expect(answer.statusCode, answer.body).toBe(200)
  for (const [name, value] of Object.entries(items) as [ConfigName<'health'>, string | null][])
    for (const app of apps)
      await expect
        .poll(() => app.thresholds(name.slice('VENDORA_HEALTH_'.length) as 'QUEUE_ERROR'))
        .toBe(Number(value ?? configGroups.health.items[name].default))
}
const changes = async (t: TestApp, subsystem: SubsystemName, query = ''): Promise<HealthChange[]> => {
  const answer = await (await t.admin()).get(
    `${admin}/healthhistory?subsystem=${encodeURIComponent(subsystem)}${query}`,
  )
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json().data
}
const part = async (t: TestApp, name: SubsystemName): Promise<Subsystem> =>
  ((await (await t.admin()).get(`${admin}/SubsystemHealth`)).json() as Subsystem[]).find(
    (one) => one.name === name,
  ) as Subsystem
/** Returns the events of a subsystem, oldest first. */
const eventsOf = async (t: TestApp, subsystem: string): Promise<FleetEvent[]> => {
  const answer = await (await t.admin()).get('/prime/webui/events/getevents?category=System&PageSize=500')
  return (answer.json().data as FleetEvent[]).filter(({ eventEntityID }) => eventEntityID === subsystem).reverse()
}
const full = { VENDORA_HEALTH_DISK_WARNING_GB: '1000000' }

describe('the history of health', () => {
  it('has a change and an event when a subsystem gets worse and when it recovers', async () => {
    const t = await start()
    await look(t, 2)
    expect(await changes(t, 'disk')).toEqual([])
    expect((await part(t, 'disk')).since).toBe('2031-05-04T10:11:27.000Z')
    await set(t, full)
    await look(t)
    expect(await changes(t, 'disk')).toEqual([])
    await look(t)
    const [worse] = await changes(t, 'disk')
    expect(worse).toMatchObject({
      status: 'Warning',
      previous: 'OK',
      at: '2031-05-04T10:11:57.000Z',
      notedAt: '2031-05-04T10:12:12.000Z',
      endedAt: null,
      description: expect.stringContaining('GB free'),
    })
    expect(await part(t, 'disk')).toMatchObject({
      status: 'Warning',
      since: worse?.at,
      whatToDo: expect.stringContaining('Free space'),
    })
    await set(t, { VENDORA_HEALTH_DISK_ERROR_GB: '1000000' })
    await look(t, 2)
    await set(t, { VENDORA_HEALTH_DISK_ERROR_GB: null, VENDORA_HEALTH_DISK_WARNING_GB: null })
    await look(t, 4)
    expect(
      (await changes(t, 'disk')).map(({ previous, status, endedAt }) => [previous, status, endedAt !== null]),
    ).toEqual([
      ['Error', 'OK', false],
      ['Warning', 'Error', true],
      ['OK', 'Warning', true],
    ])
    const found = await eventsOf(t, 'disk')
    expect(found.map(({ eventCode, severity, description }) => [eventCode, severity, description])).toEqual([
      ['0x130010', 4, 'Subsystem degraded'],
      ['0x130010', 3, 'Subsystem degraded'],
      ['0x130011', 5, 'Subsystem recovered'],
    ])
    expect(found[0]?.details).toBe(worse?.description)
  })

  it('is a list with filters, for everyone who may see health', async () => {
    const t = await start()
    await look(t)
    await set(t, full)
    await look(t, 2)
    const user = await person(t, { profile: 30 })
    const get = async (query: string) => (await user.api.get(`${admin}/healthhistory?${query}`)).json()
    expect((await get('subsystem=disk')).recordsFiltered).toBe(1)
    expect((await get('subsystem=mail')).recordsFiltered).toBe(0)
    expect((await get('subsystem=disk,mail&status=warning')).recordsFiltered).toBe(1)
    expect((await get('subsystem=disk&status=OK')).recordsFiltered).toBe(0)
    // Changes that overlap the time range.
    expect((await get('subsystem=disk&fromDate=2031-06-01')).recordsFiltered).toBe(1)
    expect((await get('subsystem=disk&toDate=2031-05-03')).recordsFiltered).toBe(0)
    expect((await get('globalsearch=gb free')).recordsFiltered).toBe(1)
    expect((await user.api.get(`${admin}/healthhistory?subsystem=nonsense`)).statusCode).toBe(400)
    expect((await t.as(undefined).get(`${admin}/healthhistory`)).statusCode).toBe(401)
    expect((await user.api.post('/prime/webui/generalconfig/AddOrUpdateHealthThresholds', full)).statusCode).toBe(403)
  })

  it('is kept for 90 days, and longer for current statuses', async () => {
    const t = await start()
    await look(t)
    await set(t, full)
    await look(t, 2)
    await set(t, { VENDORA_HEALTH_DISK_WARNING_GB: null })
    await look(t, 2)
    t.clock.advance(91 * 86_400_000)
    expect(await t.health.forget()).toBeGreaterThan(0)
    expect((await changes(t, 'disk')).map(({ status }) => status)).toEqual(['OK'])
  })

  it('is written by one replica, and by another one if that one is gone', async () => {
    const a = await start()
    const b = await start({ database: a.database, keyDir: a.keyDir, clock: a.clock })
    await look(a)
    await set(a, full)
    for (let i = 0; i < 4; i++) {
      await look(a)
      await b.health.watch()
    }
    expect(await changes(b, 'disk')).toHaveLength(1)
    expect((await part(b, 'disk')).since).toBe((await changes(b, 'disk'))[0]?.at)
    // A is killed, so its lease remains. B leads within a minute and probes twice.
    await set(a, { VENDORA_HEALTH_DISK_WARNING_GB: null })
    const gone = a.clock.now()
    while ((await changes(b, 'disk')).length < 2 && a.clock.now() - gone < 120_000) await look(b)
    const [newest] = await changes(b, 'disk')
    expect(newest).toMatchObject({ previous: 'Warning', status: 'OK' })
    expect(new Date(newest?.at as string).getTime() - gone).toBeLessThanOrEqual(60_000)
    expect(await eventsOf(b, 'disk')).toHaveLength(2)
    // A comes back, but B keeps the lead.
    await look(a)
    await b.health.watch()
    expect(await changes(a, 'disk')).toHaveLength(2)
  })

  it('records an outage of the database once, with its start, after it ends', async () => {
    const proxy = await createDatabaseProxy()
    const t = await start({ through: proxy.through })
    try {
      await look(t, 2)
      await t.admin()
      const before = await Promise.all(subsystemNames.map((name) => changes(t, name)))
      const began = t.clock.now()
      proxy.cut()
      for (let i = 0; i < 8; i++) {
        t.clock.advance(15_000)
        await t.health.watch().catch(() => {})
      }
      proxy.heal()
      await expect
        .poll(
          () =>
            t.db.query(sql`select 1`).then(
              () => true,
              () => false,
            ),
          { timeout: 10_000 },
        )
        .toBe(true)
      await look(t, 3)
      const [back, away] = await changes(t, 'database')
      expect(away).toMatchObject({ previous: 'OK', status: 'Error', description: 'The database does not answer.' })
      expect(new Date(away?.at as string).getTime()).toBe(began + 15_000)
      expect(new Date(away?.notedAt as string).getTime()).toBeGreaterThan(began + 8 * 15_000)
      expect(back).toMatchObject({ previous: 'Error', status: 'OK' })
      const found = await eventsOf(t, 'database')
      expect(found.map(({ eventCode }) => eventCode)).toEqual(['0x130010', '0x130011'])
      expect(found[0]?.details).toBe(`The database does not answer. Since ${away?.at}.`)
      // Subsystems that could not be probed during the outage have no history of it.
      for (const [i, name] of subsystemNames.entries())
        if (name !== 'database') expect([name, await changes(t, name)]).toEqual([name, before[i]])
    } finally {
      await proxy.close()
    }
  }, 60_000)
})

describe('two replicas', () => {
  it('record an outage of the database once', async () => {
    const proxy = await createDatabaseProxy()
    const a = await start({ through: proxy.through })
    const b = await start({ database: a.database, keyDir: a.keyDir, clock: a.clock, through: proxy.through })
    const both = async (times: number): Promise<void> => {
      for (let i = 0; i < times; i++) {
        a.clock.advance(15_000)
        for (const t of [a, b]) await t.health.watch().catch(() => {})
      }
    }
    try {
      await both(2)
      proxy.cut()
      await both(5)
      proxy.heal()
      for (const t of [a, b])
        await expect
          .poll(
            () =>
              t.db.query(sql`select 1`).then(
                () => true,
                () => false,
              ),
            { timeout: 10_000 },
          )
          .toBe(true)
      await both(4)
      expect((await changes(b, 'database')).map(({ status }) => status)).toEqual(['OK', 'Error'])
      expect((await eventsOf(a, 'database')).map(({ eventCode }) => eventCode)).toEqual(['0x130010', '0x130011'])
    } finally {
      await proxy.close()
    }
  }, 60_000)
})

describe('the job queue', () => {
  it('is degraded by a job that no process takes, and by a failed one', async () => {
    const t = await start()
    await t.jobs.beat()
    expect(await t.jobs.health()).toEqual({
      status: 'OK',
      description: '0 running, 0 waiting; 1 process takes jobs.',
    })
    await t.db.transaction((tx) => t.jobs.enqueue(tx, { userName: 'somebody' }, { kind: 'of no handler', title: 'X' }))
    t.clock.advance(59_000)
    expect((await t.jobs.health()).status).toBe('OK')
    t.clock.advance(2_000)
    await t.jobs.beat()
    expect(await t.jobs.health()).toEqual({
      status: 'Warning',
      description: 'A job has been due for 61 s, but no process takes it; 0 running, 1 waiting; 1 process takes jobs.',
    })
    t.clock.advance(600_000)
    expect(await t.jobs.health()).toEqual({
      status: 'Error',
      description:
        'A job has been due for 11 min, but no process takes it; 0 running, 1 waiting; 0 processes take jobs.',
    })
    await t.db.execute(sql`delete from jobs`)
    t.jobs.handle('failing', {
      run: async () => {
        throw new Error('no')
      },
    })
    await t.db.transaction((tx) => t.jobs.enqueue(tx, { userName: 'somebody' }, { kind: 'failing', title: 'Try it' }))
    await t.jobs.drain()
    expect(await t.jobs.health()).toMatchObject({
      status: 'Warning',
      description: expect.stringContaining('1 job failed in the last day, most recently: Try it.'),
    })
    t.clock.advance(25 * 3_600_000)
    expect((await t.jobs.health()).status).toBe('OK')
  })

  it('is OK while a job waits for another of its kind', async () => {
    const t = await start()
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    t.jobs.handle('slow', {
      run: async (job) => {
        await t.db.transaction((tx) => job.save(tx, {}))
        await held
        return 'done'
      },
    })
    const enqueue = () =>
      t.db.transaction((tx) => t.jobs.enqueue(tx, { userName: 'somebody' }, { kind: 'slow', title: 'Slow' }))
    await enqueue()
    await enqueue()
    const drained = t.jobs.drain()
    await expect.poll(async () => (await t.jobs.figures()).running).toBe(1)
    t.clock.advance(55_000)
    expect(await t.jobs.health()).toMatchObject({
      status: 'OK',
      description: expect.stringMatching(/^1 running, 1 waiting/),
    })
    release()
    await drained
  })
})
