import { Button } from '@mantine/core'
import { countNotices, listHealthNotices, listRiskNotices, type NoticeCounts } from '@portcullis/contract'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { Page, PageHead, Quiet, Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import type { NoticeList } from '@portcullis/platform/console/ui/notices/line.ts'
import { useNoticeCounts } from '@portcullis/platform/console/ui/notices/useNotices.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useView } from '@portcullis/platform/console/ui/useView.ts'
import tabClasses from '@portcullis/platform/console/ui/ViewTabs.module.css'
import { Link } from '@tanstack/react-router'
import { HealthInbox } from './HealthInbox.tsx'
import { useNoticeActions } from './notice-actions.ts'
import { alertsTable, riskOrderOf, riskQueryOf } from './notices.view.ts'
import { RiskInbox } from './RiskInbox.tsx'
import { strings } from './strings.ts'

const tabs = [
  { list: 'risk', title: strings.risk, total: 'riskNotifications', unread: 'riskUnread' },
  { list: 'health', title: strings.serverHealth, total: 'systemHealth', unread: 'systemHealthUnread' },
] as const satisfies readonly {
  list: NoticeList
  title: string
  total: keyof NoticeCounts
  unread: keyof NoticeCounts
}[]

/** The inbox: alerts about the fleet and about this server. */
export const NoticesPage = () => {
  useTitle(strings.alerts)
  const view = useView('/inside/notices', alertsTable.view)
  const counts = useNoticeCounts().data
  const list: NoticeList = view.state.tab === 'health' ? 'health' : 'risk'
  const here = tabs.find((tab) => tab.list === list) ?? tabs[0]
  const { readAll } = useNoticeActions(list, () => undefined)
  return (
    <Page gap={10}>
      <PageHead>
        <h1>{strings.alerts}</h1>
        <Row as="nav" align="start" gap={4} small aria-label={strings.alerts}>
          {tabs.map((tab) => (
            <Link
              key={tab.list}
              to="/notices"
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
                      query: { ...riskQueryOf(view.state), sortBy: riskOrderOf(view.state.sort) },
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
