import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '#platform/clock.ts'
import { NacFault } from './fault.ts'

/** Requests that begin within any second. ISE takes 100 and says nothing when it is more, it gets slow for everybody. */
const perSecond = 10
/** A little over a second: requests that leave a second apart may arrive closer together. */
const windowMs = 1_100
/** Failures in a row after which nothing is asked for a while. */
const failuresToPause = 5
const pauseMs = 30_000

export type Traffic = ReturnType<typeof createTraffic>

/** Keeps a system from being asked too often, and while it is down. One per system and process. */
export const createTraffic = ({ clock, name }: { clock: Clock; name: string }) => {
  const begun: number[] = []
  let queue: Promise<void> = Promise.resolve()
  let failures = 0
  let pausedUntil = 0
  let reason = ''

  const turn = (): Promise<void> => {
    const mine = queue.then(async () => {
      const [oldest] = begun
      if (begun.length >= perSecond && oldest !== undefined) {
        const wait = oldest + windowMs - performance.now()
        if (wait > 0) await sleep(wait)
        begun.shift()
      }
      begun.push(performance.now())
    })
    queue = mine
    return mine
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
      }
    },
    /** Asks again at once: the configuration changed. */
    resume: (): void => {
      failures = 0
      pausedUntil = 0
    },
  }
}
