import { type Command, listCommands } from '@portcullis/contract'
import { useMemo, useState } from 'react'
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
import { commandColumns, commandFilters, commandsView } from './commands.view.tsx'

const hrefOf = (command: Command) => `${agentAddress(command.uuid)}?tab=commands`

/** Every command to a host, newest first, each with what became of it. */
export const CommandsPage = () => {
  useTitle('Commands')
  const { api } = useServices()
  const view = useView('/inside/commands', commandsView)
  const [counts, setCounts] = useState<{ total: number; filtered: number } | null>(null)
  const { filters, search, sort } = view.state
  const query = useMemo(() => listQueryOf({ filters, search, sort }, commandsView), [filters, search, sort])
  const source = useMemo(() => listSource(api, listCommands, query, (command) => command.id), [api, query])
  return (
    <ListFrame
      title="Commands"
      counts={counts}
      filters={
        <FilterBar view={view} filters={commandFilters} searchPlaceholder="Host, command, who, why">
          <ColumnsMenu columns={commandColumns} view={view} />
          <MoreMenu
            label="More"
            curl={() => curlOf(window.location.origin, listCommands, { query: { ...query, PageSize: 100 } })}
          />
        </FilterBar>
      }
      table={
        <DataTable
          label="Commands"
          columns={commandColumns}
          source={source}
          view={view}
          topics={['agents', 'events']}
          hrefOf={hrefOf}
          opensPage
          empty={
            <EmptyState icon="commands" title="No command yet">
              <p>
                Arming a host, freeing it, updating its agent or collecting its logs is a signed command that the host
                confirms. Select hosts in the list of agents to send the first.
              </p>
            </EmptyState>
          }
          onCounts={setCounts}
        />
      }
    />
  )
}
