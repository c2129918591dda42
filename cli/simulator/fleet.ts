/** Runs many simulated hosts. */
import { mustExist } from '@portcullis/domain'
import { type HostAgent, Refused } from './host-agent.ts'
import { createPercentiles } from './percentiles.ts'
import type { Random } from './random.ts'
import { Over, type Waits } from './waits.ts'

/** Result of a run. With `--json`, the last line of output. */
export interface FleetReport {
  /** Number of enrolled hosts. */
  agents: number
  /** Number of check-ins that the server acknowledged. */
  checkIns: number
  /** Number of failed requests. Each was retried unless the server refused the host permanently. */
  errors: number
  p50Ms: number
  p95Ms: number
  p99Ms: number
  /** Acknowledged check-ins per second. */
  perSecond: number
}

export interface FleetOptions {
  agents: readonly HostAgent[]
  /** Returns the enrolment token for an agent. */
  tokenFor(agent: HostAgent): string
  intervalMs: number
  durationMs: number
  /** Number of hosts with a wake socket. The others get commands with their next check-in. */
  wakeSockets: number
  /** Opens the wake socket of a host and returns a function that closes it. A wake message calls `onWake`. */
  listen(agent: HostAgent, onWake: () => void): () => void
  /** Share of hosts that are offline for a quarter of the time. */
  offlineShare: number
  /** Devices attached or removed per second in the fleet. */
  plugRate: number
  random: Random
  waits: Waits
  /** Returns the number of failed requests. */
  errors(): number
  /** Called after each enrolled host. */
  progress(joined: number): void
  /** Called when all hosts are enrolled and the duration starts. */
  enrolled(joined: readonly HostAgent[]): void
}

/** Concurrent enrolments. The server processes them one by one, because each counts as a use of the token. */
const enrolConcurrency = 16
/** Share of device changes on hosts with an attack tool. */
const attackedShare = 0.03
/** Length of one cycle of a host that is sometimes offline, and of its offline time, in check-in intervals. */
const cycleIntervals = 40
const offlineIntervals = 10
const longestTimerMs = 2_147_483_647

const round = (value: number): number => Math.round(value * 100) / 100

/** Returns whether an error is an expected end of a simulated host. */
const isExpected = (error: unknown): boolean => error instanceof Refused || error instanceof Over

const enrolAll = async (o: FleetOptions): Promise<HostAgent[]> => {
  const joined: HostAgent[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < o.agents.length && !o.waits.isOver()) {
      const agent = mustExist(o.agents[next++], 'an agent')
      try {
        await agent.join(o.tokenFor(agent))
        joined.push(agent)
        o.progress(joined.length)
      } catch (error) {
        if (!isExpected(error)) throw error
      }
    }
  }
  await Promise.all(Array.from({ length: enrolConcurrency }, worker))
  return joined
}

/** Enrols all hosts. Each one then checks in at once and at every interval until the duration ends. */
export const runFleet = async (o: FleetOptions): Promise<FleetReport> => {
  const { waits, random } = o
  const joined = await enrolAll(o)
  o.enrolled(joined)
  const times = createPercentiles()
  const startedAt = performance.now()
  const endsAt = startedAt + o.durationMs
  const queues = new Map<HostAgent, Promise<void>>()
  const timer = o.durationMs > longestTimerMs ? undefined : setTimeout(waits.end, o.durationMs)

  /** Runs one check-in at a time per host, as a real agent does. */
  const checkIn = (agent: HostAgent, dueAt: number | undefined): Promise<void> => {
    const run = (queues.get(agent) ?? Promise.resolve()).then(() =>
      waits.isOver() ? undefined : agent.checkIn(dueAt, times.add),
    )
    queues.set(
      agent,
      run.catch(() => {}),
    )
    return run
  }

  const offline = new Set(joined.filter(() => random.chance(o.offlineShare)))
  /** Returns whether a host cannot reach the server now. Its changes wait for the next check-in. */
  const isOffline = (agent: HostAgent): boolean => {
    if (!offline.has(agent)) return false
    const intervals = (performance.now() - startedAt) / o.intervalMs + agent.host.index
    return intervals % cycleIntervals >= cycleIntervals - offlineIntervals
  }

  const live = async (agent: HostAgent): Promise<void> => {
    await checkIn(agent, undefined)
    // The interval starts with the first answer. The first reports of 10,000 hosts take time, so the fleet spreads over
    // the interval instead of checking in all at once.
    for (let due = performance.now() + o.intervalMs; due < endsAt; due += o.intervalMs) {
      await waits.sleep(due - performance.now())
      if (!isOffline(agent)) await checkIn(agent, due)
    }
  }

  const attacked = joined.filter((agent) => agent.inventory.isAttacked)
  const plug = async (): Promise<void> => {
    if (o.plugRate <= 0 || joined.length === 0) return
    for (;;) {
      await waits.sleep((-Math.log(1 - random.next()) * 1000) / o.plugRate)
      const agent = random.pick(attacked.length > 0 && random.chance(attackedShare) ? attacked : joined)
      if (agent.isRefused()) continue
      agent.changeDevices()
      if (!isOffline(agent)) checkIn(agent, undefined).catch(() => {})
    }
  }

  const sockets = joined.slice(0, o.wakeSockets).map((agent) =>
    o.listen(agent, () => {
      if (!isOffline(agent)) checkIn(agent, undefined).catch(() => {})
    }),
  )
  const settled = await Promise.allSettled([...joined.map(live), plug()])
  clearTimeout(timer)
  for (const close of sockets) close()
  const seconds = (performance.now() - startedAt) / 1000
  for (const result of settled) if (result.status === 'rejected' && !isExpected(result.reason)) throw result.reason
  return {
    agents: joined.length,
    checkIns: times.count(),
    errors: o.errors(),
    p50Ms: round(times.at(0.5)),
    p95Ms: round(times.at(0.95)),
    p99Ms: round(times.at(0.99)),
    perSecond: round(times.count() / seconds),
  }
}
