import { listRiskNotices } from '@portcullis/contract'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { AlertList } from '@portcullis/platform/console/ui/notices/AlertList.tsx'
import { lineOfRisk } from '@portcullis/platform/console/ui/notices/line.ts'
import { noticesKey, useNoticeCounts } from '@portcullis/platform/console/ui/notices/useNotices.ts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import classes from './OverviewPage.module.css'
import { strings } from './strings.ts'

const shown = 5

/** Lists the alerts that a person should handle first: pinned ones, then the most severe. */
export const OpenAlerts = () => {
  const { api, session } = useServices()
  const counts = useNoticeCounts().data
  const alerts = useQuery({
    queryKey: [noticesKey, 'overview'],
    queryFn: ({ signal }) => api.call(listRiskNotices, { query: { pageSize: shown }, signal }),
    enabled: session.may('notices:read'),
  })
  if (!session.may('notices:read')) return null
  return (
    <section className={classes.card} aria-label={strings.openAlerts}>
      <h2>{strings.openAlerts}</h2>
      {alerts.data === undefined ? null : alerts.data.length === 0 ? (
        <p className={classes.quiet}>{strings.noAlerts}</p>
      ) : (
        <div className={classes.alerts}>
          <AlertList alerts={alerts.data.map((notice) => ({ list: 'risk' as const, line: lineOfRisk(notice) }))} />
        </div>
      )}
      {(counts?.riskNotifications ?? 0) > shown ? (
        <Link to="/notices">{strings.allAlerts({ count: counts?.riskNotifications ?? 0 })}</Link>
      ) : null}
    </section>
  )
}
