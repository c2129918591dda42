import { readFileSync } from 'node:fs'
import { storageStick } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#platform/db/sql.ts'
import { startTestApp, type TestApp } from '#test/app.ts'
import { createFollower, inventoryOfApp, readStream } from '#test/assets.ts'
import { enrolAgent, type TestAgent } from '#test/builders.ts'
import { insertFleet } from '#test/fleet.ts'

let t: TestApp
let one: TestAgent
let two: TestAgent
const follower = createFollower()
/** Subjects of what is new. */
const news = async (): Promise<string[]> => {
  const messages = await readStream(t, follower.position)
  for (const message of messages) follower.apply(message)
  return messages.map(({ type, subject }) => `${type} ${subject.split('/')[0]} ${subject.split('/')[1]}`)
}
const of = (what: string, ...agents: TestAgent[]): string[] =>
  agents.map(({ agentId }) => `asset.upserted ${what} ${agentId}`).sort()

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  one = await enrolAgent(t, { devices: [storageStick({ serial: 'A' })] })
  two = await enrolAgent(t, { devices: [storageStick({ serial: 'B' })] })
  await news()
})
afterAll(() => t.close())

describe('what is announced', () => {
  it('is every peripheral of a design or model that knowledge names anew', async () => {
    await t.db.execute(sql`update models set vendor = 'Renamed Vendor'`)
    expect((await news()).sort()).toEqual(of('peripheral', one, two))
    await t.db.execute(sql`update designs set icon = 98`)
    expect((await news()).sort()).toEqual(of('peripheral', one, two))
    expect(follower.held()).toEqual(await inventoryOfApp(t))
    // A verdict is no fact of an asset.
    await t.db.execute(sql`update designs set vulnerable = not vulnerable, severity = 30, findings = 'x'`)
    await t.db.execute(sql`update models set hosts = hosts + 1`)
    expect(await news()).toEqual([])
  })

  it('is a host that is tagged, and each carrier of a tag that is called otherwise or deleted', async () => {
    const tag = async (path: string, body: unknown) =>
      expect((await (await t.admin()).post(`/prime/webui/generalconfig/${path}`, body)).statusCode).toBe(200)
    await tag('addhashtags', { hashtags: ['lab'], elementIds: [one.agentId], entityType: 'Agent' })
    const [device] = await one.peripherals()
    await tag('addhashtags', {
      hashtags: ['lab'],
      elementIds: [`${one.agentId}|${device?.deviceID}`],
      entityType: 'Peripheral',
    })
    const both = [...of('agent', one), ...of('peripheral', one)]
    expect(await news()).toEqual(both)
    await t.db.execute(sql`update tags set name = 'laboratory', folded = 'laboratory'`)
    expect(await news()).toEqual(both)
    expect(Object.values(follower.held()).filter(({ hashtags }) => hashtags[0] === 'laboratory')).toHaveLength(2)
    await tag('deletehashtags', { hashtags: ['laboratory'], entityType: 'Agent' })
    expect(await news()).toEqual(both)
    expect(follower.held()).toEqual(await inventoryOfApp(t))
  })

  it('is nothing of a check-in, a risk, a severity, a last time seen or a decision', async () => {
    await one.checkIn()
    await t.db.execute(sql`update agent_heartbeats set last_seen = now()`)
    await t.db.execute(sql`update agent_rows set severity = 50, risk = 99, connected = not connected, not_approved = 3`)
    await t.db.execute(
      sql`update agents set risk_factors = '[]', latest_events = '{x}', policy_version = 7, whitelist = true`,
    )
    await t.db.execute(
      sql`update peripherals set last_seen = now(), severity = 50, unapproved = true, authorized = false, case_number = 'X'`,
    )
    expect(await t.db.query(sql`select from asset_dirty`)).toEqual([])
    expect(await news()).toEqual([])
  })

  it('is nothing of what did not commit', async () => {
    await expect(
      t.db.transaction(async (tx) => {
        await tx.execute(sql`update agents set host = 'never'`)
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    expect(await news()).toEqual([])
  })

  it('is one message of what changed often meanwhile, and none of what came and went', async () => {
    for (let n = 0; n < 5; n++)
      await t.db.execute(sql`update agents set version = ${`2.${n}`} where agent_id = ${one.agentId}::uuid`)
    await t.db.transaction(async (tx) => {
      await tx.execute(sql`
        insert into agents (agent_id, host, address, enrolled_at, facts) values ('00000000-0000-4000-8000-000000000001', 'brief', '', now(), '{}')`)
      await tx.execute(sql`delete from agents where host = 'brief'`)
    })
    expect(await news()).toEqual(of('agent', one))
  })
})

describe('a fleet of thousands', () => {
  const fleet = 6_000
  it('is replayed from the cursor by whoever is there, each asset once between the marks', async () => {
    await insertFleet(t, fleet)
    await news()
    const other = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock })
    const from = follower.position
    const { jobId, assets } = (await (await t.admin()).post('/prime/webui/assetproducer/ReplayAll')).json()
    const published = async () =>
      (await (await t.admin()).get(`/prime/webui/assetproducer/replays/${jobId}`)).json().published as number
    // The first one at it loses the job in the middle, as a replica does that is killed.
    await expect.poll(published, { interval: 5 }).toBeGreaterThan(0)
    const reached = await t.db.query<{ done: number }>(
      sql`update jobs set lease_id = gen_random_uuid(), lease_until = '-infinity' where job_id = ${jobId}::uuid and state = 'running' returning done`,
    )
    await Promise.all([t.jobs.drain(), other.jobs.drain()])
    await other.close()
    const said = await readStream(t, from)
    console.log(`${assets} assets, taken over after ${reached[0]?.done ?? assets}`)
    expect([said[0]?.type, said.at(-1)?.type]).toEqual(['replay.started', 'replay.completed'])
    expect(said.filter(({ type }) => type.startsWith('replay.'))).toHaveLength(2)
    expect(said).toHaveLength(assets + 2)
    expect(new Set(said.map(({ subject }) => subject)).size).toBe(assets + 1)
    expect(await published()).toBe(assets)
    await news()
  })

  it('is replayed no further when that is cancelled, which another replay does not mind', async () => {
    const start = async () =>
      (await (await t.admin()).post('/prime/webui/assetproducer/ReplayAll')).json().jobId as string
    const from = follower.position
    const jobId = await t.db.transaction(async (tx) => {
      await tx.query(sql`select from asset_stream s for update`)
      const id = await start()
      const cancelled = await (await t.admin()).post(`/prime/webui/jobs/${id}/cancel`)
      expect(cancelled.statusCode).toBe(200)
      return id
    })
    await t.jobs.drain()
    expect((await (await t.admin()).get(`/prime/webui/assetproducer/replays/${jobId}`)).json()).toMatchObject({
      status: 'failed',
      error: 'Cancelled by admin.',
    })
    expect((await readStream(t, from)).map(({ type }) => type)).not.toContain('replay.completed')
    const next = await start()
    await t.jobs.drain()
    expect((await (await t.admin()).get(`/prime/webui/assetproducer/replays/${next}`)).json()).toMatchObject({
      status: 'completed',
    })
  })

  it('enters the stream by itself when the server becomes one that has it', async () => {
    // As the migration finds a fleet: nothing was noted, and nothing has a place.
    await t.db.execute(sql`delete from asset_heads`)
    await t.db.execute(sql`delete from asset_notes`)
    await t.db.execute(sql`delete from agent_locations`)
    for (const file of ['0082_asset_stream.sql', '0086_agent_locations.sql']) {
      const text = readFileSync(new URL(`../../../../migrations/${file}`, import.meta.url), 'utf8')
      // The statements that fill from the fleet; what makes tables and triggers was run already.
      const fills = text
        .split(/;\n/)
        .filter((part) => /INSERT INTO [^;]* FROM (agents a|peripherals p)$/.test(part.trim()))
      expect(fills.length).toBeGreaterThan(0)
      for (const fill of fills) await t.db.withClient((client) => client.query(fill))
    }
    await t.assets.sequence()
    const afresh = createFollower()
    for (const message of await readStream(t)) afresh.apply(message)
    const kinds = Object.keys(afresh.held()).map((subject) => subject.split('/')[0])
    expect(kinds.filter((kind) => kind === 'agent')).toHaveLength(fleet + 2)
    expect(kinds.filter((kind) => kind === 'peripheral')).toHaveLength(fleet + 2)
  })
})
