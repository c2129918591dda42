import { AppError } from './app-error.ts'

export interface SlotsOptions {
  /** Maximum number of concurrent holders. */
  atOnce: number
  /** Maximum number of waiting callers; others are refused with a retry time. */
  waiting: number
  /** Longest wait in milliseconds. */
  waitMs: number
  /** Seconds after which refused callers may retry, spread so that they do not return together. */
  comeBack: { after: number; spread: number }
}

/** Limits concurrent work; waiting callers continue in the order of their arrival. */
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
    /** Takes a slot. Throws with a retry time if none becomes free in time. */
    enter: async (): Promise<void> => {
      if (taken < atOnce) taken++
      else if (queue.size >= waiting) throw later()
      else await wait()
    },
    /** Releases the slot to the caller that waits longest. */
    leave: (): void => {
      const [next] = queue
      if (next === undefined) taken--
      else next()
    },
  }
}
