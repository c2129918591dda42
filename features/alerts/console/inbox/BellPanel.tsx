import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Note, Row, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listHealthNotices, listRiskNotices } from '#features/contract.ts'
import { AlertList } from '../shared/AlertList.tsx'
import { foremostOf } from '../shared/foremost.ts'
import { lineOfHealth, lineOfRisk } from '../shared/line.ts'
import { alertsKey, useAlertCounts } from '../shared/useAlerts.ts'
import { useAlertActions } from './alert-actions.ts'
import { strings } from './strings.ts'

const shown = 5

/** The most severe alerts of both lists, with a link to all. */
export const BellPanel = ({ close }: { close: () => void }) => {
  const { api } = useServices()
  const counts = useAlertCounts().data
  const risk = useAlertActions('risk')
  const health = useAlertActions('health')
  const foremost = useQuery({
    queryKey: [alertsKey, 'foremost'],
    queryFn: async ({ signal }) => {
      // Pinned alerts come first in the list, whatever their severity. The most severe are among the first of both parts.
      const part = (isPinned: string) => api.call(listRiskNotices, { query: { isPinned, pageSize: shown }, signal })
      const [pinned, others, { items }] = await Promise.all([
        part('true'),
        part('false'),
        api.call(listHealthNotices, { signal }),
      ])
      return foremostOf(
        [
          ...[...pinned, ...others].map((alert) => ({ list: 'risk' as const, line: lineOfRisk(alert) })),
          ...items.map((alert) => ({ list: 'health' as const, line: lineOfHealth(alert) })),
        ],
        shown,
      )
    },
  })
  return (
    <Text
      as="section"
      small
      aria-label={strings.foremost}
      onKeyDown={(event) => {
        // A letter typed here must not reach the list behind, which would open or pin.
        if (event.key.length === 1 && !event.ctrlKey && !event.metaKey) event.stopPropagation()
      }}
    >
      {foremost.data === undefined ? (
        foremost.error === null ? (
          <Text as="div" style={{ height: 120 }} aria-busy="true" />
        ) : (
          <ErrorState query={foremost} inline />
        )
      ) : foremost.data.length === 0 ? (
        <Note pad={16}>{strings.noAlerts}</Note>
      ) : (
        <AlertList alerts={foremost.data} opened={close} />
      )}
      <Row
        as="footer"
        justify="space-between"
        pad="4px 12px"
        style={{ minHeight: 40, borderTop: '1px solid var(--pc-line)' }}
      >
        <Link to="/alerts" onClick={close}>
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
      </Row>
    </Text>
  )
}
