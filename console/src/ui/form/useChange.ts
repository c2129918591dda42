import { useState } from 'react'
import { isStoredRequest } from '../../lib/problem.ts'

/** Sends a change: whether it is under way, and why it failed. After a success the form closes, so it stays busy. */
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
