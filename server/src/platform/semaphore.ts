import { AppError } from './app-error.ts'

export interface SlotsOptions {
  /** How many may be under way. */
  atOnce: number
  /** How many may wait for one; the others are told at once to come back. */
  waiting: number
  /** How long one waits, in milliseconds. */
  waitMs: number
  /** Seconds after which those who got none ask again, spread so that they do not come back together. */
  comeBack: { after: number; spread: number }
}

/** Lets so many through at a time, the others in the order in which they came. */
export const createSemaphore = ({ atOnce, waiting, waitMs, comeBack }: SlotsOptions) => {
  let taken = 0
  const queue = new Set<() => void>()

  function later(): AppError {
    const seconds = comeBack.after + Math.floor(Math.random() * comeBack.spread)
    return new AppError('unavailable', {}, { headers: { 'retry-after': String(seconds) } })
  }

  const wait = (): Promise<void> =>
    new Promise((resolve, reject) => {
      function go(): void {
        clearTimeout(timer)
        queue.delete(go)
        resolve()
      }
      const timer = setTimeout(() => {
        queue.delete(go)
        reject(later())
      }, waitMs).unref()
      queue.add(go)
    })

  return {
    /** Takes a slot; refused with a time to come back when there is none for too long. */
    enter: async (): Promise<void> => {
      if (taken < atOnce) taken++
      else if (queue.size >= waiting) throw later()
      else await wait()
    },
    /** Gives it back: to who waits longest. */
    leave: (): void => {
      const [next] = queue
      if (next === undefined) taken--
      else next()
    },
  }
}
