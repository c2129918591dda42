import { deleteReportSchedule, listReportSchedules, type ReportSchedule } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { curlOf } from '../../lib/curl.ts'
import { useServices } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Icon } from '../../ui/icons.tsx'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { useLiveRefresh } from '../../ui/useLive.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { ReportsFrame } from './ReportsFrame.tsx'
import classes from './reports.module.css'
import { SchedulesTable } from './SchedulesTable.tsx'

/** Lists as files that are made by themselves: when, for whom, and how the last one went. */
export const ReportsPage = () => {
  useTitle('Reports')
  const { api, session } = useServices()
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
            <SchedulesTable schedules={schedules.data?.data} canWrite={canWrite} remove={remove} />
          )}
        </SettingsPage>
      </div>
    </ReportsFrame>
  )
}
