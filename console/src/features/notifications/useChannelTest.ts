import { type Channel, type ConfigTested, type NotificationGroup, testNotificationChannel } from '@portcullis/contract'
import { useEffect, useRef, useState } from 'react'
import { useServices } from '../../lib/services.tsx'
import { type Draft, triedOf } from './draft.ts'

export interface Trial {
  channel: Channel
  busy: boolean
  result: ConfigTested | null
  failure: unknown
}

/** Tests one channel of a group with what is entered. A new test stops the one before. */
export const useChannelTest = (group: NotificationGroup) => {
  const { api } = useServices()
  const [trial, setTrial] = useState<Trial | null>(null)
  const under = useRef<AbortController | null>(null)
  useEffect(() => () => under.current?.abort(), [])
  const start = async (channel: Channel, draft: Draft) => {
    under.current?.abort()
    const control = new AbortController()
    under.current = control
    setTrial({ channel, busy: true, result: null, failure: null })
    const answer = (result: ConfigTested | null, reason: unknown) => {
      if (!control.signal.aborted) setTrial({ channel, busy: false, result, failure: reason })
    }
    await api
      .call(testNotificationChannel, {
        body: { id: group.id, channel, channels: triedOf(draft, channel) },
        signal: control.signal,
      })
      .then(
        (result) => answer(result, null),
        (reason: unknown) => answer(null, reason),
      )
  }
  const stop = () => {
    under.current?.abort()
    setTrial(null)
  }
  return { trial, start, stop, forget: () => setTrial(null) }
}
