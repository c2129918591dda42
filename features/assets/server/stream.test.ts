// Invariant: A stalled reader of the asset stream costs one batch of memory, and no account can use all reader
//   slots.

import { type IncomingMessage, request } from 'node:http'
import { createInterface } from 'node:readline'
import { storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { createFollower, messagesOf } from '@portcullis/server/test/assets.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AssetMessage } from '#features/contract.ts'

const base = '/prime/webui/assetproducer'
const fleet = 20_000
let t: TestApp
let agent: TestAgent
beforeAll(async () => {
  t = await startTestApp({ listen: true })
  agent = await enrolAgent(t, { devices: [storageStick({ serial: 'S0' })] })
})
afterAll(() => t.close())

const open: IncomingMessage[] = []
const start = async (query: string, token?: string): Promise<IncomingMessage> => {
  const authorization = `Bearer ${token ?? (await t.signIn())}`
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(`${t.address}${base}/stream?${query}`, { headers: { authorization } }, resolve)
    sent.on('error', reject)
    sent.end()
  })
  response.on('error', () => {})
  open.push(response)
  return response
}
/** Reads on until `until` returns true. */
const follow = async (
  response: IncomingMessage,
  until: (message: AssetMessage) => boolean,
): Promise<AssetMessage[]> => {
  const seen: AssetMessage[] = []
  for await (const line of createInterface({ input: response }))
    for (const message of messagesOf(line)) {
      seen.push(message)
      if (until(message)) return seen
    }
  return seen
}
const isAbout = (serial: string) => (message: AssetMessage) => message.subject.endsWith(`\\${serial}`)
const consumers = async (): Promise<Record<string, unknown>[]> =>
  (await (await t.admin()).get(`${base}/consumers`)).json().data
const newest = async (): Promise<number> => (await (await t.admin()).get(`${base}/state`)).json().newest
const leave = async (): Promise<void> => {
  for (const one of open.splice(0)) one.destroy()
  await expect.poll(async () => (await (await t.admin()).get(`${base}/state`)).json().readers).toBe(0)
}

describe('a reader of the asset stream', () => {
  it('is rejected with a download ticket', async () => {
    const { ticket } = (await (await t.admin()).post('/prime/webui/Auth/Ticket')).json()
    const refused = await t.as(undefined).get(`${base}/stream?follow=false&_ticket=${ticket}`)
    expect(refused.statusCode).toBe(401)
  })

  it('uses no slot if it leaves before the response', async () => {
    const authorization = `Bearer ${await t.signIn()}`
    const leaves = (after: number): Promise<void> =>
      new Promise((resolve) => {
        const sent = request(`${t.address}${base}/stream?after=0`, { headers: { authorization } })
        sent.on('error', () => resolve())
        sent.on('close', () => resolve())
        sent.end(() => setTimeout(() => sent.destroy(), after))
      })
    await Promise.all(Array.from({ length: 60 }, (_, i) => leaves(i % 6)))
    await expect.poll(async () => (await (await t.admin()).get(`${base}/state`)).json().readers).toBe(0)
  })

  it('receives a change without another request, and is listed with its position', async () => {
    await t.assets.sequence()
    const response = await start('after=0&consumer=cmdb')
    const plugged = agent.plug(storageStick({ serial: 'LIVE', portPath: '1-2' }))
    const seen = await follow(response, isAbout('LIVE'))
    await plugged
    expect(seen.at(-1)).toMatchObject({ type: 'asset.upserted', data: { present: true, portPath: '1-2' } })
    await leave()
    await expect
      .poll(consumers)
      .toContainEqual(
        expect.objectContaining({ kind: 'http', name: 'cmdb', isConnected: false, lag: expect.any(Number) }),
      )
    const mine = (await consumers()).find(({ name }) => name === 'cmdb')
    expect(mine?.position).toBeGreaterThan(0)
  })

  it('can be forgotten after it left, but not while it reads', async () => {
    const response = await start('after=0&consumer=gone%2Fsoon')
    await follow(response, () => true)
    const path = `${base}/consumers/http/${encodeURIComponent('gone/soon')}`
    expect((await (await t.admin()).delete(path)).statusCode).toBe(409)
    await leave()
    await expect.poll(async () => (await (await t.admin()).delete(path)).statusCode).toBe(200)
    expect((await (await t.admin()).delete(path)).statusCode).toBe(404)
    expect((await consumers()).map(({ name }) => name)).not.toContain('gone/soon')
    const audits = (await (await t.admin()).get('/prime/webui/events/GetAuditsIntegration?PageSize=5')).json().data
    expect(audits[0]).toMatchObject({ action: 'assets.consumerForgotten', entity: 'Asset stream: gone/soon' })
  })

  it('is disconnected when its account loses access', async () => {
    const user = await person(t, { profile: 30 })
    const response = await start('after=0', user.token)
    const ended = new Promise((resolve) => response.once('close', resolve))
    response.resume()
    await (await t.admin()).post('/prime/webui/admin/updateuser', { userName: user.userName, isEnabled: false })
    await ended
    await leave()
  })

  it('is refused with a retry time above the limit of the server', async () => {
    const token = await t.signIn()
    const people = await Promise.all([1, 2, 3, 4].map(() => person(t, { profile: 30 })))
    const tokens = people.map((one) => one.token)
    // Eight per account, so that no account takes all slots.
    const own = await Promise.all(Array.from({ length: 8 }, (_, n) => start(`after=0&consumer=many-${n}`, tokens[0])))
    expect(own.map(({ statusCode }) => statusCode)).toEqual(own.map(() => 200))
    const ninth = await t.as(tokens[0]).get(`${base}/stream?after=0`)
    expect([ninth.statusCode, ninth.headers['retry-after']]).toEqual([503, '10'])
    const others = await Promise.all(
      tokens.slice(1).flatMap((one) => Array.from({ length: 8 }, (_, n) => start(`after=0&consumer=more-${n}`, one))),
    )
    expect(others.map(({ statusCode }) => statusCode)).toEqual(others.map(() => 200))
    const refused = await start('after=0', token)
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '10'])
    await leave()
    expect((await start('after=0&follow=false', token)).statusCode).toBe(200)
    await leave()
  })

  it('does not displace the consumers of other accounts by changing its name', async () => {
    const quiet = await start('after=0&follow=false&consumer=the-cmdb')
    quiet.resume()
    await expect
      .poll(async () => (await consumers()).some(({ name, isConnected }) => name === 'the-cmdb' && !isConnected))
      .toBe(true)
    const user = await person(t, { profile: 30 })
    for (let n = 0; n < 210; n++) {
      t.clock.advance(1_000)
      await user.api.get(`${base}/stream?follow=false&after=${await newest()}&consumer=flood-${n}`)
    }
    const names = (await consumers()).map(({ name }) => String(name))
    expect(names).toContain('the-cmdb')
    expect(names.filter((name) => name.startsWith('flood-'))).toHaveLength(20)
    expect(names).toContain('flood-209')
  })

  it('costs no memory while it stalls, and misses no change', async () => {
    await insertFleet(t, fleet)
    const startedAt = performance.now()
    await t.assets.sequence()
    const perSecond = Math.round((2 * fleet) / ((performance.now() - startedAt) / 1000))
    const before = process.memoryUsage().rss
    const response = await start('after=0&follow=false&consumer=slow')
    const position = async () => (await consumers()).find(({ name }) => name === 'slow')?.position
    let last: unknown = -1
    // Waits until the socket buffers are full.
    await expect
      .poll(
        async () => {
          const now = await position()
          const isStill = now === last && now !== undefined
          last = now
          return isStill
        },
        { interval: 3_000, timeout: 60_000 },
      )
      .toBe(true)
    const queries = await t.db.query(
      sql`select from pg_stat_activity a where a.datname = current_database() and a.backend_type = 'client backend' and a.state <> 'idle' and a.query like '%asset_heads%' and a.pid <> pg_backend_pid()`,
    )
    expect(queries).toEqual([])
    await t.db.execute(sql`update agents set version = '10.0.0' where os_name = 'Fleet OS'`)
    await t.assets.sequence()
    const grown = process.memoryUsage().rss - before
    const readAt = performance.now()
    const follower = createFollower()
    for (const message of await follow(response, () => false)) follower.apply(message)
    const held = Object.values(follower.held())
    console.log(
      `${perSecond} positions/s; ${Math.round(held.length / ((performance.now() - readAt) / 1000))} messages/s read; ${Math.round(grown / 1e6)} MB more while stalled`,
    )
    expect(held.filter((asset) => 'os' in asset && asset.os === 'Fleet OS' && asset.version === '10.0.0')).toHaveLength(
      fleet,
    )
    expect(held.filter((asset) => 'deviceID' in asset && asset.deviceID.includes('VID_0000'))).toHaveLength(fleet)
    await leave()
  })
})
