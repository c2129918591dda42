import { connect, type Socket } from 'node:net'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentPaths } from '#features/contract.ts'

let t: TestApp
const opened: Socket[] = []

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(async () => {
  for (const socket of opened) socket.destroy()
  await t.close()
})

/** Opens a wake socket whose peer reads and never closes its side. */
const open = (agent: TestAgent): Promise<{ status: number; ended: Promise<void> }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(t.address)
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    opened.push(socket)
    const ended = new Promise<void>((done) => {
      socket.once('end', done)
      socket.once('close', () => done())
    })
    socket.once('data', (data) => resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(String(data))?.[1]), ended }))
    socket.on('error', reject)
    socket.write(
      `GET ${agentPaths.wake} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nauthorization: Bearer ${agent.state.session}\r\n\r\n`,
    )
  })

/** Waits only briefly, because a close by RFC 6455 would wait half a minute for the peer. */
const endsSoon = (ended: Promise<void>): Promise<boolean> =>
  Promise.race([
    ended.then(() => true),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 10_000).unref()),
  ])

describe('wake sockets of one agent', () => {
  it('are limited to one: a new one closes the previous one, even if its peer never responds', async () => {
    const agent = await enrolAgent(t)
    const first = await open(agent)
    const second = await open(agent)
    expect([first.status, second.status]).toEqual([101, 101])
    expect(await endsSoon(first.ended)).toBe(true)
    expect(t.server.ingest.wake.wake(agent.agentId)).toBe(true)
  })

  it('can be opened in a short burst, then one every five seconds', async () => {
    const agent = await enrolAgent(t)
    const other = await enrolAgent(t)
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) statuses.push((await open(agent)).status)
    expect(statuses).toEqual([...Array(10).fill(101), 429, 429])
    expect((await open(other)).status).toBe(101)
    t.clock.advance(5_000)
    expect([(await open(agent)).status, (await open(agent)).status]).toEqual([101, 429])
  })

  it('are closed after its removal, even if the peer never responds', async () => {
    const agent = await enrolAgent(t)
    const { status, ended } = await open(agent)
    expect(status).toBe(101)
    t.server.ingest.wake.drop([agent.agentId])
    expect(await endsSoon(ended)).toBe(true)
  })
})
