import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ListPage } from '@portcullis/platform/console/ui/list/ListPage.tsx'
import { useList } from '@portcullis/platform/console/ui/list/useList.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { type Command, listCommands } from '#features/contract.ts'
import { commandsTable } from './commands.view.tsx'
import { strings } from './strings.ts'

const hrefOf = (command: Command) => `${agentAddress(command.uuid)}?tab=commands`

const idOf = (command: Command) => command.id

/** Lists the commands, newest first, with their timeline. */
export const CommandsPage = () => {
  useTitle(strings.commands)
  const list = useList('/inside/commands', commandsTable.view, listCommands, idOf)
  return (
    <ListPage
      title={strings.commands}
      list={list}
      searchPlaceholder={strings.search}
      label={strings.commands}
      table={commandsTable}
      topics={['agents', 'events']}
      hrefOf={hrefOf}
      opensPage
      empty={
        <EmptyState icon="commands" title={strings.emptyTitle}>
          <p>{strings.empty}</p>
        </EmptyState>
      }
    />
  )
}
