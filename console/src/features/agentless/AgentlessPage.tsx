import { Button } from '@mantine/core'
import { type ConnectionStatus, connectionDetailsStatus } from '@portcullis/contract'
import { useMemo, useRef, useState } from 'react'
import { agentAddress } from '../../lib/addresses.ts'
import { curlOf } from '../../lib/curl.ts'
import { listQueryOf } from '../../lib/list-query.ts'
import { listSource } from '../../lib/list-source.ts'
import { useServices } from '../../lib/services.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ExportListsMenu } from '../../ui/ExportMenu.tsx'
import { FilterBar } from '../../ui/filters/FilterBar.tsx'
import { Icon } from '../../ui/icons.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { ColumnsMenu } from '../../ui/table/ColumnsMenu.tsx'
import { exportKeysOf } from '../../ui/table/column.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { ListFrame } from '../../ui/table/ListFrame.tsx'
import { useSelection } from '../../ui/table/useSelection.ts'
import { useKeys } from '../../ui/useKeys.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { useView } from '../../ui/useView.ts'
import classes from './agentless.module.css'
import { statusColumns, statusFilters, statusView } from './agentless.view.tsx'
import { CauseStrip } from './CauseStrip.tsx'
import { CompareKeysDialog } from './CompareKeysDialog.tsx'
import { ConnectionDrawer, newConnection } from './ConnectionDrawer.tsx'
import { ConnectionsBar } from './ConnectionsBar.tsx'
import { exportedLists } from './connection-exports.ts'
import { DefaultsDialog } from './DefaultsDialog.tsx'
import { UploadDialog } from './UploadDialog.tsx'
import { useFreshRows } from './useFreshRows.ts'
import { WorkerCard } from './WorkerCard.tsx'

const hrefOf = ({ uuid, computerName }: ConnectionStatus) =>
  uuid === '' ? `/agentless?open=${encodeURIComponent(computerName)}` : agentAddress(uuid)

/** Computers that are polled over SSH instead of running an agent: the worker that does it, and how each stands. */
export const AgentlessPage = () => {
  useTitle('Agentless')
  const { api, session } = useServices()
  const view = useView('/inside/agentless', statusView)
  const [counts, setCounts] = useState<{ total: number; filtered: number } | null>(null)
  const [dialog, setDialog] = useState<'defaults' | 'upload' | 'keys' | null>(null)
  const list = useRef<HTMLDivElement>(null)
  const { filters, search, sort, open } = view.state
  const query = useMemo(() => listQueryOf({ filters, search, sort }, statusView), [filters, search, sort])
  const source = useMemo(() => listSource(api, connectionDetailsStatus, query, (row) => row.computerName), [api, query])
  useFreshRows(source, list)
  const selection = useSelection(source, { filtered: counts?.filtered ?? null })
  const canWrite = session.may('fleet:write')
  const openNew = () => view.set({ open: newConnection })
  useKeys(canWrite ? [{ keys: 'n', description: 'Add a computer', run: openNew }] : [])
  const add = canWrite ? (
    <Button size="compact-sm" leftSection={<Icon name="plus" size={14} />} onClick={openNew}>
      Add a computer
    </Button>
  ) : null

  return (
    <>
      <ListFrame
        title="Agentless"
        counts={counts}
        actions={
          <>
            {session.may('config:write') ? (
              <Button size="compact-sm" variant="default" onClick={() => setDialog('defaults')}>
                Defaults…
              </Button>
            ) : null}
            {canWrite ? (
              <Button size="compact-sm" variant="default" onClick={() => setDialog('upload')}>
                Upload a file…
              </Button>
            ) : null}
            {canWrite ? (
              <Button size="compact-sm" variant="default" onClick={() => setDialog('keys')}>
                Compare host keys…
              </Button>
            ) : null}
            {add}
          </>
        }
        filters={
          <>
            <WorkerCard />
            <CauseStrip
              chosen={filters.Cause ?? null}
              choose={(Cause) => view.set({ filters: { Cause, StatusString: null } })}
            />
            <FilterBar view={view} filters={statusFilters} searchPlaceholder="Computer, failure">
              <ColumnsMenu columns={statusColumns} view={view} />
              <ExportListsMenu
                lists={exportedLists(query, exportKeysOf(statusColumns, view.state.columns), counts?.filtered ?? null)}
              />
              <MoreMenu
                label="More"
                curl={() =>
                  curlOf(window.location.origin, connectionDetailsStatus, { query: { ...query, PageSize: 100 } })
                }
              />
            </FilterBar>
          </>
        }
        table={
          <div ref={list} className={classes.list}>
            <DataTable
              label="Polled computers"
              columns={statusColumns}
              source={source}
              view={view}
              topics={['agents']}
              hrefOf={hrefOf}
              {...(canWrite ? { selection } : {})}
              empty={
                <EmptyState icon="network" title="No computer is polled yet">
                  <p>
                    Where no agent can be installed, a worker signs in over SSH every few minutes and reads which USB
                    devices are attached. Such hosts are seen and judged like all others; a device can not be blocked
                    there.
                  </p>
                  {add}
                </EmptyState>
              }
              onCounts={setCounts}
            />
          </div>
        }
        drawer={
          open === null ? null : (
            <ConnectionDrawer
              name={open}
              close={() => view.set({ open: null })}
              onSaved={(name) => view.set({ open: name }, { replace: true })}
            />
          )
        }
        selection={canWrite ? <ConnectionsBar selection={selection} filtered={counts?.filtered ?? null} /> : null}
      />
      <CompareKeysDialog opened={dialog === 'keys'} close={() => setDialog(null)} />
      <UploadDialog opened={dialog === 'upload'} close={() => setDialog(null)} />
      <DefaultsDialog opened={dialog === 'defaults'} close={() => setDialog(null)} />
    </>
  )
}
