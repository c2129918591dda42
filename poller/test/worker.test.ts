import type { Poll, PollResult, WorkerLeaseRequest, WorkerLeaseResponse } from '@portcullis/contract/worker-protocol.ts'
import { afterAll, describe, expect, it } from 'vitest'
import { Refused, type WorkerClient } from '../src/client.ts'
import { pollHost } from '../src/poll.ts'
import { createWorkerProcess } from '../src/worker.ts'
import { knownKeys, startSshPeer } from './ssh-peer.ts'
import { startPeer } from './sshd.ts'

const peers: { close(): void }[] = []
afterAll(() => {
  for (const peer of peers) peer.close()
})

/** Long enough for a loaded machine. Only polls that must fail by time have shorter limits. */
const patient: Poll['limits'] = { connectMs: 60_000, totalMs: 60_000, outputBytes: 100_000 }

const poll = (id: string, change: Partial<Poll>): Poll => ({
  id,
  fence: 1,
  isTest: false,
  host: '127.0.0.1',
  port: 22,
  platform: 'linux',
  userName: 'u',
  password: 'p',
  privateKey: null,
  passphrase: null,
  hostKeyFingerprint: knownKeys.get(change.port ?? 22) ?? null,
  limits: patient,
  ...change,
})

/** Creates a server that leases these polls and stops the worker after all results. */
const serverOf = (polls: readonly Poll[]) => {
  const left = [...polls]
  const results: PollResult[] = []
  const leases: WorkerLeaseRequest[] = []
  let registered = 0
  const hooks = { stop: (): void => {}, refuse: null as Refused | null, isAway: false }
  const client: WorkerClient = {
    register: async () => {
      registered++
      return { pollerId: `poller-${registered}`, key: `key-${registered}` }
    },
    lease: async (_key, request): Promise<WorkerLeaseResponse> => {
      if (hooks.refuse !== null) throw hooks.refuse
      leases.push(request)
      return { isActivated: true, polls: left.splice(0, request.free), stop: [], nextMs: 10 }
    },
    results: async (_key, some) => {
      if (hooks.isAway) {
        hooks.isAway = false
        throw new Error('connect ECONNREFUSED')
      }
      results.push(...some)
      if (results.length === polls.length) hooks.stop()
      return { stored: some.map(({ id }) => id), stale: [] }
    },
  }
  const worker = createWorkerProcess({
    client,
    token: 't',
    name: 'w',
    version: '1',
    capacity: 4,
    poll: pollHost,
    log: () => {},
    isOwn: false,
  })
  hooks.stop = worker.stop
  return { worker, results, leases, hooks, registered: () => registered }
}

const nothing = 'portcullis 1\nLinux\n 00\nend\n'

describe('a worker', () => {
  it('finishes the other polls while hosts hang, flood, reset, send invalid output or are unreachable', async () => {
    const good = await startSshPeer({ answer: () => nothing })
    const floods = await startSshPeer({ answer: () => 'x'.repeat(200_000) })
    const nonsense = await startSshPeer({ answer: () => 'hello\n' })
    const slow = await startSshPeer({ answer: () => nothing, delayMs: 5_000 })
    const silent = await startPeer(() => {})
    const resets = await startPeer((socket) => socket.resetAndDestroy())
    peers.push(good, floods, nonsense, slow, silent.server, resets.server)
    const bad: [string, Partial<Poll>, PollResult['failure']][] = [
      ['hangs', { port: silent.port, limits: { ...patient, connectMs: 300 } }, 'connect-timeout'],
      ['never answers', { port: slow.port, host: '127.0.0.2', limits: { ...patient, totalMs: 500 } }, 'read-timeout'],
      ['floods', { port: floods.port }, 'output-too-large'],
      ['resets', { port: resets.port }, 'connection-lost'],
      ['sends nonsense', { port: nonsense.port }, 'not-understood'],
      ['is unreachable', { port: 1 }, 'connection-refused'],
      ['has another key', { port: good.port, hostKeyFingerprint: `SHA256:${'A'.repeat(43)}` }, 'host-key-changed'],
    ]
    const polls = bad.flatMap(([id, change], i) => [
      poll(id, change),
      poll(`good ${i}`, { port: good.port, host: `127.0.1.${i + 1}` }),
    ])
    const { worker, results, leases } = serverOf(polls)
    await worker.run()
    const outcome = new Map(results.map((one) => [one.id, one.failure]))
    expect(bad.map(([id]) => [id, outcome.get(id)])).toEqual(bad.map(([id, , failure]) => [id, failure]))
    expect(results.filter(({ id }) => id.startsWith('good')).map(({ failure }) => failure)).toEqual(bad.map(() => null))
    expect(Math.max(...leases.map(({ running }) => running.length))).toBe(4)
    expect(leases.every(({ free, running }) => free + running.length <= 4)).toBe(true)
  })

  it('keeps results while the server is unreachable, and ends when its key is revoked', async () => {
    const good = await startSshPeer({ answer: () => nothing })
    peers.push(good)
    const { worker, results, hooks, registered } = serverOf([poll('one', { port: good.port })])
    hooks.isAway = true
    await worker.run()
    expect(results.map(({ id }) => id)).toEqual(['one'])
    const revoked = serverOf([poll('two', { port: good.port })])
    revoked.hooks.refuse = new Refused(401, 'unauthorized', 'not known')
    await expect(revoked.worker.run()).rejects.toThrow(/revoked the key/)
    expect([registered(), revoked.registered(), hooks.isAway]).toEqual([1, 1, false])
  })
})
