import { listCommands } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useServices } from '../../lib/services.tsx'
import { commandWords, timelineOf } from '../../ui/commands/timeline.ts'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import { useLive } from '../../ui/useLive.ts'

const newest = 50

/** The newest commands to a host, each with what became of it. */
export const AgentCommands = ({ agentId }: { agentId: string }) => {
  const { api } = useServices()
  const commands = useQuery({
    queryKey: ['commands', agentId],
    queryFn: ({ signal }) => api.call(listCommands, { query: { hostUuid: agentId, PageSize: newest }, signal }),
  })
  useLive('agents', ({ changed }) => {
    if (changed === null || changed.includes(agentId)) void commands.refetch()
  })
  if (commands.error !== null) return <ErrorState failure={commands.error} retry={() => void commands.refetch()} />
  const total = commands.data?.recordsFiltered ?? 0
  return (
    <>
      <SmallTable
        label="Commands"
        head={['Command', 'State', 'What happened', 'By', { title: 'When', align: 'right' }]}
        rows={commands.data?.data.map((command) => {
          const { word, severity } = commandWords[command.state]
          return {
            key: command.id,
            cells: [
              command.title,
              severity === null ? word : <SeverityTag key="state" severity={severity} word={word} />,
              <DeviceText key="story" value={timelineOf(command)} />,
              <DeviceText key="by" value={command.createdBy} />,
              <Time key="when" value={command.createdAt} />,
            ],
          }
        })}
        empty="No command was sent to this host yet. Arming, freeing, updates and logs are commands."
      />
      {total > newest ? (
        <p>
          <Link to="/commands" search={{ hostUuid: agentId }}>
            All {total.toLocaleString('en')} commands
          </Link>
        </p>
      ) : null}
    </>
  )
}
