import { type HealthStatus, listHealthNotices } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useServices } from '../../lib/services.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { noticesKey } from '../../ui/notices/useNotices.ts'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { Time } from '../../ui/Time.tsx'
import type { View } from '../../ui/useView.ts'
import { lineOfHealth, statusSeverity } from './line.ts'
import { NoticeGrid } from './NoticeGrid.tsx'
import classes from './notices.module.css'

const overallWords: Readonly<Record<HealthStatus, string>> = {
  OK: 'All parts of the server are OK',
  Warning: 'A part of the server has a warning',
  Error: 'A part of the server has an error',
  Unknown: 'No part of the server was looked at yet',
}

/** Notices of parts of this server that are, or lately were, not well. */
export const HealthInbox = ({ view }: { view: View }) => {
  const { api, session } = useServices()
  const overall = useQuery({
    queryKey: [noticesKey, 'overall'],
    queryFn: ({ signal }) => api.call(listHealthNotices, { signal }),
  })
  return (
    <div className={classes.list}>
      <p className={classes.overall} aria-live="polite">
        {overall.data === undefined ? (
          'Looking…'
        ) : (
          <>
            <SeverityTag severity={statusSeverity[overall.data.status]} word={overallWords[overall.data.status]} />
            <span className={classes.quiet}>
              looked at <Time value={overall.data.lastUpdated} />
            </span>
            {session.may('health:read') ? <Link to="/settings/health">Each part, and what to do</Link> : null}
          </>
        )}
      </p>
      <NoticeGrid
        list="health"
        label="Health notices"
        view={view}
        name="health"
        read={async (_size, signal) => (await api.call(listHealthNotices, { signal })).items.map(lineOfHealth)}
        canDismiss={session.may('notices:dismiss')}
        empty={
          <EmptyState icon="health" title="No part of the server was unwell">
            <p>
              A notice comes when a part gets worse: the database, a disk that fills, a queue that grows, a connected
              system that does not answer. One that is well again stays for a day.
            </p>
          </EmptyState>
        }
      />
    </div>
  )
}
