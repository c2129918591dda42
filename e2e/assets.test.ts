// Invariant: A consumer that reads the asset stream from zero holds the inventory.

import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { hostileStrings, phone, plainKeyboard, storageStick, unless } from '@portcullis/domain/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { adminPassword, type RunningServer, remove, startServer, until } from '../proof/kit/harness.ts'
import { createFollower, inventoryOf, messagesOf } from '../server/test/assets.ts'
import { freePort } from '../server/test/free-port.ts'
import { startNats, type TestNats, whyNoNats } from '../server/test/nats.ts'
import { serverDir } from './prepared.ts'
import { type RestlessHost, restlessHost } from './restless-host.ts'

const reason = whyNoNats()

const dir = serverDir()
let nats: TestNats | undefined
afterAll(async () => {
  await nats?.stop()
  remove(dir)
})

/** Returns pseudo-random numbers that are the same for the same seed (mulberry32). */
const seeded = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

const seed = Number(process.env.ASSETS_SEED ?? 7)
const steps = Number(process.env.ASSETS_STEPS ?? 400)

describe('a consumer of the asset stream from zero', unless(reason), () => {
  it('has the complete inventory over HTTP and NATS, even if processes are killed while it changes', async () => {
    nats = await startNats()
    const broker = nats
    const env = {
      PORTCULLIS_ADMIN_PASSWORD: adminPassword,
      PORTCULLIS_PORT: String(await freePort()),
      PORTCULLIS_LOG_LEVEL: 'error',
      NATS_URL: broker.url,
    }
    let server: RunningServer = await startServer(dir, env)
    const bearer = await server.signIn()
    const enrolment = await server.enrolmentToken()
    const url = (): string => server.url
    /** Sends a request of an operator and repeats it while the server is unreachable. A refusal is a response as well. */
    const call = async (method: string, path: string, body?: unknown): Promise<number> => {
      for (;;) {
        const answer = await fetch(`${url()}/prime/webui/${path}`, {
          method,
          headers: {
            authorization: `Bearer ${bearer}`,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }).catch(() => null)
        if (answer !== null && answer.status !== 503) {
          await answer.arrayBuffer()
          return answer.status
        }
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }

    // The consumer keeps its state over connections.
    const follower = createFollower()
    let connection = new AbortController()
    let isOver = false
    let connections = 0
    let broken = ''
    const reading = (async () => {
      while (!isOver) {
        connection = new AbortController()
        try {
          const answer = await fetch(
            `${url()}/prime/webui/assetproducer/stream?after=${follower.position}&consumer=proof`,
            {
              headers: { authorization: `Bearer ${bearer}` },
              signal: connection.signal,
            },
          )
          if (answer.status !== 200) throw new Error(String(answer.status))
          connections++
          const input = Readable.fromWeb(answer.body as never)
          input.on('error', () => {})
          for await (const line of createInterface({ input })) {
            // A broken connection may leave a partial line. The server sends that line again.
            if (line !== '' && !line.endsWith('}}')) break
            try {
              for (const message of messagesOf(line)) follower.apply(message)
            } catch (error) {
              if (!(error instanceof SyntaxError)) broken = String(error)
            }
          }
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 30))
        }
      }
    })()

    const pick = seeded(seed)
    const hosts: RestlessHost[] = []
    for (let n = 0; n < 4; n++) hosts.push(await restlessHost(url, enrolment, `restless-${n}`))
    let serial = 0
    let deleted = 0
    const work = async (): Promise<void> => {
      const host = hosts[pick(hosts.length)] as RestlessHost
      const port = `1-${1 + pick(6)}`
      switch (pick(14)) {
        case 0:
          if (hosts.length < 12) hosts.push(await restlessHost(url, enrolment, `restless-late-${serial++}`))
          return
        case 1:
          if (pick(3) > 0 || hosts.length < 3) return
          hosts.splice(hosts.indexOf(host), 1)
          deleted++
          await call('POST', 'agents/deleteAgents', [host.agentId])
          // Messages after this point are too late.
          return host.plug(storageStick({ portPath: port, serial: `late-${serial++}` }))
        case 2:
          return host.becomes({ hostname: `renamed-${serial++}` })
        case 3:
          return host.becomes({ address: `10.0.${pick(3)}.${pick(4)}` })
        case 4:
          return host.becomes({ agentVersion: `1.0.${pick(5)}`, nics: [] })
        case 5:
          return host.isArmed(pick(2) === 0)
        case 6:
          await call('POST', 'generalconfig/addhashtags', {
            hashtags: [`tag-${pick(4)}`],
            elementIds: [host.agentId],
            entityType: 'Agent',
          })
          return
        case 7: {
          const [device] = host.devices.values()
          if (device === undefined) return
          const all = await server.peripherals(host.agentId).catch(() => [])
          const one = all[pick(Math.max(1, all.length))]
          if (one === undefined) return
          await call('POST', 'generalconfig/addhashtags', {
            hashtags: [`tag-${pick(4)}`],
            elementIds: [`${host.agentId}|${one.deviceID}`],
            entityType: 'Peripheral',
          })
          return
        }
        case 8:
          await call('POST', 'generalconfig/deletehashtags', { hashtags: [`tag-${pick(4)}`], entityType: 'Agent' })
          return
        case 9:
          if (pick(4) === 0) await call('POST', 'assetproducer/ReplayAll')
          else await call('POST', 'assetproducer/SendMonitorOldLocation')
          return
        case 10:
          return host.unplug([...host.devices.keys()][0] ?? port)
        default: {
          const make = [storageStick, plainKeyboard, phone][pick(3)] as typeof storageStick
          const device =
            pick(8) === 0
              ? hostileStrings('html', { portPath: port })
              : make({ portPath: port, serial: `S${serial++ % 40}` })
          return host.plug(device)
        }
      }
    }

    let kills = 0
    for (let step = 0; step < steps; step++) {
      await work()
      if (step % 23 === 11) connection.abort()
      if (step % 100 === 50) {
        await broker.kill()
        if (pick(3) === 0) broker.loseStore()
      }
      if (step % 100 === 80) await broker.start()
      if (step % 100 === 99) {
        // The kill happens while hosts send reports.
        const busy = Promise.all(
          hosts.map((host) => host.plug(storageStick({ portPath: '2-1', serial: `K${serial++}` }))),
        )
        server.child.kill('SIGKILL')
        await server.ended
        server = await startServer(dir, env)
        await busy
        kills++
      }
    }

    await server.signIn()
    interface State {
      newest: number
      waiting: number
      replay: { status: string } | null
    }
    const { ms } = await until(
      'everything is placed, read and published',
      async () => {
        const state = await server.get<State>('assetproducer/state')
        if (state.waiting > 0 || ['queued', 'running'].includes(state.replay?.status ?? '')) return false
        const { data } = await server.get<{ data: { kind: string; lag: number; error: string }[] }>(
          'assetproducer/consumers',
        )
        return (
          follower.position === state.newest && data.some((c) => c.kind === 'nats' && c.lag === 0 && c.error === '')
        )
      },
      100_000,
    )
    expect(broken).toBe('')
    const inventory = await inventoryOf((path) => server.get(path))
    const ofNats = createFollower()
    const held = await broker.held()
    for (const { text } of held) for (const message of messagesOf(text)) ofNats.apply(message)
    const afresh = createFollower()
    const whole = await server.request('/prime/webui/assetproducer/stream?after=0&follow=false', {
      headers: { authorization: `Bearer ${await server.signIn()}` },
    })
    for (const message of messagesOf(whole.text)) afresh.apply(message)
    console.log(
      `seed ${seed}: ${steps} steps, ${kills} kills of the server, ${connections} connections, ${deleted} hosts deleted; ${Object.keys(inventory).length} assets, newest ${follower.position}, ${follower.duplicates} came twice to the reader, caught up ${Math.round(ms)} ms after the last change`,
    )
    expect(Object.keys(inventory).length).toBeGreaterThan(20)
    expect(deleted).toBeGreaterThan(0)
    expect(follower.held()).toEqual(inventory)
    expect(afresh.held()).toEqual(inventory)
    expect(ofNats.held()).toEqual(inventory)
    expect(ofNats.duplicates).toBe(0)

    isOver = true
    connection.abort()
    await reading
    expect(await server.stop()).toBe(0)
  }, 300_000)
})
