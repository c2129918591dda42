import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { useNow } from '@portcullis/platform/console/ui/useNow.ts'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { listJobs } from '#features/contract.ts'
import { isOver, nextTray, type TrayJob } from './tray.ts'

// Reads every second while a job runs; otherwise less often, to find jobs that others started.
const busyGap = 1_000
const idleGap = 20_000

/** Reads the jobs of the tray. */
export const useTrayJobs = () => {
  const { clock, work } = useServices()
  const now = useNow()
  const followed = useSyncExternalStore(work.watch, work.followed)
  const [shown, setShown] = useState<readonly TrayJob[]>([])
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const jobs = useRead(['jobs'], listJobs, {
    refetchInterval: ({ state }) =>
      state.data?.data.some((job) => job.state === 'running') === true ? busyGap : idleGap,
  })
  // A change of hosts can come from a job of another person.
  useLiveRefresh(['agents'], 3_000, () => void jobs.refetch())
  const { refetch } = jobs
  const first = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when this tab starts a job
  useEffect(() => {
    if (!first.current) void refetch()
    first.current = false
  }, [followed])

  const list = jobs.data?.data
  useEffect(() => {
    if (list !== undefined) setShown((old) => nextTray(old, list, { followed, closed }, clock.now()))
  }, [list, followed, closed, clock])

  return {
    jobs: shown.filter(
      ({ job, endedAt }) => !isOver({ endedAt, failed: job.state === 'failed' || job.failed > 0 }, now),
    ),
    close: (id: string) => setClosed((old) => new Set([...old, id])),
    reread: () => void refetch(),
  }
}
