import { Button, Group, Progress } from '@mantine/core'
import { type AssetReplay, cancelJob } from '@portcullis/contract'
import { useServices } from '../../lib/services.tsx'
import { Time } from '../../ui/Time.tsx'
import { tell, tellFailure } from '../../ui/tell.ts'
import classes from './assets.module.css'
import { strings } from './strings.ts'

const words = {
  queued: 'waits to begin',
  running: 'is under way',
  completed: 'was completed',
  failed: 'ended early',
} as const

export interface ReplayCardProps {
  replay: AssetReplay
  reread: () => void
}

/** The last replay: how far it is, and its end. */
export const ReplayCard = ({ replay, reread }: ReplayCardProps) => {
  const { api, session } = useServices()
  const isOver = replay.status === 'completed' || replay.status === 'failed'
  const share = replay.assets === 0 ? 100 : Math.min(100, (replay.published / replay.assets) * 100)
  const cancel = () =>
    api.call(cancelJob, { params: { id: replay.jobId } }).then(() => {
      tell(strings.theReplayIsCancelled)
      reread()
    }, tellFailure)
  return (
    <section className={classes.card} aria-label={strings.replay}>
      <Group justify="space-between">
        <p>
          {strings.theLastReplayValueValue2Published({
            value: words[replay.status],
            value2:
              replay.completedAt === null ? null : (
                <>
                  {', '}
                  <Time value={replay.completedAt} form="local" />
                </>
              ),
            published: replay.published,
            assets: replay.assets,
            value3: replay.error === '' ? null : ` ${replay.error}`,
          })}
        </p>
        {!isOver && session.may('fleet:write') ? (
          <Button size="compact-sm" variant="default" onClick={() => void cancel()}>
            {strings.cancel}
          </Button>
        ) : null}
      </Group>
      {isOver ? null : <Progress value={share} aria-label={strings.assetsPublishedAgain2} />}
    </section>
  )
}
