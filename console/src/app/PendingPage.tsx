import { code } from '@portcullis/platform/console/ui/code.ts'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { Page, Skeleton } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useSyncExternalStore } from 'react'
import { strings } from './strings.ts'

/** Outline of a page while its code loads. Shows a message if the server is unreachable. */
export const PendingPage = () => {
  const isWaiting = useSyncExternalStore(code.watch, code.isWaiting)
  return isWaiting ? (
    <EmptyState icon="refresh" title={strings.cantReachServer}>
      <p role="status">{strings.retryingPage}</p>
    </EmptyState>
  ) : (
    <Page aria-busy="true">
      <Skeleton height={28} width={220} />
      <Skeleton height={36} width="100%" />
      <Skeleton height={240} width="100%" />
    </Page>
  )
}
