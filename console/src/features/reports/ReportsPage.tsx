import { Button, Menu } from '@mantine/core'
import {
  addReportSchedule,
  deleteReportSchedule,
  listReportSchedules,
  type ReportSchedule,
  reportTraits,
} from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { curlOf } from '../../lib/curl.ts'
import { useServices } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Icon } from '../../ui/icons.tsx'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import { useLiveRefresh } from '../../ui/useLive.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { ReportsFrame } from './ReportsFrame.tsx'
import classes from './reports.module.css'
import { useRunNow } from './useRunNow.ts'
import { cadenceWords, resultOf, targetWords } from './words.ts'

const LastRun = ({ schedule: { lastRun, problem } }: { schedule: ReportSchedule }) => {
  if (problem !== '')
    return (
      <span className={classes.bad} title={problem}>
        <Icon name="warn" size={14} /> Does not run: <DeviceText value={problem} />
      </span>
    )
  if (lastRun === null) return <>never ran</>
  const { word, isBad } = resultOf(lastRun)
  return (
    <span title={lastRun.error}>
      <Link to="/reports/history" search={{ run: lastRun.id }} className={isBad ? classes.bad : undefined}>
        {isBad ? <Icon name="warn" size={14} /> : null}
        {word}
      </Link>{' '}
      <Time value={lastRun.at} />
    </span>
  )
}

/** Lists as files that are made by themselves: when, for whom, and how the last one went. */
export const ReportsPage = () => {
  useTitle('Reports')
  const { api, session } = useServices()
  const runNow = useRunNow()
  const schedules = useQuery({
    queryKey: ['report-schedules'],
    queryFn: ({ signal }) => api.call(listReportSchedules, { signal }),
  })
  useLiveRefresh(['reports'], 500, () => void schedules.refetch())
  const canWrite = session.may('config:write')
  const remove = ({ id, name }: ReportSchedule) =>
    confirm({
      title: 'Delete this schedule?',
      names: [name],
      kind: ['schedule', 'schedules'],
      consequence: 'It runs no more. Its history and the files that are kept stay as long as they would have.',
      action: 'Delete',
      run: async () => {
        await api.call(deleteReportSchedule, { params: { id } })
        await schedules.refetch()
      },
    })
  const fresh = (
    <LinkButton to="/reports/$id" params={{ id: 'new' }} size="compact-sm" leftSection={<Icon name="plus" size={14} />}>
      New schedule
    </LinkButton>
  )
  const isEmpty = schedules.data?.data.length === 0
  return (
    <ReportsFrame>
      <div className={classes.scroll}>
        <SettingsPage
          title="Reports"
          intro="Lists and insights as CSV or PDF, made at their time and sent to people or into a folder. Each runs with the rights of who saved it last."
          actions={
            <>
              {canWrite && !isEmpty ? fresh : null}
              <MoreMenu label="More" curl={() => curlOf(window.location.origin, listReportSchedules)} />
            </>
          }
        >
          {schedules.error === null ? null : (
            <ErrorState failure={schedules.error} retry={() => void schedules.refetch()} inline />
          )}
          {isEmpty ? (
            <EmptyState icon="report" title="No report is scheduled yet">
              <p>
                A weekly list of new devices for the security team, a monthly PDF of all hosts for an audit: choose a
                list, a time and who gets it. In each list, “Schedule this…” in its export menu takes over what you see.
              </p>
              {canWrite ? <p>{fresh}</p> : <p>An Administrator sets one up.</p>}
            </EmptyState>
          ) : (
            <SmallTable
              label="Schedules"
              head={['Report', 'Runs', 'Goes to', 'Next run', 'Last run', { title: '', align: 'right' }]}
              rows={schedules.data?.data.map((schedule) => ({
                key: schedule.id,
                quiet: !schedule.isEnabled,
                cells: [
                  <span key="name">
                    {canWrite ? (
                      <Link to="/reports/$id" params={{ id: schedule.id }}>
                        <DeviceText value={schedule.name} />
                      </Link>
                    ) : (
                      <DeviceText value={schedule.name} />
                    )}
                    <span className={classes.below}>
                      {reportTraits[schedule.list].title}, {schedule.format.toUpperCase()}
                    </span>
                  </span>,
                  cadenceWords(schedule.cadence),
                  <DeviceText key="to" value={targetWords(schedule.recipients, schedule.folder)} />,
                  schedule.nextRunAt === null ? 'not enabled' : <Time key="next" value={schedule.nextRunAt} />,
                  <LastRun key="last" schedule={schedule} />,
                  <span key="actions" className={classes.actions}>
                    {canWrite ? (
                      <>
                        <Button
                          size="compact-xs"
                          variant="default"
                          onClick={() => void runNow(schedule.id, schedule.name)}
                        >
                          Run now
                        </Button>
                        <MoreMenu
                          label={`More of ${schedule.name}`}
                          curl={() => {
                            const {
                              id: _id,
                              owner: _o,
                              problem: _p,
                              nextRunAt: _n,
                              updatedAt: _u,
                              lastRun: _l,
                              ...body
                            } = schedule
                            return curlOf(window.location.origin, addReportSchedule, { body })
                          }}
                        >
                          <Menu.Item
                            leftSection={<Icon name="events" />}
                            renderRoot={(props) => (
                              <Link to="/reports/history" search={{ scheduleId: schedule.id }} {...props} />
                            )}
                          >
                            History
                          </Menu.Item>
                          <Menu.Item leftSection={<Icon name="trash" />} onClick={() => remove(schedule)}>
                            Delete…
                          </Menu.Item>
                        </MoreMenu>
                      </>
                    ) : null}
                  </span>,
                ],
              }))}
              empty=""
            />
          )}
        </SettingsPage>
      </div>
    </ReportsFrame>
  )
}
