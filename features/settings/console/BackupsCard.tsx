import { Button, Progress } from '@mantine/core'
import { bytesText } from '@portcullis/platform/console/lib/bytes.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { type BackupRun, type BackupStatus, backupStatus, getJob, runBackup } from '#features/contract.ts'
import { strings } from './strings.ts'

const stateTexts: Readonly<Record<BackupRun['state'], string>> = {
  waiting: strings.waiting,
  running: strings.running,
  completed: strings.completed,
  failed: strings.failed,
}
const verificationTexts: Readonly<Record<BackupRun['verification'], string>> = {
  none: '',
  read: strings.backupRead,
  restored: strings.backupRestored,
}

const isUnderWay = ({ state }: BackupRun): boolean => state === 'waiting' || state === 'running'

const Bad = ({ children }: { children: string }) => (
  <Row as="span" gap={4} tone="red" breaks>
    <Icon name="warn" size={14} /> <DeviceText value={children} />
  </Row>
)

/** Steps of a backup: write, verify, save. */
const steps = 3

const Running = ({ run }: { run: BackupRun }) => {
  const job = useRead(['jobs', run.jobId], getJob, { params: { id: run.jobId }, refetchInterval: 2_000 })
  const { done = 0, message = '' } = job.data ?? {}
  const label = message === '' ? stateTexts[run.state] : message
  return (
    <Stack role="status" gap={4} max={420}>
      <span>{strings.backupProgress({ step: label })}</span>
      <Progress value={(Math.min(done + 0.5, steps) / steps) * 100} aria-label={label} animated />
    </Stack>
  )
}

const factsOf = ({ runs, nextRunAt, folder, freeBytes }: BackupStatus): [string, React.ReactNode][] => {
  const last = runs.find(({ state }) => state === 'completed')
  return [
    [strings.backupNext, nextRunAt === null ? strings.backupOff : <Time key="next" value={nextRunAt} form="local" />],
    [
      strings.backupLast,
      last === undefined ? (
        strings.backupNever
      ) : (
        <span key="last">
          <Time value={last.createdAt} />, {bytesText(last.bytes)}, {verificationTexts[last.verification]}
        </span>
      ),
    ],
    [strings.folder, <DeviceText key="folder" value={folder} />],
    [strings.backupFree, freeBytes === null ? strings.unknown : bytesText(freeBytes)],
  ]
}

/** The state of the scheduled backups: next, last, progress, history, and a button to start one. */
export const BackupsCard = () => {
  const { api, session, work } = useServices()
  const status = useRead(['backups'], backupStatus, { refetchInterval: 30_000 })
  useLiveRefresh(['backups'], 500, () => void status.refetch())
  const start = async (): Promise<void> => {
    try {
      const { jobId } = await api.call(runBackup)
      work.follow(jobId)
      tell(strings.backupStarted)
      await status.refetch()
    } catch (failure) {
      tellFailure(failure)
    }
  }
  if (status.data === undefined) return status.error === null ? null : <ErrorState query={status} inline />
  const { runs, problem } = status.data
  const current = runs.find(isUnderWay)
  return (
    <Stack as="section" style={{ marginBottom: 24 }} aria-label={strings.state}>
      <Row justify="space-between" gap={12}>
        <h2>{strings.state}</h2>
        {session.may('config:write') ? (
          <Button size="xs" variant="default" disabled={current !== undefined} onClick={() => void start()}>
            {strings.backUpNow}
          </Button>
        ) : null}
      </Row>
      {problem === '' ? null : <Bad>{problem}</Bad>}
      <Facts rows={factsOf(status.data)} />
      {current === undefined ? null : <Running run={current} />}
      <SmallTable
        label={strings.backupRuns}
        head={[strings.started, strings.state, right(strings.size), strings.verified, strings.backupFileOrProblem]}
        rows={runs.map((run) => ({
          key: run.id,
          quiet: run.state === 'completed' && !run.isStored,
          cells: [
            <Time key="time" value={run.createdAt} />,
            stateTexts[run.state],
            run.bytes === 0 ? '–' : bytesText(run.bytes),
            verificationTexts[run.verification],
            run.error !== '' ? (
              <Bad key="error">{run.error}</Bad>
            ) : run.state === 'completed' && !run.isStored ? (
              strings.backupDeleted
            ) : (
              <DeviceText key="file" value={run.file.split('/').at(-1) ?? ''} absent="" />
            ),
          ],
        }))}
        empty={strings.backupNoRuns}
      />
    </Stack>
  )
}
