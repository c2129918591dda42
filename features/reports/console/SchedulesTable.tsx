import { Button, Menu } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Quiet, Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { Link } from '@tanstack/react-router'
import { addReportSchedule, type ReportSchedule, reportTraits } from '#features/contract.ts'
import { cadenceText, resultOf, targetText } from './labels.ts'
import { strings } from './strings.ts'
import { useRunNow } from './useRunNow.ts'

const LastRun = ({ schedule: { lastRun, problem } }: { schedule: ReportSchedule }) => {
  if (problem !== '')
    return (
      <Row as="span" gap={4} tone="red" title={problem}>
        <Icon name="warn" size={14} /> {strings.cannotRun} <DeviceText value={problem} />
      </Row>
    )
  if (lastRun === null) return <>{strings.neverRan}</>
  const { word, isBad } = resultOf(lastRun)
  return (
    <span title={lastRun.error}>
      <Link to="/reports/history" search={{ run: lastRun.id }} style={isBad ? { color: 'var(--pc-red)' } : undefined}>
        {isBad ? <Icon name="warn" size={14} /> : null}
        {word}
      </Link>{' '}
      <Time value={lastRun.at} />
    </span>
  )
}

interface RowProps {
  schedule: ReportSchedule
  remove: (schedule: ReportSchedule) => void
}

const Actions = ({ schedule, remove }: RowProps) => {
  const runNow = useRunNow()
  return (
    <>
      <Button size="compact-xs" variant="default" onClick={() => void runNow(schedule.id, schedule.name)}>
        {strings.runNow}
      </Button>
      <MoreMenu
        label={strings.moreOf({ name: schedule.name })}
        curl={() => {
          const { id: _id, owner: _o, problem: _p, nextRunAt: _n, updatedAt: _u, lastRun: _l, ...body } = schedule
          return curlOf(addReportSchedule, { body })
        }}
      >
        <Menu.Item
          leftSection={<Icon name="events" />}
          renderRoot={(props) => <Link to="/reports/history" search={{ scheduleId: schedule.id }} {...props} />}
        >
          {strings.history}
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="trash" />} onClick={() => remove(schedule)}>
          {strings.askDelete}
        </Menu.Item>
      </MoreMenu>
    </>
  )
}

const Name = ({ schedule, canWrite }: { schedule: ReportSchedule; canWrite: boolean }) => (
  <span>
    {canWrite ? (
      <Link to="/reports/$id" params={{ id: schedule.id }}>
        <DeviceText value={schedule.name} />
      </Link>
    ) : (
      <DeviceText value={schedule.name} />
    )}
    <Quiet block tiny>
      {reportTraits[schedule.list].title}, {schedule.format.toUpperCase()}
    </Quiet>
  </span>
)

export interface SchedulesTableProps {
  schedules: readonly ReportSchedule[] | undefined
  canWrite: boolean
  remove: (schedule: ReportSchedule) => void
}

/** The scheduled reports: when they run, who receives them, and the last result. */
export const SchedulesTable = ({ schedules, canWrite, remove }: SchedulesTableProps) => (
  <SmallTable
    label={strings.schedules}
    head={[strings.report, strings.runs, strings.recipients, strings.nextRun, strings.lastRun, right('')]}
    rows={schedules?.map((schedule) => ({
      key: schedule.id,
      quiet: !schedule.isEnabled,
      href: canWrite ? `/reports/${schedule.id}` : undefined,
      cells: [
        <Name key="name" schedule={schedule} canWrite={canWrite} />,
        cadenceText(schedule.cadence),
        <DeviceText key="to" value={targetText(schedule.recipients, schedule.folder)} />,
        schedule.nextRunAt === null ? strings.disabled : <Time key="next" value={schedule.nextRunAt} form="until" />,
        <LastRun key="last" schedule={schedule} />,
        <Row key="actions" as="span" align="start" justify="end" gap={4}>
          {canWrite ? <Actions schedule={schedule} remove={remove} /> : null}
        </Row>,
      ],
    }))}
    empty=""
  />
)
