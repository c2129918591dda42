import { Button } from '@mantine/core'
import { countNotices, listHealthNotices, listRiskNotices, type NoticeCounts } from '@portcullis/contract'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import type { NoticeList } from '@portcullis/platform/console/ui/notices/line.ts'
import { useNoticeCounts } from '@portcullis/platform/console/ui/notices/useNotices.ts'
import tabClasses from '@portcullis/platform/console/ui/tabs.module.css'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useView } from '@portcullis/platform/console/ui/useView.ts'
import { Link } from '@tanstack/react-router'
import { HealthInbox } from './HealthInbox.tsx'
import { useNoticeActions } from './notice-actions.ts'
import classes from './notices.module.css'
import { noticesView, riskOrderOf, riskQueryOf } from './notices.view.ts'
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
  useTitle(strings.title)
  const view = useView('/inside/notices', noticesView)
  const counts = useNoticeCounts().data
  const list: NoticeList = view.state.tab === 'health' ? 'health' : 'risk'
  const here = tabs.find((tab) => tab.list === list) ?? tabs[0]
  const { readAll } = useNoticeActions(list, () => undefined)
  return (
    <div className={classes.page}>
      <header className={classes.head}>
        <h1>{strings.title}</h1>
        <nav className={classes.tabs} aria-label={strings.title}>
          {tabs.map((tab) => (
            <Link
              key={tab.list}
              to="/notices"
              search={tab.list === 'risk' ? {} : { tab: tab.list }}
              className={`${tabClasses.tab} ${classes.tab}`}
              data-here={tab.list === list || undefined}
              aria-current={tab.list === list ? 'page' : undefined}
            >
              {tab.title}
              {counts === undefined ? null : (
                <span className={classes.tabCount}>
                  {counts[tab.total].toLocaleString('en')}
                  {counts[tab.unread] > 0 ? `, ${strings.unreadCount({ count: counts[tab.unread] })}` : ''}
                </span>
              )}
            </Link>
          ))}
        </nav>
        <span className={classes.actions}>
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
            label={strings.more}
            curl={() =>
              [
                curlOf(window.location.origin, countNotices),
                list === 'risk'
                  ? curlOf(window.location.origin, listRiskNotices, {
                      query: { ...riskQueryOf(view.state), sortBy: riskOrderOf(view.state.sort) },
                    })
                  : curlOf(window.location.origin, listHealthNotices),
              ].join('\n')
            }
          />
        </span>
      </header>
      {list === 'risk' ? <RiskInbox view={view} /> : <HealthInbox view={view} />}
    </div>
  )
}
