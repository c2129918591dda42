import { useSyncExternalStore } from 'react'
import { code } from '../ui/code.ts'
import { EmptyState } from '../ui/EmptyState.tsx'

/** Takes the place of a page whose code is on its way; says so when the server is away. */
export const PendingPage = () => {
  const isWaiting = useSyncExternalStore(code.watch, code.isWaiting)
  return isWaiting ? (
    <EmptyState icon="refresh" title="Can't reach the server">
      <p role="status">Retrying. This page opens as soon as the server responds.</p>
    </EmptyState>
  ) : (
    <div aria-busy="true" />
  )
}
