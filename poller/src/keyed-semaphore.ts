/** Room for so many at a time under each name; who comes later waits in line. */
export interface KeyedSemaphore {
  /** Waits for room and returns what gives it back; rejects with the reason of the signal. */
  take(name: string, signal: AbortSignal): Promise<() => void>
}

export const createKeyedSemaphore = (each: number): KeyedSemaphore => {
  const lines = new Map<string, { taken: number; waiting: (() => void)[] }>()

  function giveBack(name: string): void {
    const line = lines.get(name)
    if (line === undefined) return
    const next = line.waiting.shift()
    if (next !== undefined) next()
    else if (--line.taken === 0) lines.delete(name)
  }

  return {
    take: async (name, signal) => {
      signal.throwIfAborted()
      const line = lines.get(name) ?? { taken: 0, waiting: [] }
      lines.set(name, line)
      if (line.taken < each) line.taken++
      else
        await new Promise<void>((resolve, reject) => {
          function leave(): void {
            line.waiting.splice(line.waiting.indexOf(go), 1)
            reject(signal.reason as Error)
          }
          // The room of who leaves goes over to the next one: `taken` stays.
          function go(): void {
            signal.removeEventListener('abort', leave)
            resolve()
          }
          line.waiting.push(go)
          signal.addEventListener('abort', leave, { once: true })
        })
      let isGiven = false
      return () => {
        if (!isGiven) giveBack(name)
        isGiven = true
      }
    },
  }
}
