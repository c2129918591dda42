import { Button } from '@mantine/core'
import { listHealthNotices, listRiskNotices } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useServices } from '../../lib/services.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { noticesKey, useNoticeCounts } from '../../ui/notices/useNotices.ts'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { Time } from '../../ui/Time.tsx'
import { lineOfHealth, lineOfRisk, timesText } from './line.ts'
import { newestOf } from './newest.ts'
import { useNoticeActions } from './notice-actions.ts'
import classes from './notices.module.css'
import { strings } from './strings.ts'

const shown = 5
const nothing = () => undefined

/** The newest alerts of both lists, with a link to all. */
export const BellPanel = ({ close }: { close: () => void }) => {
  const { api } = useServices()
  const counts = useNoticeCounts().data
  const risk = useNoticeActions('risk', nothing)
  const health = useNoticeActions('health', nothing)
  const newest = useQuery({
    queryKey: [noticesKey, 'newest'],
    queryFn: async ({ signal }) => {
      // Pinned alerts come first in the list, however old. The newest are among the first of both parts.
      const part = (isPinned: string) => api.call(listRiskNotices, { query: { isPinned, pageSize: shown }, signal })
      const [pinned, others, { items }] = await Promise.all([
        part('true'),
        part('false'),
        api.call(listHealthNotices, { signal }),
      ])
      return newestOf(
        [
          ...[...pinned, ...others].map((notice) => ({ list: 'risk' as const, line: lineOfRisk(notice) })),
          ...items.map((notice) => ({ list: 'health' as const, line: lineOfHealth(notice) })),
        ],
        shown,
      )
    },
  })
  return (
    <section
      className={classes.panel}
      aria-label={strings.newest}
      onKeyDown={(event) => {
        // A letter typed here must not reach the list behind, which would dismiss or pin.
        if (event.key.length === 1 && !event.ctrlKey && !event.metaKey) event.stopPropagation()
      }}
    >
      {newest.data === undefined ? (
        newest.error === null ? (
          <div className={classes.panelSkeleton} aria-busy="true" />
        ) : (
          <ErrorState failure={newest.error} retry={() => void newest.refetch()} inline />
        )
      ) : newest.data.length === 0 ? (
        <p className={classes.panelEmpty}>{strings.panelEmpty}</p>
      ) : (
        <ul className={classes.panelList}>
          {newest.data.map(({ list, line }) => (
            <li key={`${list} ${line.id}`}>
              <Link
                to="/notices"
                search={list === 'risk' ? { open: String(line.id) } : { tab: list, open: String(line.id) }}
                className={classes.panelLine}
                data-unread={!line.isRead || undefined}
                onClick={close}
              >
                <span className={classes.panelTop}>
                  <SeverityTag severity={line.severity} word={line.severityLabel} />
                  <strong>{timesText(line.count)}</strong>
                  <Time value={line.lastAt} />
                </span>
                <span className={classes.panelTitle}>
                  <DeviceText value={line.title} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      <footer className={classes.panelFoot}>
        <Link to="/notices" onClick={close}>
          {counts === undefined ? strings.all : strings.allCount({ count: counts.total })}
        </Link>
        {(counts?.unread ?? 0) > 0 ? (
          <Button
            size="compact-sm"
            variant="subtle"
            onClick={() => {
              risk.readAll()
              health.readAll()
            }}
          >
            {strings.markAllRead}
          </Button>
        ) : null}
      </footer>
    </section>
  )
}
