import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useLive } from '@portcullis/platform/console/ui/useLive.ts'
import { Link } from '@tanstack/react-router'
import { CommandState } from '#features/commands/console/shared/CommandState.tsx'
import { timelineOf } from '#features/commands/console/shared/timeline.ts'
import { listCommands } from '#features/contract.ts'
import { strings } from './strings.ts'

const newest = 50

/** Lists the newest commands to a host with their timeline. */
export const AgentCommands = ({ agentId }: { agentId: string }) => {
  const commands = useRead(['commands', agentId], listCommands, { query: { hostUuid: agentId, PageSize: newest } })
  useLive('agents', ({ changed }) => {
    if (changed === null || changed.includes(agentId)) void commands.refetch()
  })
  if (commands.error !== null) return <ErrorState query={commands} />
  const total = commands.data?.recordsFiltered ?? 0
  return (
    <>
      <SmallTable
        label={strings.commands}
        head={[strings.command, strings.state, strings.timeline, strings.by, right(strings.when)]}
        rows={commands.data?.data.map((command) => ({
          key: command.id,
          cells: [
            command.title,
            <CommandState key="state" state={command.state} />,
            <DeviceText key="timeline" value={timelineOf(command)} />,
            <DeviceText key="by" value={command.createdBy} />,
            <Time key="when" value={command.createdAt} />,
          ],
        }))}
        empty={strings.commandsEmpty}
      />
      {total > newest ? (
        <p>
          <Link to="/commands" search={{ hostUuid: agentId }}>
            {strings.allCommands({ total })}
          </Link>
        </p>
      ) : null}
    </>
  )
}
