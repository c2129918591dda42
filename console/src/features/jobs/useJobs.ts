import { listJobs } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useServices } from '../../lib/services.tsx'
import { useLiveRefresh } from '../../ui/useLive.ts'
import { useNow } from '../../ui/useNow.ts'
import { isOver, nextTray, type TrayJob } from './tray.ts'

// A job that runs is asked for each second; without one the question only finds what others have started.
const busyGap = 1_000
const idleGap = 20_000

/** The jobs that the tray shows, as they move. */
export const useTrayJobs = () => {
  const { api, clock, work } = useServices()
  const now = useNow()
  const followed = useSyncExternalStore(work.watch, work.followed)
  const [shown, setShown] = useState<readonly TrayJob[]>([])
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const jobs = useQuery({
    queryKey: ['jobs'],
    queryFn: ({ signal }) => api.call(listJobs, { signal }),
    refetchInterval: ({ state }) =>
      state.data?.data.some((job) => job.state === 'running') === true ? busyGap : idleGap,
  })
  // Whatever changes hosts may be a job that somebody else has started.
  useLiveRefresh(['agents'], 3_000, () => void jobs.refetch())
  const { refetch } = jobs
  const first = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a job was started here, so there is news
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
