import type { Clock } from '#platform/clock.ts'
import { NacFault } from './fault.ts'

/** Requests that arrive there within any second. ISE takes 100 and says nothing when it is more, it gets slow for everybody. */
const perSecond = 10
/** Failures in a row after which nothing is asked for a while. */
const failuresToPause = 5
const pauseMs = 30_000

export type Traffic = ReturnType<typeof createTraffic>

/** Keeps a system from being asked too often, and while it is down. One per system and process. */
export const createTraffic = ({ clock, name }: { clock: Clock; name: string }) => {
  let free = perSecond
  const queue: (() => void)[] = []
  let failures = 0
  let pausedUntil = 0
  let reason = ''

  const turn = async (): Promise<void> => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => queue.push(resolve))
  }
  /**
   * A place is given on a second after its request was answered, not after it was sent: however long requests were on
   * their way, no more than ten arrive within one second (counted by their start, eleven did).
   */
  const leave = (): void => {
    setTimeout(() => {
      const next = queue.shift()
      if (next === undefined) free++
      else next()
    }, 1_000).unref()
  }

  return {
    /** Runs one exchange in its turn. `isTrial` goes through a pause: a person asked. */
    run: async <T>(work: () => Promise<T>, isTrial = false): Promise<T> => {
      if (!isTrial && clock.now() < pausedUntil)
        throw new NacFault('away', 'connect', `${name} is left alone for half a minute after five failures: ${reason}`)
      // One finds out whether it is back, the others keep away meanwhile.
      if (failures >= failuresToPause) pausedUntil = clock.now() + pauseMs
      await turn()
      try {
        const result = await work()
        failures = 0
        pausedUntil = 0
        return result
      } catch (error) {
        if (error instanceof NacFault && error.kind === 'away') {
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
