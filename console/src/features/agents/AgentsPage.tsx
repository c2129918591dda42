import { Button } from '@mantine/core'
import { type Agent, deleteAgents, getAgents } from '@portcullis/contract'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useMemo, useState } from 'react'
import { agentAddress } from '../../lib/addresses.ts'
import { curlOf } from '../../lib/curl.ts'
import { listQueryOf } from '../../lib/list-query.ts'
import { listSource } from '../../lib/list-source.ts'
import { useServices } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { DetailSkeleton } from '../../ui/DetailSkeleton.tsx'
import { FilterBar } from '../../ui/filters/FilterBar.tsx'
import { Icon } from '../../ui/icons.tsx'
import { lazily, useIdlePreload } from '../../ui/lazily.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SidePanel } from '../../ui/SidePanel.tsx'
import { TagEditor } from '../../ui/TagEditor.tsx'
import { ColumnsMenu } from '../../ui/table/ColumnsMenu.tsx'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { ListFrame } from '../../ui/table/ListFrame.tsx'
import { SelectionBar } from '../../ui/table/SelectionBar.tsx'
import { useSelection } from '../../ui/table/useSelection.ts'
import { tell } from '../../ui/tell.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { useView } from '../../ui/useView.ts'
import { agentColumns, agentFilters, agentsView } from './agents.view.tsx'

const AgentDetail = lazily(async () => (await import('./AgentDetail.tsx')).AgentDetail, <DetailSkeleton />)
const hrefOf = (agent: Agent) => agentAddress(agent.uuid)

/** The list of hosts. `empty` is what is shown before the first host: the way to add one. */
export const AgentsPage = ({ empty }: { empty: ReactNode }) => {
  useTitle('Agents')
  useIdlePreload(AgentDetail)
  const { api, session, queries } = useServices()
  const view = useView(agentsView)
  const [counts, setCounts] = useState<{ total: number; filtered: number } | null>(null)
  const { filters, search, sort, open } = view.state
  const query = useMemo(() => listQueryOf({ filters, search, sort }, agentsView), [filters, search, sort])
  const source = useMemo(() => listSource(api, getAgents, query, (agent) => agent.uuid), [api, query])
  const selection = useSelection(source, counts?.filtered ?? null)
  const canWrite = session.may('fleet:write')
  const reread = () => void queries.invalidateQueries({ queryKey: ['rows'] })

  return (
    <ListFrame
      title="Agents"
      counts={counts}
      actions={
        session.may('enrolment:manage') ? (
          <Button
            component={Link}
            to="/settings/enrolment"
            size="compact-sm"
            leftSection={<Icon name="plus" size={14} />}
          >
            Add a host
          </Button>
        ) : null
      }
      filters={
        <FilterBar view={view} filters={agentFilters} searchPlaceholder="Host, address, system, tag">
          <ColumnsMenu columns={agentColumns} view={view} />
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
          <SelectionBar selection={selection} filtered={counts?.filtered ?? null}>
            <TagEditor entityType="Agent" elementIds={[...selection.ids]} onChanged={reread}>
              {(openEditor) => (
                <Button
                  size="compact-sm"
                  variant="default"
                  onClick={openEditor}
                  leftSection={<Icon name="tag" size={14} />}
                >
                  Tag…
                </Button>
              )}
            </TagEditor>
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<Icon name="trash" size={14} />}
              onClick={() =>
                confirm({
                  title: 'Remove agents',
                  names: selection.rows().map((agent) => agent.hostIdentifier),
                  kind: ['agent', 'agents'],
                  consequence:
                    'their keys are revoked within a second. They come back only by a new enrolment. Events and audit stay.',
                  action: 'Remove',
                  run: async () => {
                    const { accepted } = await api.call(deleteAgents, { body: [...selection.ids] })
                    selection.clear()
                    reread()
                    tell(`${accepted.length.toLocaleString('en')} removed.`)
                  },
                })
              }
            >
              Remove…
            </Button>
          </SelectionBar>
        ) : null
      }
    />
  )
}
