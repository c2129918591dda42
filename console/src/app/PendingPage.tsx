import { code } from '@portcullis/platform/console/ui/code.ts'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { useSyncExternalStore } from 'react'
import { strings } from './strings.ts'

/** Placeholder while the code of a page loads. Shows a message if the server is unreachable. */
export const PendingPage = () => {
  const isWaiting = useSyncExternalStore(code.watch, code.isWaiting)
  return isWaiting ? (
    <EmptyState icon="refresh" title={strings.cantReachServer}>
      <p role="status">{strings.retryingPage}</p>
    </EmptyState>
  ) : (
    <div aria-busy="true" />
  )
}
