import { useCallback, useEffect, useRef, useState } from 'react'

/** Runs a test and holds its state. Another test, or leaving the page, stops it. */
export const useTest = <Result>() => {
  const [result, setResult] = useState<Result | null>(null)
  const [failure, setFailure] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const under = useRef<AbortController | null>(null)
  const stop = useCallback(() => {
    under.current?.abort()
    under.current = null
    setBusy(false)
  }, [])
  useEffect(() => () => under.current?.abort(), [])

  const start = useCallback(async (run: (signal: AbortSignal) => Promise<void>) => {
    under.current?.abort()
    const control = new AbortController()
    under.current = control
    setBusy(true)
    setFailure(null)
    setResult(null)
    try {
      await run(control.signal)
    } catch (reason) {
      if (!control.signal.aborted) setFailure(reason)
    } finally {
      if (under.current === control) setBusy(false)
    }
  }, [])
  return { result, setResult, failure, busy, start, stop }
}
