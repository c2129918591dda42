/** Runs many simulated hosts at once. */
import { type HostAgent, Refused } from './host-agent.ts'
import { createPercentiles } from './percentiles.ts'
import type { Random } from './random.ts'
import { Over, type Waits } from './waits.ts'

/** What a run did; the last line of `--json`. */
export interface FleetReport {
  /** Hosts that were enrolled. */
  agents: number
  /** Check-ins the server acknowledged. */
  checkIns: number
  /** Requests that failed; each was tried again unless the server refused the host for good. */
  errors: number
  p50Ms: number
  p95Ms: number
  p99Ms: number
  /** Acknowledged check-ins per second. */
  perSecond: number
}

export interface FleetOptions {
  agents: readonly HostAgent[]
  /** Enrolment token of an agent. */
  tokenFor(agent: HostAgent): string
  intervalMs: number
  durationMs: number
  /** Hosts that hold a wake socket; the others hear of commands with their next check-in. */
  wakeSockets: number
  /** Opens the socket of a host, whose check-in is asked for by `onWake`; returns how it is closed. */
  listen(agent: HostAgent, onWake: () => void): () => void
  /** Devices plugged in or taken away per second, over the whole fleet. */
  plugRate: number
  random: Random
  waits: Waits
  /** Failed requests so far. */
  errors(): number
  /** Called as hosts join. */
  progress(joined: number): void
  /** All are enrolled; the duration starts now. */
  enrolled(joined: readonly HostAgent[]): void
}

/** Enrolments on their way at once; the server takes them one after the other anyway, since each counts a use. */
const enrolConcurrency = 16
/** Share of what happens that happens where an attack tool is around. */
const visitedShare = 0.03
const longestTimerMs = 2_147_483_647

const round = (value: number): number => Math.round(value * 100) / 100

/** True for the ends of an agent's life that are no fault of ours. */
const isExpected = (error: unknown): boolean => error instanceof Refused || error instanceof Over

const enrolAll = async (o: FleetOptions): Promise<HostAgent[]> => {
  const joined: HostAgent[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < o.agents.length && !o.waits.isOver()) {
      const agent = o.agents[next++] as HostAgent
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

/** Enrols all agents, then lets each check in at once and every interval until the duration is over. */
export const runFleet = async (o: FleetOptions): Promise<FleetReport> => {
  const { waits, random } = o
  const joined = await enrolAll(o)
  o.enrolled(joined)
  const times = createPercentiles()
  const startedAt = performance.now()
  const endsAt = startedAt + o.durationMs
  const queues = new Map<HostAgent, Promise<void>>()
  const timer = o.durationMs > longestTimerMs ? undefined : setTimeout(waits.end, o.durationMs)

  /** One check-in at a time per agent, as with a real one. */
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

  const live = async (agent: HostAgent): Promise<void> => {
    await checkIn(agent, undefined)
    // From the first answer on: the first reports of ten thousand hosts take their time, and so the fleet spreads over
    // the interval by itself instead of knocking all at once for ever.
    for (let due = performance.now() + o.intervalMs; due < endsAt; due += o.intervalMs) {
      await waits.sleep(due - performance.now())
      await checkIn(agent, due)
    }
  }

  const visited = joined.filter((agent) => agent.inventory.isVisited)
  const plug = async (): Promise<void> => {
    if (o.plugRate <= 0 || joined.length === 0) return
    for (;;) {
      await waits.sleep((-Math.log(1 - random.next()) * 1000) / o.plugRate)
      const agent = random.pick(visited.length > 0 && random.chance(visitedShare) ? visited : joined)
      if (agent.isRefused()) continue
      agent.happen()
      checkIn(agent, undefined).catch(() => {})
    }
  }

  const sockets = joined.slice(0, o.wakeSockets).map((agent) =>
    o.listen(agent, () => {
      checkIn(agent, undefined).catch(() => {})
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
