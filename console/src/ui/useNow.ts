import { useSyncExternalStore } from 'react'
import { useServices } from '../lib/services.tsx'

// All relative times of the console tick together, so that two of them never contradict each other.
const tick = 5_000
const watchers = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let shown = 0

/** The time as of the last common tick, ms since 1970. */
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
