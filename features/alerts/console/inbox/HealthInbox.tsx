import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { Quiet, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { View } from '@portcullis/platform/console/ui/useView.ts'
import { Link } from '@tanstack/react-router'
import { type HealthStatus, listHealthNotices } from '#features/contract.ts'
import { lineOfHealth, statusSeverity } from '../shared/line.ts'
import { alertsKey } from '../shared/useAlerts.ts'
import { AlertGrid } from './AlertGrid.tsx'
import { strings } from './strings.ts'

const overallLabels: Readonly<Record<HealthStatus, string>> = messages({
  OK: 'All systems operational',
  Warning: 'A part of the server has a warning',
  Error: 'A part of the server has an error',
  Unknown: 'No part of the server has been checked yet',
})

/** Alerts about parts of this server that are or recently were unhealthy. */
export const HealthInbox = ({ view }: { view: View }) => {
  const { api, session } = useServices()
  const overall = useRead([alertsKey, 'overall'], listHealthNotices)
  return (
    <Stack grow gap={10}>
      <Row as="p" gap={12} small aria-live="polite">
        {overall.data === undefined ? (
          strings.checking
        ) : (
          <>
            <SeverityTag severity={statusSeverity[overall.data.status]} word={overallLabels[overall.data.status]} />
            <Quiet small>{strings.checkedAt({ time: <Time value={overall.data.lastUpdated} /> })}</Quiet>
            {session.may('health:read') ? <Link to="/settings/health">{strings.healthLink}</Link> : null}
          </>
        )}
      </Row>
      <AlertGrid
        list="health"
        label={strings.healthAlerts}
        view={view}
        name="health"
        read={async (_size, signal) => (await api.call(listHealthNotices, { signal })).items.map(lineOfHealth)}
        canDismiss={session.may('notices:dismiss')}
        empty={
          <EmptyState icon="health" title={strings.healthEmptyTitle}>
            <p>{strings.healthEmptyText}</p>
          </EmptyState>
        }
      />
    </Stack>
  )
}
