import { readFileSync } from 'node:fs'
import { storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { createFollower, inventoryOfApp, readStream } from '@portcullis/server/test/assets.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let t: TestApp
let one: TestAgent
let two: TestAgent
const follower = createFollower()
/** Returns the subjects of new messages. */
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

describe('the announced changes', () => {
  it('include every peripheral of a fingerprint or model that new knowledge renames', async () => {
    await t.db.execute(sql`update models set vendor = 'Renamed Vendor'`)
    expect((await news()).sort()).toEqual(of('peripheral', one, two))
    await t.db.execute(sql`update designs set icon = 98`)
    expect((await news()).sort()).toEqual(of('peripheral', one, two))
    expect(follower.held()).toEqual(await inventoryOfApp(t))
    // Verdicts are not part of an asset.
    await t.db.execute(sql`update designs set vulnerable = not vulnerable, severity = 30, findings = 'x'`)
    await t.db.execute(sql`update models set hosts = hosts + 1`)
    expect(await news()).toEqual([])
  })

  it('include a tagged host, and everything with a renamed or deleted tag', async () => {
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

  it('do not include check-ins, risks, severities, times last seen or decisions', async () => {
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

  it('do not include rolled-back changes', async () => {
    await expect(
      t.db.transaction(async (tx) => {
        await tx.execute(sql`update agents set host = 'never'`)
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    expect(await news()).toEqual([])
  })

  it('include one message for repeated changes, and none for an asset added and removed in between', async () => {
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
  it('is replayed from the cursor after a crash, with each asset once between the marks', async () => {
    await insertFleet(t, fleet)
    await news()
    const other = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock })
    const from = follower.position
    const { jobId, assets } = (await (await t.admin()).post('/prime/webui/assetproducer/ReplayAll')).json()
    const published = async () =>
      (await (await t.admin()).get(`/prime/webui/assetproducer/replays/${jobId}`)).json().published as number
    // The first server loses the job halfway, like a killed replica.
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

  it('stops a cancelled replay, and accepts another one', async () => {
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

  it('enters the stream automatically after an upgrade', async () => {
    // The state at the migration: no notes and no positions.
    await t.db.execute(sql`delete from asset_heads`)
    await t.db.execute(sql`delete from asset_notes`)
    await t.db.execute(sql`delete from agent_locations`)
    for (const file of ['0082_asset_stream.sql', '0086_agent_locations.sql']) {
      const text = readFileSync(new URL(`../../../server/migrations/${file}`, import.meta.url), 'utf8')
      // Runs only the statements that fill tables; tables and triggers exist already.
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
