import { configRollback } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useServices } from '../../lib/services.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { AskFoot } from '../../ui/form/AskFoot.tsx'
import { useChange } from '../../ui/form/useChange.ts'
import { tell } from '../../ui/tell.ts'
import { Differences } from './Differences.tsx'
import classes from './settings.module.css'
import { strings } from './strings.ts'

export interface RollbackProps {
  /** 0: nothing set. */
  version: number
  /** Only items whose names begin so; empty: all. */
  prefix: string
  close: () => void
}

/** What going back to a version would change, as the server says, and then the way there. */
export const Rollback = ({ version, prefix, close }: RollbackProps) => {
  const { api, queries } = useServices()
  const { busy, failure, isStored, run } = useChange()
  const query = prefix === '' ? {} : { prefix }
  const trial = useQuery({
    queryKey: ['config-history', 'trial', prefix, version],
    queryFn: () => api.call(configRollback, { params: { version }, query: { ...query, dryRun: true } }),
    gcTime: 0,
    staleTime: 0,
    retry: false,
  })
  const changes = trial.data?.changes ?? []
  const goBack = () =>
    run(async () => {
      const { changes: done, version: made } = await api.call(configRollback, { params: { version }, query })
      close()
      tell(
        done.length === 0
          ? strings.nothingDiffersFromThatVersionAny
          : strings.valueAsAtValue2AgainThis({
              value: done.length === 1 ? strings.n1ItemIs : strings.doneItemsAre({ done: done.length }),
              value2: version === 0 ? 'the start' : strings.versionVersion({ version }),
              made,
            }),
      )
      for (const key of ['config', 'config-history', 'integrations', 'licence', 'providers'])
        void queries.invalidateQueries({ queryKey: [key] })
    })
  return (
    <form
      className={classes.dialog}
      onSubmit={(event) => {
        event.preventDefault()
        if (!isStored) void goBack()
      }}
    >
      {trial.error !== null ? (
        <ErrorState failure={trial.error} retry={() => void trial.refetch()} inline />
      ) : (
        <p aria-live="polite">
          {trial.data === undefined
            ? strings.askingTheServerWhatThisWould
            : changes.length === 0
              ? strings.nothingDiffersFromWhatIsIn
              : strings.thisBecomesANewVersionIt}
        </p>
      )}
      {changes.length === 0 ? null : (
        <Differences rows={changes} label={strings.whatGoingBackChanges} withPage={prefix === ''} />
      )}
      {failure === null ? null : <ErrorState failure={failure} inline />}
      <AskFoot
        action="Go back"
        busy={busy}
        isReady={changes.length > 0}
        isStored={isStored}
        close={close}
        startsAt="action"
      />
    </form>
  )
}
