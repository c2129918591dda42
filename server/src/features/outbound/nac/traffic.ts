import type { Clock } from '#platform/clock.ts'
import { NacFault } from './fault.ts'

/** Requests that arrive there within any second. ISE takes 100 and says nothing when it is more, it gets slow for everybody. */
const perSecond = 10
/** Failures in a row after which nothing is asked for a while. */
const failuresToPause = 5
const pauseMs = 30_000

export interface TrafficManner {
  /** Ends the wait for a turn too. What is ended by it says nothing about the system. */
  signal?: AbortSignal | undefined
  /** A person tries a configuration: goes through a pause, and neither begins nor ends one. */
  isTrial?: boolean | undefined
  /** A person looks: takes its turn after everything that carries out quarantines. */
  isLive?: boolean | undefined
}

export type Traffic = ReturnType<typeof createTraffic>

/** Keeps a system from being asked too often, and while it is down. One per system and process. */
export const createTraffic = ({ clock, name }: { clock: Clock; name: string }) => {
  let free = perSecond
  /** In the order in which they are served; what waits for people comes second. */
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
      // Leaves the queue: a turn for somebody who is gone would be taken from the others.
      function stop(): void {
        queue.delete(go)
        reject(late())
      }
      queue.add(go)
      signal?.addEventListener('abort', stop, { once: true })
    })
  }
  /**
   * A place is given on a second after its request was answered, not after it was sent: however long requests were on
   * their way, no more than ten arrive within one second (counted by their start, eleven did).
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
    /** Runs one exchange in its turn. */
    run: async <T>(work: () => Promise<T>, manner: TrafficManner = {}): Promise<T> => {
      const { signal, isTrial = false, isLive = false } = manner
      if (!isTrial && clock.now() < pausedUntil)
        throw new NacFault('away', 'connect', `${name} is left alone for half a minute after five failures: ${reason}`)
      // One finds out whether it is back, the others keep away meanwhile.
      if (!isTrial && failures >= failuresToPause) pausedUntil = clock.now() + pauseMs
      await turn(isLive || isTrial ? second : first, signal)
      try {
        const result = await work()
        if (!isTrial) {
          failures = 0
          pausedUntil = 0
        }
        return result
      } catch (error) {
        if (!isTrial && signal?.aborted !== true && error instanceof NacFault && error.kind === 'away') {
          failures++
          reason = error.message
          if (failures >= failuresToPause) pausedUntil = clock.now() + pauseMs
        }
        throw error
      } finally {
        leave()
      }
    },
    /** Asks again at once: the configuration changed. */
    resume: (): void => {
      failures = 0
      pausedUntil = 0
    },
  }
}
