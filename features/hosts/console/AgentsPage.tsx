import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { LinkButton } from '@portcullis/platform/console/ui/LinkButton.tsx'
import { lazily, useIdlePreload } from '@portcullis/platform/console/ui/lazily.tsx'
import { ListPage } from '@portcullis/platform/console/ui/list/ListPage.tsx'
import { useList } from '@portcullis/platform/console/ui/list/useList.ts'
import { SidePanel } from '@portcullis/platform/console/ui/SidePanel.tsx'
import { useSelection } from '@portcullis/platform/console/ui/table/useSelection.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import type { ReactNode } from 'react'
import { type Agent, exportAgentCsv, exportAgentPdf, getAgents } from '#features/contract.ts'
import { ExportMenu } from '#features/reports/console/shared/ExportMenu.tsx'
import { agentsTable } from './agents.view.tsx'
import { DevicesMatch } from './DevicesMatch.tsx'
import { BulkBar } from './shared/bulk/BulkBar.tsx'
import { strings } from './strings.ts'

const AgentDetail = lazily(async () => (await import('./AgentDetail.tsx')).AgentDetail, <DetailSkeleton />)
const hrefOf = (agent: Agent) => agentAddress(agent.uuid)

const idOf = (agent: Agent) => agent.uuid

/** The list of hosts. `empty` is shown before the first host is added. */
export const AgentsPage = ({ empty }: { empty: ReactNode }) => {
  useTitle(strings.hosts)
  useIdlePreload(AgentDetail)
  const { session, queries } = useServices()
  const list = useList('/inside/agents', agentsTable.view, getAgents, idOf)
  const { open, search } = list.view.state
  // The sorting does not affect which hosts are selected.
  const { SortBy: _order, ...filter } = list.query
  const selection = useSelection(list.source, {
    filtered: list.counts?.filtered ?? null,
    byFilter: JSON.stringify(filter),
  })
  const canWrite = session.may('fleet:write')
  const reread = () => void queries.invalidateQueries({ queryKey: ['rows'] })

  return (
    <ListPage
      title={strings.hosts}
      list={list}
      actions={
        session.may('enrolment:manage') ? (
          <LinkButton to="/settings/enrolment" size="compact-sm" leftSection={<Icon name="plus" size={14} />}>
            {strings.addAHost}
          </LinkButton>
        ) : null
      }
      searchPlaceholder={strings.search}
      exports={(rows) => (
        <ExportMenu {...rows} name="agents" report="agents" csv={exportAgentCsv} pdf={exportAgentPdf} />
      )}
      label={strings.hosts}
      table={agentsTable}
      topics={['agents', 'summary']}
      hrefOf={hrefOf}
      selection={canWrite ? selection : undefined}
      empty={empty}
      noMatch={search === '' ? null : <DevicesMatch search={search} />}
      drawer={
        open === null ? null : (
          <SidePanel
            label={strings.hostName}
            fullPage={agentAddress(open)}
            close={() => list.view.set({ open: null, tab: null })}
          >
            <AgentDetail
              key={open}
              agentId={open}
              tab={list.view.state.tab}
              setTab={(tab) => list.view.set({ tab }, { replace: true })}
            />
          </SidePanel>
        )
      }
      bar={
        canWrite ? (
          <BulkBar selection={selection} filtered={list.counts?.filtered ?? null} filter={filter} onChanged={reread} />
        ) : null
      }
    />
  )
}
