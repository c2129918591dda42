import { Button } from '@mantine/core'
import { type AgentDetail, getDebugLog, runBulk } from '@portcullis/contract'
import { useState } from 'react'
import { bytesText } from '../../lib/bytes.ts'
import { plainText } from '../../lib/device-text.ts'
import { useServices } from '../../lib/services.tsx'
import { downloadByTicket } from '../../ui/download.ts'
import { Icon } from '../../ui/icons.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import { tell, tellFailure } from '../../ui/tell.ts'
import classes from './AgentDetail.module.css'

// Characters that no system wants in the name of a file; the name of a host may have any.
const fileSafe = (text: string) => plainText(text).replaceAll(/[^\p{L}\p{N}._-]+/gu, '-')

/** The debug logs of a host: asked for here, they arrive with the next check-in. */
export const AgentLogs = ({ agent, reread }: { agent: AgentDetail; reread: () => void }) => {
  const { api, session, work } = useServices()
  const [busy, setBusy] = useState(false)
  const isAsked = agent.pendingCommands.some(({ kind }) => kind === 'collect-logs')
  const collect = async () => {
    setBusy(true)
    try {
      const { jobId, accepted } = await api.call(runBulk, { body: { uuids: [agent.uuid], action: 'collectLogs' } })
      if (jobId !== null) work.follow(jobId)
      tell(accepted === 0 ? 'The host is being asked already, or cannot be.' : 'The host was asked for its log.')
      reread()
    } catch (failure) {
      tellFailure(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className={classes.logs}>
      <div className={classes.line}>
        {session.may('fleet:write') ? (
          <Button
            size="compact-sm"
            variant="default"
            loading={busy}
            disabled={isAsked}
            leftSection={<Icon name="refresh" size={14} />}
            onClick={() => void collect()}
          >
            Collect now
          </Button>
        ) : null}
        <span className={classes.quiet}>
          {isAsked
            ? agent.connectionStatus === 'Connected'
              ? 'Asked; it arrives in a moment.'
              : 'Asked; it arrives when the host is back.'
            : 'The newest five are kept. A log holds no secrets.'}
        </span>
      </div>
      {session.may('debuglogs:read') ? (
        <SmallTable
          label="Debug logs"
          head={['Received', { title: 'Size', align: 'right' }, { title: '', align: 'right' }]}
          rows={agent.debugLogs.map(({ id, collectedAt, size }) => ({
            key: id,
            cells: [
              <Time key="when" value={collectedAt} form="local" />,
              bytesText(size),
              <Button
                key="download"
                size="compact-xs"
                variant="default"
                leftSection={<Icon name="download" size={12} />}
                onClick={() =>
                  void downloadByTicket(
                    api,
                    getDebugLog,
                    { params: { agentId: agent.uuid, id } },
                    `${fileSafe(agent.hostIdentifier)}.log.gz`,
                  ).catch(tellFailure)
                }
              >
                Download
              </Button>,
            ],
          }))}
          empty="No log of this host yet."
        />
      ) : (
        <p className={classes.quiet}>Logs are read by Managers and Administrators.</p>
      )}
    </div>
  )
}
