import { Button, Progress } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { Panel, Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { type AssetReplay, cancelJob } from '#features/contract.ts'
import { strings } from './strings.ts'

/** Describes the progress or the result of a replay. */
const textOf = ({ status, completedAt, published, assets, error }: AssetReplay) => {
  const time = <Time value={completedAt} form="local" />
  if (status === 'queued') return strings.replayQueued({ published, assets })
  if (status === 'running') return strings.replayRunning({ published, assets })
  if (status === 'completed') return strings.replayCompleted({ time, published, assets })
  return strings.replayFailed({ time, published, assets, error })
}

export interface ReplayCardProps {
  replay: AssetReplay
  reread: () => void
}

/** The progress or the result of the last replay. */
export const ReplayCard = ({ replay, reread }: ReplayCardProps) => {
  const { api, session } = useServices()
  const isOver = replay.status === 'completed' || replay.status === 'failed'
  const share = replay.assets === 0 ? 100 : Math.min(100, (replay.published / replay.assets) * 100)
  const cancel = () =>
    api.call(cancelJob, { params: { id: replay.jobId } }).then(() => {
      tell(strings.replayCancelled)
      reread()
    }, tellFailure)
  return (
    <Panel aria-label={strings.replay}>
      <Row gap={16} justify="space-between" wrap>
        <p>{textOf(replay)}</p>
        {!isOver && session.may('fleet:write') ? (
          <Button size="compact-sm" variant="default" onClick={() => void cancel()}>
            {strings.cancel}
          </Button>
        ) : null}
      </Row>
      {isOver ? null : <Progress value={share} aria-label={strings.replayProgress} />}
    </Panel>
  )
}
