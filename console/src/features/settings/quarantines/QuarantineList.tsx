import { Button, Group, Switch } from '@mantine/core'
import { listQuarantines, type NacSystem, nacSystemNames } from '@portcullis/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { curlOf } from '../../../lib/curl.ts'
import { useServices } from '../../../lib/services.tsx'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { ErrorState } from '../../../ui/ErrorState.tsx'
import { MoreMenu } from '../../../ui/MoreMenu.tsx'
import classes from '../history.module.css'
import { QuarantineLine } from './QuarantineLine.tsx'

const pageSize = 50

/** Hosts that a system keeps off the network, and those that wait for a decision, each with its story. */
export const QuarantineList = ({ system }: { system: NacSystem }) => {
  const { api, queries } = useServices()
  const navigate = useNavigate()
  const search = useSearch({ strict: false }) as { all?: string; open?: string; from?: string }
  const isAll = search.all === '1'
  const page = Math.max(1, Number(search.from ?? 1) || 1)
  const query = { query: { system, PageNumber: page, PageSize: pageSize, ...(isAll ? {} : { isActive: 'True' }) } }
  const found = useQuery({
    queryKey: ['quarantines', system, isAll, page],
    queryFn: ({ signal }) => api.call(listQuarantines, { ...query, signal }),
    placeholderData: keepPreviousData,
    // A person watches it being carried out and read back.
    refetchInterval: 3_000,
  })
  const set = (change: { all?: string; open?: string; from?: string }) =>
    void navigate({ to: '.', search: ((old: object) => ({ ...old, ...change })) as never, replace: true })
  const total = found.data?.recordsFiltered ?? 0
  const name = nacSystemNames[system]
  return (
    <section className={classes.history} aria-label="Quarantines">
      <Group justify="space-between">
        <Switch
          label="Also those that are over"
          checked={isAll}
          onChange={(event) => set({ all: event.currentTarget.checked ? '1' : '', from: '' })}
        />
        <MoreMenu label="More of the quarantines" curl={() => curlOf(window.location.origin, listQuarantines, query)} />
      </Group>
      {found.error === null ? null : <ErrorState failure={found.error} retry={() => void found.refetch()} inline />}
      {found.data === undefined ? (
        found.error === null ? (
          <div className={classes.skeleton} aria-busy="true" />
        ) : null
      ) : total === 0 ? (
        <EmptyState icon="network" title={isAll ? 'No host was ever quarantined' : 'No host is quarantined'}>
          <p>
            {name} is asked when somebody quarantines a host, or when a confirmed attack tool stays attached and
            “Quarantine by itself” is on.
          </p>
        </EmptyState>
      ) : (
        <>
          <ul className={classes.versions} aria-label="Quarantines">
            {found.data.data.map((quarantine) => (
              <QuarantineLine
                key={quarantine.id}
                quarantine={quarantine}
                isOpen={search.open === quarantine.id}
                toggle={() => set({ open: search.open === quarantine.id ? '' : quarantine.id })}
                onDecided={() => void queries.invalidateQueries({ queryKey: ['quarantines'] })}
              />
            ))}
          </ul>
          <Group justify="space-between">
            <span className={classes.quiet}>
              {total.toLocaleString('en')} {total === 1 ? 'quarantine' : 'quarantines'}
            </span>
            {total <= pageSize ? null : (
              <Group gap="sm">
                <Button
                  size="compact-sm"
                  variant="default"
                  disabled={page === 1}
                  onClick={() => set({ from: page === 2 ? '' : String(page - 1) })}
                >
                  Newer
                </Button>
                <Button
                  size="compact-sm"
                  variant="default"
                  disabled={page * pageSize >= total}
                  onClick={() => set({ from: String(page + 1) })}
                >
                  Older
                </Button>
              </Group>
            )}
          </Group>
        </>
      )}
    </section>
  )
}
