import { type ConnectionStatus, connectionDetailsStatus } from '@portcullis/contract'
import { useMemo, useRef, useState } from 'react'
import { agentAddress } from '../../lib/addresses.ts'
import { curlOf } from '../../lib/curl.ts'
import { listQueryOf } from '../../lib/list-query.ts'
import { listSource } from '../../lib/list-source.ts'
import { useServices } from '../../lib/services.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { FilterBar } from '../../ui/filters/FilterBar.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { ColumnsMenu } from '../../ui/table/ColumnsMenu.tsx'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { ListFrame } from '../../ui/table/ListFrame.tsx'
import { useTitle } from '../../ui/useTitle.ts'
import { useView } from '../../ui/useView.ts'
import classes from './agentless.module.css'
import { statusColumns, statusFilters, statusView } from './agentless.view.tsx'
import { useFreshRows } from './useFreshRows.ts'
import { WorkerCard } from './WorkerCard.tsx'

const hrefOf = ({ uuid, computerName }: ConnectionStatus) =>
  uuid === '' ? `/agentless?open=${encodeURIComponent(computerName)}` : agentAddress(uuid)

/** Computers that are polled over SSH instead of running an agent: the worker that does it, and how each stands. */
export const AgentlessPage = () => {
  useTitle('Agentless')
  const { api } = useServices()
  const view = useView(statusView)
  const [counts, setCounts] = useState<{ total: number; filtered: number } | null>(null)
  const list = useRef<HTMLDivElement>(null)
  const { filters, search, sort } = view.state
  const query = useMemo(() => listQueryOf({ filters, search, sort }, statusView), [filters, search, sort])
  const source = useMemo(() => listSource(api, connectionDetailsStatus, query, (row) => row.computerName), [api, query])
  useFreshRows(source, list)

  return (
    <ListFrame
      title="Agentless"
      counts={counts}
      filters={
        <>
          <WorkerCard />
          <FilterBar view={view} filters={statusFilters} searchPlaceholder="Computer, failure">
            <ColumnsMenu columns={statusColumns} view={view} />
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
            empty={
              <EmptyState icon="network" title="No computer is polled yet">
                <p>
                  Where no agent can be installed, a worker signs in over SSH every few minutes and reads which USB
                  devices are attached. Such hosts are seen and judged like all others; a device can not be blocked
                  there.
                </p>
              </EmptyState>
            }
            onCounts={setCounts}
          />
        </div>
      }
    />
  )
}
