import { Button, Group, Modal } from '@mantine/core'
import { type ConfigVersion, configHistory } from '@portcullis/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { useServices } from '../../lib/services.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Icon } from '../../ui/icons.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { Time } from '../../ui/Time.tsx'
import { Differences } from './Differences.tsx'
import { labelOf, placedLabelOf } from './draft.ts'
import classes from './history.module.css'
import { Rollback } from './Rollback.tsx'

const pageSize = 25
const namesShown = 4

interface VersionProps {
  version: ConfigVersion
  /** Items of all pages are mixed. */
  withPage: boolean
  isOpen: boolean
  toggle: () => void
  /** Null where there is nothing to go back to: it is in force, or the reader may not. */
  goBack: (() => void) | null
}

const summaryOf = (names: readonly string[], label: (name: string) => string) =>
  names.length > namesShown
    ? `${names.slice(0, namesShown).map(label).join(', ')} and ${names.length - namesShown} more`
    : names.map(label).join(', ')

const Version = ({ version, withPage, isOpen, toggle, goBack }: VersionProps) => (
  <li>
    <div className={classes.line}>
      <button type="button" className={classes.open} aria-expanded={isOpen} onClick={toggle}>
        <Icon name={isOpen ? 'down' : 'right'} size={12} />
        <span className={classes.number}>{version.version.toLocaleString('en')}</span>
        <span className={classes.clip}>
          {summaryOf(
            version.changes.map(({ name }) => name),
            withPage ? placedLabelOf : labelOf,
          )}
        </span>
      </button>
      <span className={classes.clip}>
        <DeviceText value={version.changedBy} />
      </span>
      <span className={classes.quiet}>
        <Time value={version.changedAt} />
      </span>
      {goBack === null ? (
        <span />
      ) : (
        <Button size="compact-xs" variant="default" onClick={goBack}>
          Go back to this…
        </Button>
      )}
    </div>
    {isOpen ? (
      <div className={classes.changes}>
        <Differences rows={version.changes} label={`Changes of version ${version.version}`} withPage={withPage} />
      </div>
    ) : null}
  </li>
)

/** Versions of the configuration, newest first: who changed what, and the way back. */
export const HistoryList = ({ prefix }: { prefix: string }) => {
  const { api, session } = useServices()
  const navigate = useNavigate({ from: '/settings/$page' })
  const search = useSearch({ from: '/inside/settings/$page' })
  const page = Math.max(1, Number(search.from ?? 1) || 1)
  const [target, setTarget] = useState<number | null>(null)
  const query = { query: { PageNumber: page, PageSize: pageSize, ...(prefix === '' ? {} : { prefix }) } }
  const history = useQuery({
    queryKey: ['config-history', prefix, page],
    queryFn: ({ signal }) => api.call(configHistory, { ...query, signal }),
    placeholderData: keepPreviousData,
  })
  const set = (change: { from?: string; version?: string }, replace: boolean) =>
    void navigate({ to: '.', search: (old) => ({ ...old, ...change }), replace })
  const total = history.data?.recordsFiltered ?? 0
  const canWrite = session.may('config:write')
  const isLast = page * pageSize >= total
  return (
    <section className={classes.history} aria-label="History">
      {history.error === null ? null : (
        <ErrorState failure={history.error} retry={() => void history.refetch()} inline />
      )}
      {history.data === undefined ? (
        history.error === null ? (
          <div className={classes.skeleton} aria-busy="true" />
        ) : null
      ) : total === 0 ? (
        <EmptyState icon="settings" title="Nothing was changed here yet">
          <p>The first change makes a version; each later one says who made it, and can be taken back.</p>
        </EmptyState>
      ) : (
        <>
          <ul className={classes.versions} aria-label="Versions">
            {history.data.data.map((version, index) => (
              <Version
                key={version.version}
                version={version}
                withPage={prefix === ''}
                isOpen={search.version === String(version.version)}
                toggle={() =>
                  set({ version: search.version === String(version.version) ? '' : String(version.version) }, true)
                }
                goBack={canWrite && !(page === 1 && index === 0) ? () => setTarget(version.version) : null}
              />
            ))}
          </ul>
          <Group justify="space-between">
            <Group gap="sm">
              <span className={classes.quiet}>
                {total.toLocaleString('en')} {total === 1 ? 'change' : 'changes'}
              </span>
              {canWrite && isLast ? (
                <Button size="compact-xs" variant="default" onClick={() => setTarget(0)}>
                  Go back to nothing set…
                </Button>
              ) : null}
            </Group>
            <Group gap="sm">
              <MoreMenu label="More of the history" curl={() => curlOf(window.location.origin, configHistory, query)} />
              <Button
                size="compact-sm"
                variant="default"
                disabled={page === 1}
                onClick={() => set({ from: page === 2 ? '' : String(page - 1) }, false)}
              >
                Newer
              </Button>
              <Button
                size="compact-sm"
                variant="default"
                disabled={isLast}
                onClick={() => set({ from: String(page + 1) }, false)}
              >
                Older
              </Button>
            </Group>
          </Group>
        </>
      )}
      <Modal
        opened={target !== null}
        onClose={() => setTarget(null)}
        title={target === 0 ? 'Go back to nothing set' : `Go back to version ${target}`}
      >
        {target === null ? null : <Rollback version={target} prefix={prefix} close={() => setTarget(null)} />}
      </Modal>
    </section>
  )
}
