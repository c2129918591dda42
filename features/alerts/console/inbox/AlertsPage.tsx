import { Button } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { Page, PageHead, Quiet, Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useView } from '@portcullis/platform/console/ui/useView.ts'
import tabClasses from '@portcullis/platform/console/ui/ViewTabs.module.css'
import { Link } from '@tanstack/react-router'
import { type AlertCounts, countNotices, listHealthNotices, listRiskNotices } from '#features/contract.ts'
import type { InboxList } from '../shared/line.ts'
import { useAlertCounts } from '../shared/useAlerts.ts'
import { useAlertActions } from './alert-actions.ts'
import { alertsTable, riskOrderOf, riskQueryOf } from './alerts.view.ts'
import { HealthInbox } from './HealthInbox.tsx'
import { RiskInbox } from './RiskInbox.tsx'
import { strings } from './strings.ts'

const tabs = [
  { list: 'risk', title: strings.risk, total: 'riskNotifications', unread: 'riskUnread' },
  { list: 'health', title: strings.serverHealth, total: 'systemHealth', unread: 'systemHealthUnread' },
] as const satisfies readonly {
  list: InboxList
  title: string
  total: keyof AlertCounts
  unread: keyof AlertCounts
}[]

/** The inbox: alerts about the fleet and about this server. */
export const AlertsPage = () => {
  useTitle(strings.alerts)
  const { clock } = useServices()
  const view = useView('/inside/alerts', alertsTable.view)
  const counts = useAlertCounts().data
  const list: InboxList = view.state.tab === 'health' ? 'health' : 'risk'
  const here = tabs.find((tab) => tab.list === list) ?? tabs[0]
  const { readAll } = useAlertActions(list)
  return (
    <Page gap={10}>
      <PageHead>
        <h1>{strings.alerts}</h1>
        <Row as="nav" align="start" gap={4} small aria-label={strings.alerts}>
          {tabs.map((tab) => (
            <Link
              key={tab.list}
              to="/alerts"
              search={tab.list === 'risk' ? {} : { tab: tab.list }}
              className={tabClasses.view}
              aria-current={tab.list === list ? 'page' : undefined}
            >
              {tab.title}
              {counts === undefined ? null : (
                <Quiet tiny num style={{ marginLeft: 6, fontWeight: 400 }}>
                  {counts[tab.total].toLocaleString('en')}
                  {counts[tab.unread] > 0 ? `, ${strings.unreadCount({ count: counts[tab.unread] })}` : ''}
                </Quiet>
              )}
            </Link>
          ))}
        </Row>
        <Row as="span" end>
          <Button
            size="compact-sm"
            variant="default"
            title={strings.forYouOnly}
            disabled={(counts?.[here.unread] ?? 0) === 0}
            onClick={readAll}
          >
            {strings.markAllRead}
          </Button>
          <MoreMenu
            curl={() =>
              [
                curlOf(countNotices),
                list === 'risk'
                  ? curlOf(listRiskNotices, {
                      query: { ...riskQueryOf(view.state, clock.now()), sortBy: riskOrderOf(view.state.sort) },
                    })
                  : curlOf(listHealthNotices),
              ].join('\n')
            }
          />
        </Row>
      </PageHead>
      {list === 'risk' ? <RiskInbox view={view} /> : <HealthInbox view={view} />}
    </Page>
  )
}
