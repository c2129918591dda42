import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useTest } from '@portcullis/platform/console/ui/steps/useTest.ts'
import { useCallback } from 'react'
import { type ConnectionInput, type ConnectionTest, readConnectionTest, testConnection } from '#features/contract.ts'

// Milliseconds between requests, while a person watches the test.
const askAgain = 500

/** Tests a connection and follows the test until it is done, another one starts or the form closes. */
export const useConnectionTest = () => {
  const { api } = useServices()
  const { result: test, setResult: setTest, failure, busy, start: run, stop: halt } = useTest<ConnectionTest>()
  const stop = useCallback(() => {
    halt()
    setTest((old) => (old?.state === 'done' ? old : null))
  }, [halt, setTest])
  const start = useCallback(
    (body: ConnectionInput) =>
      run(async (signal) => {
        let now = await api.call(testConnection, { body, signal })
        while (!signal.aborted) {
          setTest(now)
          if (now.state === 'done') break
          await new Promise((resolve) => setTimeout(resolve, askAgain))
          if (signal.aborted) return
          now = await api.call(readConnectionTest, { params: { id: now.id }, signal })
        }
      }),
    [api, run, setTest],
  )
  return { test, failure, busy, start, stop }
}
