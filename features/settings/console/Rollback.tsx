import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { DialogActions } from '@portcullis/platform/console/ui/form/DialogActions.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useQuery } from '@tanstack/react-query'
import { configRollback } from '#features/contract.ts'
import { Differences } from './Differences.tsx'
import { strings } from './strings.ts'

export interface RollbackProps {
  /** 0 clears all settings. */
  version: number
  /** Only items with this prefix; empty for all. */
  prefix: string
  close: () => void
}

/** Shows what restoring a version would change, and restores it. */
export const Rollback = ({ version, prefix, close }: RollbackProps) => {
  const { api, queries } = useServices()
  const { busy, failure, isStored, run } = useChange()
  const query = prefix === '' ? {} : { prefix }
  const preview = useQuery({
    queryKey: ['config-history', 'preview', prefix, version],
    queryFn: () => api.call(configRollback, { params: { version }, query: { ...query, dryRun: true } }),
    gcTime: 0,
    staleTime: 0,
    retry: false,
  })
  const changes = preview.data?.changes ?? []
  const restore = () =>
    run(async () => {
      const { changes: done, version: created } = await api.call(configRollback, { params: { version }, query })
      close()
      tell(
        done.length === 0
          ? strings.alreadyRestored
          : version === 0
            ? strings.cleared({ count: done.length, created })
            : strings.restored({ count: done.length, version, created }),
      )
      for (const key of ['config', 'config-history', 'integrations', 'licence', 'providers'])
        void queries.invalidateQueries({ queryKey: [key] })
    })
  return (
    <Stack as="form" gap={14} onSubmit={submits(() => !isStored && restore())}>
      {preview.error !== null ? (
        <ErrorState query={preview} inline />
      ) : (
        <p aria-live="polite">
          {preview.data === undefined
            ? strings.calculating
            : changes.length === 0
              ? strings.noDifference
              : strings.restoreText}
        </p>
      )}
      {changes.length === 0 ? null : (
        <Differences rows={changes} label={strings.restoreChanges} withPage={prefix === ''} />
      )}
      <ErrorState failure={failure} inline />
      <DialogActions
        action={version === 0 ? strings.clearAll : strings.restore}
        busy={busy}
        isReady={changes.length > 0}
        isStored={isStored}
        close={close}
        startsAt="action"
      />
    </Stack>
  )
}
