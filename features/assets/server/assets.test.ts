import { storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { createFollower, inventoryOfApp, messagesOf, readStream } from '@portcullis/server/test/assets.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const base = '/prime/webui/assetproducer'
let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

describe('the asset stream', () => {
  it('contains the inventory of the lists when read from zero, and one message per change of one asset', async () => {
    const agent = await enrolAgent(t, { devices: [storageStick({ serial: 'S1' })] })
    const follower = createFollower()
    for (const message of await readStream(t)) follower.apply(message)
    expect(Object.keys(follower.held())).toHaveLength(2)
    expect(follower.held()).toEqual(await inventoryOfApp(t))

    await agent.unplug('1-1')
    const [gone, ...more] = await readStream(t, follower.position)
    expect(more).toEqual([])
    expect(gone).toMatchObject({ type: 'asset.upserted', data: { serialNumber: 'S1', present: false } })
    expect(gone?.subject).toBe(`peripheral/${agent.agentId}/USB\\VID_0781&PID_5581\\S1`)
    follower.apply(gone as never)
    expect(follower.held()).toEqual(await inventoryOfApp(t))
    // A check-in changes no asset.
    await agent.checkIn()
    expect(await readStream(t, follower.position)).toEqual([])
  })

  it('announces a removed asset once, and keeps the message', async () => {
    const agent = await enrolAgent(t, { devices: [storageStick({ serial: 'S2' })] })
    const before = (await readStream(t)).at(-1)
    await (await t.admin()).post('/prime/webui/agents/deleteAgents', [agent.agentId])
    const said = await readStream(t, Number(before?.sequence))
    expect(said.map(({ type, subject }) => [type, subject])).toEqual([
      ['asset.removed', `agent/${agent.agentId}`],
      ['asset.removed', `peripheral/${agent.agentId}/USB\\VID_0781&PID_5581\\S2`],
    ])
    const follower = createFollower()
    for (const message of await readStream(t)) follower.apply(message)
    expect(follower.assets.get(`agent/${agent.agentId}`)?.data).toBeNull()
    expect(follower.held()).toEqual(await inventoryOfApp(t))
  })

  it('replays every asset between two marks, with new positions', async () => {
    const newest = Number((await readStream(t)).at(-1)?.sequence)
    const admin = await t.admin()
    // The job cannot start while another transaction assigns positions.
    const [jobId, assets] = await t.db.transaction(async (tx) => {
      await tx.query(sql`select from asset_stream s for update`)
      const both = await Promise.all([admin.post(`${base}/ReplayAll`), admin.post(`${base}/ReplayAll`)])
      const [done, refused] = both.sort((a, b) => a.statusCode - b.statusCode)
      expect(both.map(({ statusCode }) => statusCode)).toEqual([200, 409])
      const started = done?.json()
      expect(refused?.json().detail).toContain(started.jobId)
      expect((await admin.get(`${base}/replays/${started.jobId}`)).json()).toMatchObject({
        // The runner may have taken the job, which then waits for the lock.
        status: expect.stringMatching(/^(queued|running)$/),
        assets: started.assets,
      })
      return [started.jobId, started.assets] as [string, number]
    })
    await t.jobs.drain()
    const said = await readStream(t, newest)
    expect(said.map(({ type }) => type)).toEqual([
      'replay.started',
      ...Array.from({ length: assets }, () => 'asset.upserted'),
      'replay.completed',
    ])
    expect(said.at(-1)).toMatchObject({ subject: `replay/${jobId}`, data: { jobId, assets, published: assets } })
    expect((await (await t.admin()).get(`${base}/replays/${jobId}`)).json()).toMatchObject({
      jobId,
      status: 'completed',
      assets,
      published: assets,
      completedAt: expect.any(String),
    })
    expect((await (await t.admin()).get(`${base}/replays/${t.keyDir}`)).statusCode).toBe(404)
  })

  it('announces each previous location of a host once', async () => {
    const agent = await enrolAgent(t, { facts: { address: '10.0.0.1' } })
    const moveTo = async (address: string) => {
      Object.assign(agent.facts, { address })
      await agent.inventory()
    }
    const send = async (): Promise<number> =>
      (await (await t.admin()).post(`${base}/SendMonitorOldLocation`)).json().published
    await send()
    await moveTo('10.0.0.2')
    await moveTo('10.0.0.1')
    const newest = Number((await readStream(t)).at(-1)?.sequence)
    expect(await send()).toBe(1)
    expect(await send()).toBe(0)
    expect(await readStream(t, newest)).toMatchObject([
      {
        type: 'asset.location.previous',
        subject: `agent/${agent.agentId}`,
        data: { uuid: agent.agentId, location: { address: '10.0.0.2' } },
      },
    ])
    // The host was twice at the first location and has left it: one message.
    await moveTo('10.0.0.3')
    expect([await send(), await send()]).toEqual([1, 0])
    const locations = (await (await t.admin()).get(`${base}/locations/${agent.agentId}`)).json().data
    expect(
      locations.map((p: { location: { address: string }; until: unknown; announced: boolean }) => [
        p.location.address,
        p.until === null,
        p.announced,
      ]),
    ).toEqual([
      ['10.0.0.3', true, false],
      ['10.0.0.1', false, true],
      ['10.0.0.2', false, true],
      ['10.0.0.1', false, true],
    ])
  })

  it('lets every profile read, only Managers and Administrators change, and rejects callers without a token', async () => {
    const user = await person(t, { profile: 30 })
    expect((await user.api.get(`${base}/stream?follow=false`)).statusCode).toBe(200)
    expect((await user.api.get(`${base}/schema`)).statusCode).toBe(200)
    for (const path of ['ReplayAll', 'SendMonitorOldLocation'])
      expect((await user.api.post(`${base}/${path}`)).statusCode).toBe(403)
    expect((await t.as(undefined).get(`${base}/stream`)).statusCode).toBe(401)
    expect((await user.api.get(`${base}/stream?after=-1`)).statusCode).toBe(400)
    expect((await user.api.get(`${base}/stream?after=99999999&follow=false`)).statusCode).toBe(409)
    const [{ source = '' } = {}] = await readStream(t)
    const knowing = async (known: string) =>
      (await user.api.get(`${base}/stream?follow=false&source=${encodeURIComponent(known)}`)).statusCode
    expect([await knowing(source), await knowing('urn:portcullis:before-the-restore')]).toEqual([200, 409])
    expect((await user.api.get(`${base}/stream`, { 'last-event-id': 'x' })).statusCode).toBe(400)
  })

  it('continues after a position sent back unchanged', async () => {
    const all = await readStream(t)
    const [first] = all
    expect(first?.sequence).toMatch(/^0+[1-9]\d*$/)
    const admin = await t.admin()
    const after = async (given = '', headers = {}) =>
      messagesOf((await admin.get(`${base}/stream?follow=false&after=${given}`, headers)).body).map(({ id }) => id)
    const rest = all.slice(1).map(({ id }) => id)
    expect(await after(first?.sequence)).toEqual(rest)
    expect(await after(first?.id)).toEqual(rest)
    expect(await after('0', { 'last-event-id': String(first?.sequence) })).toEqual(rest)
    const refused = async (given: string) =>
      (await admin.get(`${base}/stream?follow=false&after=${given}`)).json().errors[0].message
    expect(await refused('000000000000000000004711')).toBe('must be a decimal integer')
    expect(await refused('99999999999999999999')).toMatch(/^must be from -9007199254740991 to/)
  })

  it('is also available as server-sent events', async () => {
    const [first] = await readStream(t)
    const answer = await (await t.admin()).get(`${base}/stream?follow=false&after=0`, { accept: 'text/event-stream' })
    expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    const [id, event, data] = (answer.body.split('\n\n')[0] ?? '').split('\n')
    expect([id, event]).toEqual([`id: ${first?.id}`, `event: ${first?.type}`])
    expect(messagesOf(data?.replace('data: ', '') ?? '')).toEqual([first])
    const rest = await (await t.admin()).get(`${base}/stream?follow=false&after=0`, {
      accept: 'text/event-stream',
      'last-event-id': String(first?.id),
    })
    expect(rest.body.split('\n')[0]).not.toBe(`id: ${first?.id}`)
    expect(rest.body.split('\n\n')).toHaveLength(answer.body.split('\n\n').length - 1)
  })
})
