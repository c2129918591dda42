import { Button, Group, Progress } from '@mantine/core'
import { type AssetReplay, cancelJob } from '@portcullis/contract'
import { useServices } from '../../lib/services.tsx'
import { Time } from '../../ui/Time.tsx'
import { tell, tellFailure } from '../../ui/tell.ts'
import classes from './assets.module.css'

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
      tell('The replay is cancelled.')
      reread()
    }, tellFailure)
  return (
    <section className={classes.card} aria-label="Replay">
      <Group justify="space-between">
        <p>
          The last replay {words[replay.status]}
          {replay.completedAt === null ? null : (
            <>
              {', '}
              <Time value={replay.completedAt} form="local" />
            </>
          )}
          : {replay.published.toLocaleString('en')} of {replay.assets.toLocaleString('en')} assets published again.
          {replay.error === '' ? null : ` ${replay.error}`}
        </p>
        {!isOver && session.may('fleet:write') ? (
          <Button size="compact-sm" variant="default" onClick={() => void cancel()}>
            Cancel
          </Button>
        ) : null}
      </Group>
      {isOver ? null : <Progress value={share} aria-label="Assets published again" />}
    </section>
  )
}
