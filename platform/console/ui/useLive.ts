import { useEffect, useEffectEvent, useSyncExternalStore } from 'react'
import type { LiveEvents } from '../../contract/live.ts'
import type { LiveTopic } from '../lib/live.ts'
import { useServices } from '../lib/services.tsx'
import { throttle } from '../lib/throttle.ts'

/** Subscribes to a topic of the live channel while the component is mounted. */
export const useLive = <T extends LiveTopic>(topic: T, listener: (data: LiveEvents[T]) => void): void => {
  const { live } = useServices()
  const hear = useEffectEvent(listener)
  useEffect(() => live.on(topic, (data) => hear(data)), [live, topic])
}

/** Calls `refresh` after changes of any topic, at most once per `gap` ms. The server can report changes every second. */
export const useLiveRefresh = (topics: readonly LiveTopic[], gap: number, refresh: () => void): void => {
  const { live, clock } = useServices()
  const run = useEffectEvent(refresh)
  const names = topics.join(' ')
  useEffect(() => {
    const { call, stop } = throttle(() => run(), gap, clock)
    const stops = names.split(' ').map((topic) => live.on(topic as LiveTopic, call))
    return () => {
      stop()
      for (const each of stops) each()
    }
  }, [live, clock, names, gap])
}

export const useLiveStatus = () => {
  const { live } = useServices()
  return useSyncExternalStore(live.watch, live.status)
}
