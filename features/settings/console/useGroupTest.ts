import type { ConfigGroupName, ConfigTested } from '@portcullis/contract'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useCallback, useEffect, useRef, useState } from 'react'
import { groupTests } from './operations.ts'

/** Tests a group with the entered values. The test stops when the page closes. */
export const useGroupTest = (group: ConfigGroupName) => {
  const { api, queries } = useServices()
  const [result, setResult] = useState<ConfigTested | null>(null)
  const [failure, setFailure] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const under = useRef<AbortController | null>(null)
  const stop = useCallback(() => {
    under.current?.abort()
    under.current = null
    setBusy(false)
  }, [])
  useEffect(() => () => under.current?.abort(), [])

  const start = useCallback(
    async (body: Record<string, string | null>) => {
      const operation = groupTests[group]?.operation
      if (operation === undefined) return
      under.current?.abort()
      const control = new AbortController()
      under.current = control
      setBusy(true)
      setFailure(null)
      setResult(null)
      try {
        setResult(await api.call(operation, { body, signal: control.signal }))
      } catch (reason) {
        if (!control.signal.aborted) setFailure(reason)
      } finally {
        if (under.current === control) setBusy(false)
        void queries.invalidateQueries({ queryKey: ['integrations'] })
      }
    },
    [api, queries, group],
  )
  return { result, failure, busy, start, stop }
}

export type GroupTestState = ReturnType<typeof useGroupTest>
