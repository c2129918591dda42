import { storageStick, unless } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { createFollower, inventoryOfApp, messagesOf } from '@portcullis/server/test/assets.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { startNats, type TestNats, whyNoNats } from '@portcullis/server/test/nats.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { natsSubject, parseNatsUrl } from './nats.ts'

const reason = whyNoNats()

const password = 'p%40ss of nats'
let t: TestApp
let other: TestApp
let nats: TestNats
let agent: TestAgent
let serial = 0

/** Assigns positions to all changes and publishes them. */
const publish = async (app = t): Promise<void> => {
  await app.assets.sequence()
  await app.assets.publish()
}
const consumer = async () =>
  ((await (await t.admin()).get('/prime/webui/assetproducer/consumers')).json().data as { kind: string }[]).find(
    ({ kind }) => kind === 'nats',
  )
/** Collects the state of a consumer that reads NATS from zero. */
const followNats = async () => {
  const follower = createFollower()
  const held = await nats.held()
  for (const { text } of held) for (const message of messagesOf(text)) follower.apply(message)
  return { follower, held }
}
const churn = async (rounds: number): Promise<void> => {
  for (let n = 0; n < rounds; n++) {
    if (n % 10 === 0) await agent.session()
    await agent.plug(storageStick({ serial: `C${serial++}`, portPath: '1-7' }))
    await agent.unplug('1-7')
    t.clock.advance(60_000)
    if (n % 10 === 0) await publish()
  }
}

describe('assets on NATS JetStream', unless(reason), () => {
  beforeAll(async () => {
    nats = await startNats({ user: 'portcullis', password: decodeURIComponent(password) })
    t = await startTestApp({ listen: true, natsUrl: nats.url.replace(decodeURIComponent(password), password) })
    other = await startTestApp({
      database: t.database,
      keyDir: t.keyDir,
      clock: t.clock,
      natsUrl: nats.url.replace(decodeURIComponent(password), password),
    })
    agent = await enrolAgent(t, { devices: [storageStick({ serial: 'evil.> *\u0000\n\u202e"\'' })] })
  })
  afterAll(async () => {
    await other?.close()
    await t?.close()
    await nats?.stop()
  })

  it('contain the inventory when read from zero; one replica publishes each message once', async () => {
    await Promise.all([publish(), publish(other)])
    // A replica that finds another one publishing leaves the rest to it.
    await Promise.all([publish(), publish(other)])
    const { follower, held } = await followNats()
    expect(follower.held()).toEqual(await inventoryOfApp(t))
    expect(held.map(({ seq }) => seq)).toEqual(held.map((_, at) => at + 1))
    expect(held.every(({ subject }) => /^portcullis\.assets(\.[A-Za-z0-9-]+){2,3}$/.test(subject))).toBe(true)
    expect(await consumer()).toMatchObject({ kind: 'nats', lag: 0, isConnected: true, error: '' })
    expect(JSON.stringify(await consumer())).not.toContain('ss of nats')
    await publish()
    expect((await nats.held()).at(-1)?.seq).toBe(held.length)
  })

  it('wait during an outage of an hour, then arrive completely and once', async () => {
    const before = await followNats()
    await nats.kill()
    await churn(60)
    await publish()
    expect(await consumer()).toMatchObject({ isConnected: false, error: expect.stringMatching(/./) })
    expect(await consumer()).not.toMatchObject({ lag: 0 })
    expect(await t.assets.health()).toMatchObject({
      status: 'Warning',
      description: expect.stringMatching(/\. \d+ messages? waits? in the database\. The server tries again/),
    })
    await nats.start()
    t.clock.advance(60_000)
    await publish()
    const { follower, held } = await followNats()
    expect(follower.held()).toEqual(await inventoryOfApp(t))
    expect(follower.duplicates).toBe(0)
    expect(held.length).toBeGreaterThan(before.held.length + 50)
    expect(new Set(held.map(({ id }) => id)).size).toBe(held.length)
    expect(await consumer()).toMatchObject({ lag: 0, isConnected: true, error: '' })
    t.clock.advance(31_000)
    expect(await t.assets.health()).toMatchObject({ status: 'OK', description: expect.stringContaining('up to date') })
  })

  it('are published again after NATS lost acknowledged messages', async () => {
    await nats.kill()
    nats.loseStore()
    await nats.start()
    await churn(1)
    t.clock.advance(120_000)
    await publish()
    t.clock.advance(120_000)
    await publish()
    const { follower } = await followNats()
    expect(follower.held()).toEqual(await inventoryOfApp(t))
    // Removed assets are announced too.
    expect([...follower.assets.values()].length).toBeGreaterThanOrEqual(Object.keys(follower.held()).length)
  })

  it('are not published twice by a server that crashed between the acknowledgement and saving it', async () => {
    await agent.session()
    await agent.plug(storageStick({ serial: 'after-ack', portPath: '1-8' }))
    await publish()
    const before = await nats.held()
    // The state after such a crash: an older position, and a lease that nobody holds.
    await t.db.execute(
      sql`update asset_consumers set position = 0, lease_until = null, lease_id = gen_random_uuid() where kind = 'nats'`,
    )
    await publish(other)
    t.clock.advance(60_000)
    await publish(other)
    expect(await nats.held()).toEqual(before)
    expect(await consumer()).toMatchObject({ lag: 0, error: '' })
  })

  it('keep their newest state when a server without its lease publishes', async () => {
    // The other replica publishes now. This one still believes it holds the lease, and has a message to send.
    await agent.session()
    await agent.unplug('1-8')
    await t.db.execute(sql`update asset_consumers set lease_until = null where kind = 'nats'`)
    await Promise.all([publish(), publish(other)])
    for (let n = 0; n < 4; n++) {
      t.clock.advance(60_000)
      await Promise.all([publish(), publish(other)])
    }
    const { follower, held } = await followNats()
    expect(new Set(held.map(({ id }) => id)).size).toBe(held.length)
    expect(follower.held()).toEqual(await inventoryOfApp(t))
  })

  it('continue after an operator purged location messages, including the newest message', async () => {
    const admin = await t.admin()
    const moveTo = (address: string) =>
      t.db.execute(sql`update agents set address = ${address} where agent_id = ${agent.agentId}::uuid`)
    await moveTo('10.9.0.1')
    await publish()
    await moveTo('10.9.0.2')
    await publish()
    await admin.post('/prime/webui/assetproducer/SendMonitorOldLocation')
    for (let n = 0; n < 3; n++) {
      t.clock.advance(120_000)
      await Promise.all([publish(), publish(other)])
    }
    const locations = async () =>
      (await nats.held()).filter(({ subject }) => subject.startsWith('portcullis.assets.location.'))
    expect((await locations()).length).toBeGreaterThan(0)
    expect((await nats.held()).at(-1)?.subject).toMatch(/^portcullis\.assets\.location\./)
    await nats.manage((manager) =>
      manager.streams.purge('PORTCULLIS_ASSETS', { filter: 'portcullis.assets.location.>' }),
    )
    expect(await locations()).toEqual([])
    // The other server reconnects and finds no last message to resume from.
    await t.db.execute(
      sql`update asset_consumers set lease_until = null, lease_id = gen_random_uuid() where kind = 'nats'`,
    )
    await agent.session()
    await agent.plug(storageStick({ serial: 'after-purge', portPath: '1-9' }))
    for (let n = 0; n < 3; n++) {
      t.clock.advance(120_000)
      await Promise.all([publish(), publish(other)])
    }
    const { follower, held } = await followNats()
    expect(follower.held()).toEqual(await inventoryOfApp(t))
    expect(new Set(held.map(({ id }) => id)).size).toBe(held.length)
    expect(await locations()).toEqual([])
  })

  it('are published to a stream that an operator created', async () => {
    await nats.manage(async (manager) => {
      await manager.streams.delete('PORTCULLIS_ASSETS')
      await manager.streams.add({ name: 'PORTCULLIS_ASSETS', subjects: ['portcullis.assets.>'], max_age: 0 })
    })
    await agent.session()
    await agent.plug(storageStick({ serial: 'operator', portPath: '1-9' }))
    for (let n = 0; n < 3; n++) {
      t.clock.advance(120_000)
      await publish()
    }
    expect((await followNats()).follower.held()).toEqual(await inventoryOfApp(t))
  })
})

describe('an unavailable NATS server', () => {
  it('is retried after a second, then at growing intervals up to a minute', async () => {
    // Nothing listens on port 1.
    const app = await startTestApp({ natsUrl: 'nats://127.0.0.1:1' })
    try {
      const failures = async (): Promise<number> => {
        const { body } = await app.request({ method: 'GET', url: '/metrics', remoteAddress: '127.0.0.1' })
        return Number(/portcullis_asset_publish_failures_total\{sink="nats"\} (\d+)/.exec(body)?.[1] ?? 0)
      }
      const at: number[] = []
      for (let second = 0, before = 0; second < 300; second++) {
        await app.assets.publish()
        const now = await failures()
        if (now > before) at.push(second)
        before = now
        app.clock.advance(1_000)
      }
      expect(at).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
    } finally {
      await app.close()
    }
  })
})

describe('NATS subjects and addresses', () => {
  it('differ for different devices, whatever their names', () => {
    const of = (subject: string) => natsSubject({ subject, type: 'asset.upserted', sequence: 7, text: '' })
    expect(of('agent/01977f6e')).toBe('portcullis.assets.agent.01977f6e')
    expect(of('peripheral/01977f6e/USB\\VID_0781&PID_5581\\A.B')).toMatch(
      /^portcullis\.assets\.peripheral\.01977f6e\.USB-VID-0781-PID-5581-A-B-[0-9a-f]{16}$/,
    )
    expect(of('peripheral/a/x.y')).not.toBe(of('peripheral/a/x y'))
  })

  it('are parsed without revealing a password', () => {
    expect(parseNatsUrl('nats://me:se%40cret@one:1, tls://two')).toEqual({
      servers: ['one:1', 'two:4222'],
      hosts: ['one', 'two'],
      isTls: true,
      user: 'me',
      pass: 'se@cret',
    })
    expect(parseNatsUrl('nats://s3cr3t@one')).toMatchObject({ token: 's3cr3t' })
    expect(() => parseNatsUrl('http://me:secret@one')).toThrow(/^(?!.*secret)/)
  })
})
