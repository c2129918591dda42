import { plainKeyboard, plainMouse, rubberDucky, storageStick, unifyingReceiver1207 } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, enrolmentToken } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DeviceReport, UncommonPeripheral, VulnerablePeripheral } from '#features/contract.ts'

interface Insight<T> {
  computedAt: string
  population: number
  insufficientPopulation: boolean
  recordsTotal: number
  data: T[]
}

let t: TestApp
let hosts = 0

/** Enrols hosts with a keyboard each, and optional further devices. */
const enrolMany = async (count: number, more: (index: number) => DeviceReport[] = () => []) => {
  const token = await enrolmentToken(t)
  const agents = []
  for (let i = 0; i < count; i++)
    agents.push(
      await enrolAgent(t, {
        token,
        facts: { hostname: `host-${String(++hosts).padStart(3, '0')}` },
        devices: [plainKeyboard({ portPath: '1-1' }), ...more(i)],
      }),
    )
  return agents
}

const insight = async <T>(path: string): Promise<Insight<T>> => {
  const answer = await (await t.admin()).get(`/prime/webui/agents/RiskInsights/${path}`)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}
const uncommon = () => insight<UncommonPeripheral>('UncommonPeripherals/Reload')
const vulnerable = () => insight<VulnerablePeripheral>('VulnerablePeripherals/Reload')
const setItem = (name: string, value: string) =>
  t.server.db.execute(sql`
    insert into config_items (name, value) values (${name}, ${value}) on conflict (name) do update set value = excluded.value`)

describe('uncommon peripherals', () => {
  beforeAll(async () => {
    t = await startTestApp({ listen: true })
    hosts = 0
  })
  afterAll(() => t.close())

  it('need a minimum population, and the response says so', async () => {
    await enrolMany(18)
    await enrolMany(1, () => [storageStick({ portPath: '1-2' })])
    expect(await uncommon()).toMatchObject({ population: 19, insufficientPopulation: true, recordsTotal: 0, data: [] })
    await enrolMany(1)
    const answer = await uncommon()
    expect(answer).toMatchObject({ population: 20, insufficientPopulation: false, recordsTotal: 1 })
    expect(answer.data).toEqual([
      {
        vid: '0781',
        pid: '5581',
        guiVid: 'SanDisk Corp.',
        guiPid: 'Ultra',
        devIcon: 3,
        devIconDescription: 'Mass Storage',
        agentsCount: 1,
        share: 0.05,
        firstSeen: '2031-05-04T10:11:12.000Z',
        lastSeen: '2031-05-04T10:11:12.000Z',
        agents: [expect.objectContaining({ hostIdentifier: 'host-019', localIpAddress: '10.1.2.3' })],
        interfaces: '08:06:50',
        peripheralsCount: 1,
        isKnownAttackTool: false,
      },
    ])
  })

  it('lists attack tools before rarer devices', async () => {
    await setItem('VENDORA_UNCOMMON_MAX_SHARE', '0.1')
    const duck = rubberDucky({ portPath: '1-9' })
    const tools = await enrolMany(2, () => [duck])
    const { data } = await uncommon()
    expect(data.map((row) => [row.isKnownAttackTool, row.agentsCount])).toEqual([
      [true, 2],
      [false, 1],
    ])
    for (const agent of tools) await agent.unplug('1-9')
    await setItem('VENDORA_UNCOMMON_MAX_SHARE', '0.01')
  })

  it('lists a rare set of interfaces of a common model until its device is detached', async () => {
    const odd = plainKeyboard({ portPath: '1-3', interfaces: ['03:01:01', '08:06:50'] })
    const [agent] = await enrolMany(1, () => [odd])
    const shapes = async () => (await uncommon()).data.map((row) => [row.vid, row.interfaces])
    expect(await shapes()).toContainEqual(['413C', '03:01:01 08:06:50'])
    await agent?.unplug('1-3')
    expect(await shapes()).not.toContainEqual(['413C', '03:01:01 08:06:50'])
  })

  it('are on at most one percent of the hosts and at most three of them, as configured', async () => {
    await enrolMany(2, () => [plainMouse({ portPath: '1-4' })])
    const counts = async () => (await uncommon()).data.map((row) => [row.vid, row.agentsCount])
    expect(await counts()).toEqual([['0781', 1]])
    await setItem('VENDORA_UNCOMMON_MAX_SHARE', '0.1')
    expect(await counts()).toEqual([
      ['0781', 1],
      ['046D', 2],
    ])
    await setItem('VENDORA_UNCOMMON_MAX_HOSTS', '1')
    expect(await counts()).toEqual([['0781', 1]])
    await setItem('VENDORA_UNCOMMON_MIN_POPULATION', '100')
    expect(await uncommon()).toMatchObject({ insufficientPopulation: true, data: [] })
    // Invalid values count as not set.
    await setItem('VENDORA_UNCOMMON_MIN_POPULATION', 'many')
    expect(await uncommon()).toMatchObject({ insufficientPopulation: false })
    await t.server.db.execute(sql`delete from config_items`)
  })

  it('count hosts seen in the last 30 days', async () => {
    const before = (await uncommon()).population
    t.clock.advance(31 * 86_400_000)
    expect(await uncommon()).toMatchObject({ population: 0, insufficientPopulation: true })
    await enrolMany(20)
    const answer = await uncommon()
    expect(answer.population).toBe(20)
    // The stick and the mice are on hosts that were not seen for a month.
    expect(answer.data).toEqual([])
    expect(before).toBeGreaterThan(20)
  })

  it('caches an answer for a second, and a reload recomputes it', async () => {
    await enrolMany(1, () => [storageStick({ portPath: '1-2', pid: '5583' })])
    const path = 'UncommonPeripherals'
    const first = await uncommon()
    await enrolMany(1, () => [storageStick({ portPath: '1-2', pid: '5590' })])
    expect(await insight(path)).toEqual(first)
    expect((await uncommon()).recordsTotal).toBe(first.recordsTotal + 1)
    await enrolMany(1, () => [storageStick({ portPath: '1-2', pid: '5591' })])
    t.clock.advance(1_000)
    expect((await insight(path)).recordsTotal).toBe(first.recordsTotal + 2)
  })

  it('reloads once for simultaneous requests, with any profile', async () => {
    const { api } = await person(t, { profile: 30 })
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => api.get('/prime/webui/agents/RiskInsights/UncommonPeripherals/Reload')),
    )
    expect(answers.map((a) => a.statusCode)).toEqual(Array(10).fill(200))
    expect((await t.as(undefined).get('/prime/webui/agents/RiskInsights/UncommonPeripherals/Reload')).statusCode).toBe(
      401,
    )
  })
})

describe('vulnerable peripherals', () => {
  beforeAll(async () => {
    t = await startTestApp({ listen: true })
    hosts = 0
  })
  afterAll(() => t.close())

  it('are listed by model with their vulnerabilities, in a population of any size', async () => {
    expect(await vulnerable()).toMatchObject({ population: 0, insufficientPopulation: false, data: [] })
    await enrolMany(2, () => [unifyingReceiver1207({ portPath: '1-2' })])
    const [row, ...others] = (await vulnerable()).data
    expect(others).toEqual([])
    expect(row).toMatchObject({ vid: '046D', pid: 'C52B', agentsCount: 2, share: 1, peripheralsCount: 2, severity: 30 })
    expect(row?.isKnownAttackTool).toBe(false)
    expect(row?.vulnerabilities.map((v) => v.confidence)).toContain('firmware')
    expect(row?.agents.map((a) => a.hostIdentifier)).toEqual(['host-001', 'host-002'])
  })

  it('count a host once, whichever of its fingerprints are vulnerable', async () => {
    const second = (portPath: string, bcdDevice: string) => unifyingReceiver1207({ portPath, pid: 'C532', bcdDevice })
    const counts = async () =>
      (await vulnerable()).data
        .filter((row) => row.pid === 'C532')
        .map(({ agentsCount, peripheralsCount }) => ({ agentsCount, peripheralsCount }))
    const [agent] = await enrolMany(1, () => [second('1-2', '1201'), second('1-3', '1203')])
    expect(await counts()).toEqual([{ agentsCount: 1, peripheralsCount: 2 }])
    // One fingerprint is not vulnerable, so the counter of the model no longer gives the number of hosts.
    await enrolMany(1, () => [second('1-2', '1210')])
    expect(await counts()).toEqual([{ agentsCount: 1, peripheralsCount: 2 }])
    await agent?.unplug('1-2')
    expect(await counts()).toEqual([{ agentsCount: 1, peripheralsCount: 1 }])
    await agent?.unplug('1-3')
    expect(await counts()).toEqual([])
  })
})
