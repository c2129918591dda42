import { useState } from 'react'
import { isStoredRequest } from '../../lib/problem.ts'

/** Runs a change and holds its state. It stays busy after success, because the form then closes. */
export const useChange = () => {
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const run = async (work: () => Promise<void>) => {
    setBusy(true)
    setFailure(null)
    try {
      await work()
    } catch (cause) {
      setFailure(cause)
      setBusy(false)
    }
  }
  return { busy, failure, isStored: isStoredRequest(failure), run }
}
