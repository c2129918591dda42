/** A wall clock for timestamps and a monotonic clock for durations (a host's clock may jump). */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds since an arbitrary start. Never decreases. */
  monotonic(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}

/** Resolves after `ms` or when the signal is aborted. Never rejects. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    function done() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done)
  })
