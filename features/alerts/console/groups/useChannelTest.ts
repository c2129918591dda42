import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useEffect, useRef, useState } from 'react'
import { type Channel, type ConfigTested, type NotificationGroup, testNotificationChannel } from '#features/contract.ts'
import { type Draft, testBodyOf } from './draft.ts'

export interface TestState {
  channel: Channel
  busy: boolean
  result: ConfigTested | null
  failure: unknown
}

/** Tests one channel of a group with the entered values. A new test stops the previous one. */
export const useChannelTest = (group: NotificationGroup) => {
  const { api } = useServices()
  const [test, setTest] = useState<TestState | null>(null)
  const under = useRef<AbortController | null>(null)
  useEffect(() => () => under.current?.abort(), [])
  const start = async (channel: Channel, draft: Draft) => {
    under.current?.abort()
    const control = new AbortController()
    under.current = control
    setTest({ channel, busy: true, result: null, failure: null })
    const answer = (result: ConfigTested | null, reason: unknown) => {
      if (!control.signal.aborted) setTest({ channel, busy: false, result, failure: reason })
    }
    await api
      .call(testNotificationChannel, {
        body: { id: group.id, channel, channels: testBodyOf(draft, channel) },
        signal: control.signal,
      })
      .then(
        (result) => answer(result, null),
        (reason: unknown) => answer(null, reason),
      )
  }
  const stop = () => {
    under.current?.abort()
    setTest(null)
  }
  return { test, start, stop, forget: () => setTest(null) }
}
