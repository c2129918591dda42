/** A semaphore for each name. Callers wait in the order of their calls. */
export interface KeyedSemaphore {
  /** Waits for a permit and returns a function that releases it. Rejects with the reason of the signal. */
  acquire(name: string, signal: AbortSignal): Promise<() => void>
}

/** Creates a semaphore with `each` permits per name. */
export const createKeyedSemaphore = (each: number): KeyedSemaphore => {
  const queues = new Map<string, { taken: number; waiting: (() => void)[] }>()

  function release(name: string): void {
    const queue = queues.get(name)
    if (queue === undefined) return
    const next = queue.waiting.shift()
    if (next !== undefined) next()
    else if (--queue.taken === 0) queues.delete(name)
  }

  return {
    acquire: async (name, signal) => {
      signal.throwIfAborted()
      const queue = queues.get(name) ?? { taken: 0, waiting: [] }
      queues.set(name, queue)
      if (queue.taken < each) queue.taken++
      else
        await new Promise<void>((resolve, reject) => {
          function leave(): void {
            queue.waiting.splice(queue.waiting.indexOf(go), 1)
            reject(signal.reason as Error)
          }
          // The permit passes to the next caller, so `taken` does not change.
          function go(): void {
            signal.removeEventListener('abort', leave)
            resolve()
          }
          queue.waiting.push(go)
          signal.addEventListener('abort', leave, { once: true })
        })
      let isReleased = false
      return () => {
        if (!isReleased) release(name)
        isReleased = true
      }
    },
  }
}
