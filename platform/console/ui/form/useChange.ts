import { useState } from 'react'
import { isStoredRequest } from '../../lib/problem.ts'

/** Runs a change and holds its state. After success, it stays busy if the form `closes`. */
export const useChange = ({ closes = true } = {}) => {
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const run = async (work: () => Promise<void>) => {
    setBusy(true)
    setFailure(null)
    try {
      await work()
      if (!closes) setBusy(false)
    } catch (cause) {
      setFailure(cause)
      setBusy(false)
    }
  }
  return { busy, failure, setFailure, isStored: isStoredRequest(failure), run }
}
