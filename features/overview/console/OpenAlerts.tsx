import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { Note, Panel, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { Link } from '@tanstack/react-router'
import { AlertList } from '#features/alerts/console/shared/AlertList.tsx'
import { lineOfRisk } from '#features/alerts/console/shared/line.ts'
import { alertsKey, useAlertCounts } from '#features/alerts/console/shared/useAlerts.ts'
import { listRiskNotices } from '#features/contract.ts'
import { ResponseTimes } from './ResponseTimes.tsx'
import { strings } from './strings.ts'

const shown = 5

/** Lists the alerts that a person should handle first: pinned ones, then the most severe. */
export const OpenAlerts = () => {
  const { session } = useServices()
  const counts = useAlertCounts().data
  const alerts = useRead([alertsKey, 'overview'], listRiskNotices, {
    query: { pageSize: shown },
    enabled: session.may('notices:read'),
  })
  if (!session.may('notices:read')) return null
  return (
    <Panel small aria-label={strings.openAlerts}>
      <h2>{strings.openAlerts}</h2>
      {alerts.data === undefined ? null : alerts.data.length === 0 ? (
        <Note>{strings.noAlerts}</Note>
      ) : (
        <Text as="div" style={{ marginInline: -12 }}>
          <AlertList alerts={alerts.data.map((alert) => ({ list: 'risk' as const, line: lineOfRisk(alert) }))} />
        </Text>
      )}
      {(counts?.riskNotifications ?? 0) > shown ? (
        <Link to="/alerts">{strings.allAlerts({ count: counts?.riskNotifications ?? 0 })}</Link>
      ) : null}
      <ResponseTimes />
    </Panel>
  )
}
