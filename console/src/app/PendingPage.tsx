import { useSyncExternalStore } from 'react'
import { code } from '../ui/code.ts'
import { EmptyState } from '../ui/EmptyState.tsx'

/** Placeholder while the code of a page loads. Shows a message if the server is unreachable. */
export const PendingPage = () => {
  const isWaiting = useSyncExternalStore(code.watch, code.isWaiting)
  return isWaiting ? (
    <EmptyState icon="refresh" title="Can't reach the server">
      <p role="status">Retrying. This page opens when the server responds.</p>
    </EmptyState>
  ) : (
    <div aria-busy="true" />
  )
}
