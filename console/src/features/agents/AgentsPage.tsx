import { type Agent, exportAgentCsv, exportAgentPdf, getAgents } from '@portcullis/contract'
import { type ReactNode, useMemo, useState } from 'react'
import { agentAddress } from '../../lib/addresses.ts'
import { curlOf } from '../../lib/curl.ts'
import { listQueryOf } from '../../lib/list-query.ts'
import { listSource } from '../../lib/list-source.ts'
import { useServices } from '../../lib/services.tsx'
import { DetailSkeleton } from '../../ui/DetailSkeleton.tsx'
import { ExportMenu } from '../../ui/ExportMenu.tsx'
import { FilterBar } from '../../ui/filters/FilterBar.tsx'
import { Icon } from '../../ui/icons.tsx'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { lazily, useIdlePreload } from '../../ui/lazily.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SidePanel } from '../../ui/SidePanel.tsx'
import { ColumnsMenu } from '../../ui/table/ColumnsMenu.tsx'
import { exportKeysOf } from '../../ui/table/column.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { ListFrame } from '../../ui/table/ListFrame.tsx'
import { useSelection } from '../../ui/table/useSelection.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { useView } from '../../ui/useView.ts'
import { agentColumns, agentFilters, agentsView } from './agents.view.tsx'
import { BulkBar } from './bulk/BulkBar.tsx'

const AgentDetail = lazily(async () => (await import('./AgentDetail.tsx')).AgentDetail, <DetailSkeleton />)
const hrefOf = (agent: Agent) => agentAddress(agent.uuid)

/** The list of hosts. `empty` is what is shown before the first host: the way to add one. */
export const AgentsPage = ({ empty }: { empty: ReactNode }) => {
  useTitle('Agents')
  useIdlePreload(AgentDetail)
  const { api, session, queries } = useServices()
  const view = useView('/inside/agents', agentsView)
  const [counts, setCounts] = useState<{ total: number; filtered: number } | null>(null)
  const { filters, search, sort, open } = view.state
  const query = useMemo(() => listQueryOf({ filters, search, sort }, agentsView), [filters, search, sort])
  const source = useMemo(() => listSource(api, getAgents, query, (agent) => agent.uuid), [api, query])
  // The order of the list says nothing about which hosts are meant.
  const { SortBy: _order, ...filter } = query
  const selection = useSelection(source, { filtered: counts?.filtered ?? null, byFilter: JSON.stringify(filter) })
  const canWrite = session.may('fleet:write')
  const reread = () => void queries.invalidateQueries({ queryKey: ['rows'] })

  return (
    <ListFrame
      title="Agents"
      counts={counts}
      actions={
        session.may('enrolment:manage') ? (
          <LinkButton to="/settings/enrolment" size="compact-sm" leftSection={<Icon name="plus" size={14} />}>
            Add a host
          </LinkButton>
        ) : null
      }
      filters={
        <FilterBar view={view} filters={agentFilters} searchPlaceholder="Host, address, system, tag">
          <ColumnsMenu columns={agentColumns} view={view} />
          <ExportMenu
            name="agents"
            report="agents"
            csv={exportAgentCsv}
            pdf={exportAgentPdf}
            query={query}
            columns={exportKeysOf(agentColumns, view.state.columns)}
            rows={counts?.filtered ?? null}
          />
          <MoreMenu
            label="More"
            curl={() => curlOf(window.location.origin, getAgents, { query: { ...query, PageSize: 100 } })}
          />
        </FilterBar>
      }
      table={
        <DataTable
          label="Agents"
          columns={agentColumns}
          source={source}
          view={view}
          topics={['agents', 'summary']}
          hrefOf={hrefOf}
          {...(canWrite ? { selection } : {})}
          empty={empty}
          onCounts={setCounts}
        />
      }
      drawer={
        open === null ? null : (
          <SidePanel label="Agent" fullPage={agentAddress(open)} close={() => view.set({ open: null, tab: null })}>
            <AgentDetail
              key={open}
              agentId={open}
              tab={view.state.tab}
              setTab={(tab) => view.set({ tab }, { replace: true })}
            />
          </SidePanel>
        )
      }
      selection={
        canWrite ? (
          <BulkBar selection={selection} filtered={counts?.filtered ?? null} filter={filter} onChanged={reread} />
        ) : null
      }
    />
  )
}
