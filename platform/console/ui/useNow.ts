import { useSyncExternalStore } from 'react'
import { useServices } from '../lib/services.tsx'

// One timer for all relative times, so that they never contradict each other.
const tick = 5_000
const watchers = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let shown = 0

/** Returns the time of the last tick, ms since 1970. */
export const useNow = (): number => {
  const { clock } = useServices()
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher)
      timer ??= setInterval(() => {
        shown = clock.now()
        for (const each of watchers) each()
      }, tick)
      return () => {
        watchers.delete(watcher)
        if (watchers.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
    () => {
      if (timer === undefined && clock.now() - shown > tick) shown = clock.now()
      return shown
    },
  )
}
