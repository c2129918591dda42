import type { Clock } from '@portcullis/platform/server/clock.ts'
import { NacFault } from './fault.ts'

/** Requests that arrive within any second. ISE serves 100; beyond that it silently gets slow for everybody. */
const perSecond = 10
/** Failures in a row after which requests pause. */
const failuresToPause = 5
const pauseMs = 30_000

export interface TrafficManner {
  /** Also ends the wait for a turn. An abort does not count as a failure of the system. */
  signal?: AbortSignal | undefined
  /** A connection test by a person: ignores a pause, and neither starts nor ends one. */
  isTest?: boolean | undefined
  /** A live view for a person: waits until no quarantine waits. */
  isLive?: boolean | undefined
}

/** How a client makes its requests. */
export interface Manner extends TrafficManner {
  /** Called before each request; throws if this server must stop. */
  before?(): Promise<void>
}

export type Traffic = ReturnType<typeof createTraffic>

/** Limits the rate of requests to a system, and pauses while it is down. One per system and process. */
export const createTraffic = ({ clock, name }: { clock: Clock; name: string }) => {
  let free = perSecond
  /** Waiting requests in order. The second queue, for live views, has lower priority. */
  const first = new Set<() => void>()
  const second = new Set<() => void>()
  let failures = 0
  let pausedUntil = 0
  let reason = ''

  const late = (): NacFault => new NacFault('away', 'answer', `${name} did not answer in time.`)
  async function turn(queue: Set<() => void>, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) throw late()
    if (free > 0) {
      free--
      return
    }
    await new Promise<void>((resolve, reject) => {
      function go(): void {
        signal?.removeEventListener('abort', stop)
        resolve()
      }
      // Leaves the queue, so that an aborted request does not use up a turn.
      function stop(): void {
        queue.delete(go)
        reject(late())
      }
      queue.add(go)
      signal?.addEventListener('abort', stop, { once: true })
    })
  }
  /**
   * Releases a turn one second after the response, not after the request. At most ten requests then arrive within one
   * second, however long they travel. Counted from their start, eleven did.
   */
  function leave(): void {
    setTimeout(() => {
      const queue = first.size > 0 ? first : second
      const [next] = queue
      if (next === undefined) free++
      else {
        queue.delete(next)
        next()
      }
    }, 1_000).unref()
  }

  return {
    /** Runs one exchange when its turn comes. */
    run: async <T>(work: () => Promise<T>, manner: TrafficManner = {}): Promise<T> => {
      const { signal, isTest = false, isLive = false } = manner
      if (!isTest && clock.now() < pausedUntil)
        throw new NacFault('away', 'connect', `Requests to ${name} pause for 30 seconds after five failures: ${reason}`)
      // One request probes the system; the others keep waiting.
      if (!isTest && failures >= failuresToPause) pausedUntil = clock.now() + pauseMs
      await turn(isLive || isTest ? second : first, signal)
      try {
        const result = await work()
        if (!isTest) {
          failures = 0
          pausedUntil = 0
        }
        return result
      } catch (error) {
        if (!isTest && signal?.aborted !== true && error instanceof NacFault && error.kind === 'away') {
          failures++
          reason = error.message
          if (failures >= failuresToPause) pausedUntil = clock.now() + pauseMs
        }
        throw error
      } finally {
        leave()
      }
    },
    /** Ends a pause after a change of the configuration. */
    resume: (): void => {
      failures = 0
      pausedUntil = 0
    },
  }
}
