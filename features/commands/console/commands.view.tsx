import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { listTable } from '@portcullis/platform/console/ui/list/list-table.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { type Command, commandList } from '#features/contract.ts'
import { CommandState } from './shared/CommandState.tsx'
import { timelineOf } from './shared/timeline.ts'

export const commandsTable = listTable<Command>(commandList, {
  host: (command) => (
    <PlainLink href={agentAddress(command.uuid)}>
      <DeviceText value={command.hostIdentifier} />
    </PlainLink>
  ),
  state: (command) => <CommandState state={command.state} />,
  story: (command) => <DeviceText value={timelineOf(command)} />,
})
