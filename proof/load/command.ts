/** Measures how long a command takes to reach one connected host, and how long ten thousand commands take. */

import { setTimeout as pause } from 'node:timers/promises'
import { mustExist } from '@portcullis/domain'
import { createWake } from '../../agent/src/transport/wake.ts'
import { createHostAgent, type HostAgent } from '../../cli/simulator/host-agent.ts'
import { createHost } from '../../cli/simulator/hosts.ts'
import { createInventory } from '../../cli/simulator/inventory.ts'
import { createRandom } from '../../cli/simulator/random.ts'
import { createTransport } from '../../cli/simulator/transport.ts'
import { createWaits } from '../../cli/simulator/waits.ts'
import type { Installation } from '../kit/installation.ts'
import { atMost, type Finding, figure, percentile, round } from '../kit/verdict.ts'
import type { Prepared } from './fleet.ts'
import type { BenchResult } from './result.ts'

/** Number of hosts that hold a wake socket. The commands go to them in turn. */
const listening = 100
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
/** Requirement: a connected host receives its command in less than a second. */
const deliveryLimitMs = 1_000
/** Limit for a request with ten thousand items, because a person waits for it. */
const requestLimitMs = 300
/** Limit from such a request until the commands of all its hosts are signed and queued. */
const queuedLimitMs = 1_500

const deadline = async <T>(what: string, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took over 60 s`)), 60_000)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

interface Listener {
  agent: HostAgent
  /** Resolves when the woken host has nothing more to send, with the times of its first and last response. */
  woken(): Promise<{ deliveredAt: number; confirmedAt: number }>
  /**
   * Closes the socket and waits for its check-ins. The host would otherwise repeat them after the server has stopped.
   */
  stop(): Promise<void>
}

const listen = async (server: Installation, token: string): Promise<Listener[]> => {
  const transport = createTransport({ server: new URL(server.url), connections: 16 })
  const waits = createWaits()
  const listeners: Listener[] = []
  for (let index = 0; index < listening; index++) {
    const random = createRandom(index + 77)
    const { facts, ...rest } = createHost(1_000_000 + index, random, 'commands')
    // One in ten simulated hosts can only observe. Make all of these able to block.
    const host = { ...rest, facts: { ...facts, enforcement: 'before-driver' as const } }
    const inventory = createInventory(host.department, random)
    const failed = (what: string): void => void process.stderr.write(`command: ${what}\n`)
    const agent = createHostAgent({ host, inventory, transport, clock: { now: () => Date.now() }, waits, failed })
    await agent.join(token)
    await agent.checkIn(undefined, () => {})
    let heard: ((times: { deliveredAt: number; confirmedAt: number }) => void) | undefined
    let lastWake: Promise<void> = Promise.resolve()
    const wake = createWake({
      transport,
      log: silent,
      onWake: () => {
        lastWake = lastWake.then(async () => {
          const answers: number[] = []
          await agent.checkIn(undefined, () => answers.push(performance.now()))
          if (answers.length > 1) heard?.({ deliveredAt: answers[0] as number, confirmedAt: answers.at(-1) as number })
        })
      },
    })
    agent.onSession(wake.useToken)
    const stop = async (): Promise<void> => {
      wake.stop()
      await deadline('the last check-in of a host', lastWake)
    }
    listeners.push({ agent, woken: () => new Promise((resolve) => (heard = resolve)), stop })
  }
  return listeners
}

const measureOne = async (server: Installation, listeners: readonly Listener[], token: string, rounds: number) => {
  const delivered: number[] = []
  const confirmed: number[] = []
  // The first rounds warm up the server and do not count.
  for (let n = -5; n < rounds; n++) {
    const { agent, woken } = listeners[(n + 5) % listeners.length] as Listener
    const times = woken()
    const uuid = agent.identity()?.agentId
    const startedAt = performance.now()
    await server.call(
      '/prime/webui/agents/configuration',
      [{ uuid, agentConfigViewResource: { isSystemArmed: n % 2 === 0 ? 'ARM' : 'free' } }],
      token,
    )
    const { deliveredAt, confirmedAt } = await deadline('a command', times)
    if (n < 0) continue
    delivered.push(deliveredAt - startedAt)
    confirmed.push(confirmedAt - startedAt)
  }
  return { delivered, confirmed }
}

/** Measures freeing, because it costs as much as arming and every host supports it. */
const measureMany = async (server: Installation, token: string): Promise<Finding[]> => {
  const page = await server.call('/prime/webui/agents?PageSize=10000&DeploymentMode=Agent', undefined, token)
  const uuids = (page.data as { uuid: string }[]).map((row) => row.uuid)
  const queued = async (jobId: string, count: number): Promise<boolean> => {
    const path = `/prime/webui/agents/commands?PageSize=1&jobId=${jobId}`
    return Number((await server.call(path, undefined, token)).recordsFiltered) >= count
  }
  const allQueued = (jobId: string, count: number) =>
    deadline(
      'the job',
      (async () => {
        while (!(await queued(jobId, count))) await pause(50)
      })(),
    )
  const startedAt = performance.now()
  await server.call(
    '/prime/webui/agents/configuration',
    uuids.map((uuid) => ({ uuid, agentConfigViewResource: { isSystemArmed: 'free' } })),
    token,
  )
  const requestMs = performance.now() - startedAt
  const jobs = (await server.call('/prime/webui/jobs', undefined, token)).data as { id: string; kind: string }[]
  await allQueued(
    mustExist(jobs.find(({ kind }) => kind === 'modes')?.id, 'the job of the configuration'),
    uuids.length,
  )
  const configuredMs = performance.now() - startedAt
  const bulkAt = performance.now()
  const bulk = await server.call('/prime/webui/agents/bulk', { uuids, action: 'free' }, token)
  const bulkMs = performance.now() - bulkAt
  await allQueued(String(bulk.jobId), Number(bulk.accepted))
  const jobMs = performance.now() - bulkAt
  return [
    atMost(
      'configuration of up to 10,000 hosts: answered',
      round(requestMs),
      requestLimitMs,
      'ms',
      `${uuids.length} hosts`,
    ),
    atMost('configuration of up to 10,000 hosts: all signed and queued', round(configuredMs), queuedLimitMs, 'ms'),
    figure('bulk on up to 10,000 hosts: answered', round(bulkMs), 'ms'),
    atMost('bulk on up to 10,000 hosts: all signed and queued', round(jobMs), queuedLimitMs, 'ms'),
  ]
}

export const benchCommand = async ({ server, fleet, isQuick }: Prepared): Promise<BenchResult> => {
  const rounds = isQuick ? 20 : 60
  let listeners: Listener[] = []
  try {
    const token = await server.signIn()
    listeners = await listen(server, await server.enrolmentToken(listening, token))
    const { delivered, confirmed } = await measureOne(server, listeners, token, rounds)
    // Freeing this many hosts needs fresh authentication.
    const many = await measureMany(server, await server.signIn())
    return {
      what: `${fleet.agents} hosts, ${listening} with a wake socket, ${rounds} commands to one host each, from the request on`,
      findings: [
        atMost('delivered to a connected host, p50', round(percentile(delivered, 0.5)), deliveryLimitMs, 'ms'),
        figure('delivered, p95', round(percentile(delivered, 0.95)), 'ms'),
        figure('confirmed by the host, p50', round(percentile(confirmed, 0.5)), 'ms'),
        ...many,
      ],
    }
  } finally {
    await Promise.allSettled(listeners.map(({ stop }) => stop()))
  }
}
