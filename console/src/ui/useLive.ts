import type { LiveEvents } from '@portcullis/contract'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import type { LiveTopic } from '../lib/live.ts'
import { useServices } from '../lib/services.tsx'

/** Hears a topic of the live channel while the component is shown. */
export const useLive = <T extends LiveTopic>(topic: T, listener: (data: LiveEvents[T]) => void): void => {
  const { live } = useServices()
  const latest = useRef(listener)
  latest.current = listener
  useEffect(() => live.on(topic, (data) => latest.current(data)), [live, topic])
}

export const useLiveStatus = () => {
  const { live } = useServices()
  return useSyncExternalStore(live.watch, live.status)
}
