import { AppError, notFound } from '@portcullis/platform/server/app-error.ts'
import { lock, locks } from '@portcullis/platform/server/db/locks.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import type { AssetReplay } from '#features/contract.ts'
import type { JobHandler } from '#features/jobs/server/index.ts'
import { createAssetsStore } from './assets.store.ts'
import type { AssetsContext } from './context.ts'
import { createReplayStore, type ReplayRow, replayKind } from './replay.store.ts'
import type { Sequencer } from './sequencer.ts'

/** Assets per step: about 50 ms, during which the sequencer waits. */
const stepSize = 2_000
const beforeAll = '00000000-0000-0000-0000-000000000000'

interface Cursor {
  startedAt: string
  /** Hosts come first, then peripherals. */
  phase: 'agents' | 'peripherals'
  agent: string
  device: string
  published: number
}

const shown = (row: ReplayRow): AssetReplay => ({
  jobId: row.job_id,
  status:
    row.state === 'running'
      ? row.started_at === null
        ? 'queued'
        : 'running'
      : row.state === 'completed'
        ? 'completed'
        : 'failed',
  assets: row.total,
  published: row.done,
  startedAt: row.started_at,
  completedAt: row.ended_at?.toISOString() ?? null,
  error: row.state === 'failed' || row.state === 'cancelled' ? row.message : '',
})

/** Publishes every asset again in a job. Each step assigns positions and saves its progress in one transaction. */
export const createReplay = ({ db, clock, audit, jobs }: AssetsContext, { notify }: Sequencer) => {
  const store = createAssetsStore(db)
  const replays = createReplayStore(db)

  const handler: JobHandler = {
    run: async (job) => {
      const { assets } = job.data as { assets: number }
      const subject = `replay/${job.id}`
      let cursor = job.cursor as Cursor | null
      for (let isOver = false; !isOver; )
        await db.transaction(async (tx) => {
          // Like the sequencer: nothing assigns positions between this read and this step.
          await lock(tx, locks.assetReplay)
          const at = new Date(clock.now())
          if (cursor === null) {
            const first: Cursor = {
              startedAt: at.toISOString(),
              phase: 'agents',
              agent: beforeAll,
              device: '',
              published: 0,
            }
            await job.save(tx, { cursor: first })
            await notify(tx)
            await store.note(tx, at, [{ type: 'replay.started', subject, data: { jobId: job.id, assets } }])
            cursor = first
            return
          }
          const { phase, agent, device, published } = cursor
          const keys =
            phase === 'agents'
              ? await replays.agents(tx, agent, stepSize)
              : await replays.peripherals(tx, agent, device, stepSize)
          const last = keys.at(-1)
          if (last === undefined && phase === 'peripherals') {
            await job.save(tx, {})
            await notify(tx)
            await store.note(tx, at, [
              { type: 'replay.completed', subject, data: { jobId: job.id, assets, published } },
            ])
            isOver = true
            return
          }
          const next: Cursor =
            last === undefined
              ? { ...cursor, phase: 'peripherals', agent: beforeAll, device: '' }
              : { ...cursor, agent: last.agent_id, device: last.device_id, published: published + keys.length }
          await job.save(tx, { done: keys.length, cursor: next })
          if (keys.length > 0) {
            await notify(tx)
            await store.assignPositions(tx, at, keys)
          }
          cursor = next
        })
      return 'done'
    },
  }
  jobs.handle(replayKind, handler)

  return {
    start: (actor: Actor): Promise<{ jobId: string; assets: number }> =>
      db.transaction(async (tx) => {
        await lock(tx, locks.assetReplay)
        const other = await replays.running(tx)
        if (other !== undefined)
          throw new AppError('conflict', {
            detail: `Replay ${other} is already running. Wait until it ends, or cancel it.`,
          })
        const assets = await replays.assets(tx)
        const jobId = await jobs.enqueue(tx, actor, {
          kind: replayKind,
          title: `Publish ${assets} assets again`,
          total: assets,
          data: { assets },
          canCancel: true,
        })
        await audit.write(tx, actor, {
          action: 'assets.replayed',
          entity: 'Asset stream',
          details: `job ${jobId}: ${assets} assets`,
          count: assets,
        })
        return { jobId, assets }
      }),

    read: async (jobId: string): Promise<AssetReplay> => {
      const row = isId(jobId) ? await replays.one(jobId) : undefined
      if (row === undefined) throw notFound('No replay has this id.')
      return shown(row)
    },

    last: async (): Promise<AssetReplay | null> => {
      const row = await replays.last()
      return row === undefined ? null : shown(row)
    },
  }
}
