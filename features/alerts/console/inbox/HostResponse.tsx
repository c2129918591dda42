import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { lazilyDialog } from '@portcullis/platform/console/ui/lazily.tsx'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { useState } from 'react'
import { runBulk } from '#features/contract.ts'
import type { QuarantineQuestion } from '#features/quarantine/console/shared/QuarantineDialog.tsx'
import { useNacSystems } from '#features/quarantine/console/shared/useNac.ts'
import { strings } from './strings.ts'

const QuarantineDialog = lazilyDialog(
  async () => (await import('#features/quarantine/console/shared/QuarantineDialog.tsx')).QuarantineDialog,
)

/** Responses to an alert on one host: quarantine it, or collect its logs. */
export const HostResponse = ({ uuid, hostIdentifier }: { uuid: string; hostIdentifier: string }) => {
  const { api, work } = useServices()
  const systems = useNacSystems()
  const [question, setQuestion] = useState<QuarantineQuestion | null>(null)
  const collect = async () => {
    const { jobId, accepted } = await api.call(runBulk, { body: { uuids: [uuid], action: 'collectLogs' } })
    if (jobId !== null) work.follow(jobId)
    tell(accepted === 0 ? strings.logsNotRequested : strings.logsRequested)
  }
  return (
    <>
      {systems.length === 0 ? null : (
        <Button size="compact-xs" variant="default" onClick={() => setQuestion({ uuid, hostIdentifier })}>
          {strings.quarantineMenu}
        </Button>
      )}
      <Button size="compact-xs" variant="default" onClick={() => void collect().catch(tellFailure)}>
        {strings.collectLogs}
      </Button>
      <QuarantineDialog question={question} close={() => setQuestion(null)} />
    </>
  )
}
