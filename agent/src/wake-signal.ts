/** Creates a latch that ends a wait early. A signal without a waiter ends the next wait. */
export const createWakeSignal = () => {
  let isSet = false
  let wake: (() => void) | undefined
  return {
    send(): void {
      isSet = true
      wake?.()
    },
    /** Resolves after `ms`, on a signal of this latch or when the signal is aborted, and clears the latch. */
    async wait(ms: number, signal: AbortSignal): Promise<void> {
      if (!isSet && !signal.aborted && ms > 0) {
        await new Promise<void>((resolve) => {
          function done() {
            clearTimeout(timer)
            signal.removeEventListener('abort', done)
            resolve()
          }
          const timer = setTimeout(done, ms)
          signal.addEventListener('abort', done)
          wake = done
        })
      }
      wake = undefined
      isSet = false
    },
  }
}
export type WakeSignal = ReturnType<typeof createWakeSignal>
