import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { LinkButton } from '@portcullis/platform/console/ui/LinkButton.tsx'
import { Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { deleteReportSchedule, listReportSchedules, type ReportSchedule } from '#features/contract.ts'
import { ReportsFrame } from './ReportsFrame.tsx'
import { SchedulesTable } from './SchedulesTable.tsx'
import { strings } from './strings.ts'

/** The scheduled reports: when they run, who receives them, and the last result. */
export const ReportsPage = () => {
  useTitle(strings.reports)
  const { api, session } = useServices()
  const schedules = useRead(['report-schedules'], listReportSchedules)
  useLiveRefresh(['reports'], 500, () => void schedules.refetch())
  const canWrite = session.may('config:write')
  const remove = ({ id, name }: ReportSchedule) =>
    confirm({
      title: strings.deleteTitle,
      names: [name],
      kind: strings.scheduleCount,
      consequence: strings.deleteConsequence,
      run: async () => {
        await api.call(deleteReportSchedule, { params: { id } })
        await schedules.refetch()
      },
    })
  const fresh = (
    <LinkButton to="/reports/$id" params={{ id: 'new' }} size="compact-sm" leftSection={<Icon name="plus" size={14} />}>
      {strings.newSchedule}
    </LinkButton>
  )
  const isEmpty = schedules.data?.data.length === 0
  return (
    <ReportsFrame>
      <Text as="div" grow style={{ overflowY: 'auto' }}>
        <SettingsPage
          title={strings.reports}
          intro={strings.intro}
          actions={
            <>
              {canWrite && !isEmpty ? fresh : null}
              <MoreMenu curl={() => curlOf(listReportSchedules)} />
            </>
          }
        >
          <ErrorState query={schedules} inline />
          {isEmpty ? (
            <EmptyState icon="report" title={strings.emptyTitle}>
              <p>{strings.emptyText}</p>
              {canWrite ? <p>{fresh}</p> : <p>{strings.emptyAsk}</p>}
            </EmptyState>
          ) : (
            <SchedulesTable schedules={schedules.data?.data} canWrite={canWrite} remove={remove} />
          )}
        </SettingsPage>
      </Text>
    </ReportsFrame>
  )
}
