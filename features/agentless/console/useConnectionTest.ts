import { type ConnectionInput, type ConnectionTest, readConnectionTest, testConnection } from '@portcullis/contract'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useCallback, useEffect, useRef, useState } from 'react'

// Milliseconds between requests, while a person watches the test.
const askAgain = 500

/** Tests a connection and follows the test until it is done, another one starts or the form closes. */
export const useConnectionTest = () => {
  const { api } = useServices()
  const [test, setTest] = useState<ConnectionTest | null>(null)
  const [failure, setFailure] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const under = useRef<AbortController | null>(null)
  const stop = useCallback(() => {
    under.current?.abort()
    under.current = null
    setBusy(false)
    setTest((old) => (old?.state === 'done' ? old : null))
  }, [])
  useEffect(() => () => under.current?.abort(), [])

  const start = useCallback(
    async (body: ConnectionInput) => {
      under.current?.abort()
      const control = new AbortController()
      under.current = control
      const { signal } = control
      setBusy(true)
      setFailure(null)
      setTest(null)
      try {
        let now = await api.call(testConnection, { body, signal })
        while (!signal.aborted) {
          setTest(now)
          if (now.state === 'done') break
          await new Promise((resolve) => setTimeout(resolve, askAgain))
          if (signal.aborted) return
          now = await api.call(readConnectionTest, { params: { id: now.id }, signal })
        }
      } catch (reason) {
        if (!signal.aborted) setFailure(reason)
      } finally {
        if (under.current === control) setBusy(false)
      }
    },
    [api],
  )
  return { test, failure, busy, start, stop }
}
