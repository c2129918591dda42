import { type Command, listCommands } from '@portcullis/contract'
import { agentAddress } from '../../lib/addresses.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ListPage } from '../../ui/list/ListPage.tsx'
import { useList } from '../../ui/list/useList.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { commandColumns, commandFilters, commandsView } from './commands.view.tsx'

const hrefOf = (command: Command) => `${agentAddress(command.uuid)}?tab=commands`

const idOf = (command: Command) => command.id

/** Every command to a host, newest first, each with what became of it. */
export const CommandsPage = () => {
  useTitle('Commands')
  const list = useList('/inside/commands', commandsView, listCommands, idOf)
  return (
    <ListPage
      title="Commands"
      list={list}
      filters={commandFilters}
      searchPlaceholder="Host, command, who, why"
      label="Commands"
      columns={commandColumns}
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
    />
  )
}
