import { Button } from '@mantine/core'
import { bytesText } from '@portcullis/platform/console/lib/bytes.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Note, Quiet, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { useState } from 'react'
import { DownloadLog } from '#features/commands/console/shared/DownloadLog.tsx'
import { type AgentDetail, runBulk } from '#features/contract.ts'
import { strings } from './strings.ts'

/** The debug logs of a host. Requested logs arrive with the next check-in. */
export const AgentLogs = ({ agent, reread }: { agent: AgentDetail; reread: () => void }) => {
  const { api, session, work } = useServices()
  const [busy, setBusy] = useState(false)
  const isAsked = agent.pendingCommands.some(({ kind }) => kind === 'collect-logs')
  const collect = async () => {
    setBusy(true)
    try {
      const { jobId, accepted } = await api.call(runBulk, { body: { uuids: [agent.uuid], action: 'collectLogs' } })
      if (jobId !== null) work.follow(jobId)
      tell(accepted === 0 ? strings.logsNotRequested : strings.logsRequested)
      reread()
    } catch (failure) {
      tellFailure(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Stack>
      <Row wrap gap={10} small>
        {session.may('fleet:write') ? (
          <Button
            size="compact-sm"
            variant="default"
            loading={busy}
            disabled={isAsked}
            leftSection={<Icon name="refresh" size={14} />}
            onClick={() => void collect()}
          >
            {strings.collectLogs}
          </Button>
        ) : null}
        <Quiet>
          {isAsked
            ? agent.connectionStatus === 'Connected'
              ? strings.logsPending
              : strings.logsPendingOffline
            : strings.logsHint}
        </Quiet>
      </Row>
      {session.may('debuglogs:read') ? (
        <SmallTable
          label={strings.debugLogs}
          head={[strings.received, right(strings.size), right('')]}
          rows={agent.debugLogs.map(({ id, collectedAt, size }) => ({
            key: id,
            cells: [
              <Time key="when" value={collectedAt} form="local" />,
              bytesText(size),
              <DownloadLog key="download" uuid={agent.uuid} host={agent.hostIdentifier} id={id} />,
            ],
          }))}
          empty={strings.logsEmpty}
        />
      ) : (
        <Note>{strings.logsNeedManager}</Note>
      )}
    </Stack>
  )
}
