import { Button } from '@mantine/core'
import { bytesText } from '@portcullis/platform/console/lib/bytes.ts'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { DrawerBody, Notice, Quiet, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SidePanel } from '@portcullis/platform/console/ui/SidePanel.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listReportRuns, type ReportRun, reportRunFile } from '#features/contract.ts'
import { listTitle, RunState } from './runs.view.tsx'
import { strings } from './strings.ts'

const deliveryStates = {
  waiting: strings.inTransit,
  done: strings.delivered,
  failed: strings.deliveryFailed,
} as const

const Deliveries = ({ run }: { run: ReportRun }) => (
  <section aria-label={strings.deliveries}>
    <h3>{strings.deliveries}</h3>
    {run.deliveries.length === 0 ? (
      <Text as="p" quiet tiny>
        {run.state === 'completed' ? strings.keptForDownload : strings.noDeliveries}
      </Text>
    ) : (
      <Stack as="ul" gap={8}>
        {run.deliveries.map(({ kind, target, state, error, at }) => (
          <li key={`${kind} ${target}`}>
            {kind === 'folder' ? (
              strings.folderTarget({ folder: <DeviceText value={target} /> })
            ) : (
              <DeviceText value={target} />
            )}{' '}
            <Row as="span" gap={4} tone={state === 'failed' ? 'red' : undefined}>
              {state === 'failed' ? <Icon name="warn" size={14} /> : null}
              {deliveryStates[state]}
            </Row>{' '}
            <Time value={at} form="local" />
            {error === '' ? null : (
              <Quiet block tiny>
                <DeviceText value={error} />
              </Quiet>
            )}
          </li>
        ))}
      </Stack>
    )}
  </section>
)

const Body = ({ id }: { id: string }) => {
  const { api, work, session } = useServices()
  const query = { id }
  const found = useQuery({
    queryKey: ['report-run', id],
    queryFn: async ({ signal }) => (await api.call(listReportRuns, { query, signal })).data[0] ?? null,
  })
  useLiveRefresh(['reports'], 500, () => void found.refetch())
  const run = found.data
  if (run === undefined) return found.error === null ? <DetailSkeleton /> : <ErrorState query={found} />
  if (run === null)
    return (
      <EmptyState icon="report" title={strings.runNotFound}>
        <p>{strings.runNotFoundText}</p>
      </EmptyState>
    )
  const download = () =>
    work.fetchFile({
      name: run.fileName,
      open: (signal) => api.openFile(reportRunFile, { params: { id }, signal }),
    })
  return (
    <DrawerBody>
      <h2>
        <DeviceText value={run.name} />
      </h2>
      <Row gap={12}>
        <RunState run={run} />
        {run.hasFile ? (
          <Button size="compact-sm" leftSection={<Icon name="download" size={14} />} onClick={download}>
            {strings.download}
          </Button>
        ) : null}
        <MoreMenu label={strings.moreActions} curl={() => curlOf(reportRunFile, { params: { id } })} />
      </Row>
      {run.error === '' ? null : (
        <Notice tone="red" role="note">
          <DeviceText value={run.error} />
        </Notice>
      )}
      {run.note === '' ? null : <Notice tone="amber">{run.note}</Notice>}
      <Facts
        rows={[
          [strings.list, `${listTitle(run.list)}, ${run.format.toUpperCase()}`],
          ...(run.fileName === ''
            ? []
            : ([
                [strings.rows, run.rows.toLocaleString('en')],
                [strings.size, bytesText(run.bytes)],
                [strings.file, <DeviceText key="file" value={run.fileName} />],
                [strings.stored, run.hasFile ? strings.yes : strings.noLonger],
              ] as const)),
          ...(run.rangeFrom === null
            ? []
            : ([
                [strings.rowsFrom, <Time key="from" value={run.rangeFrom} form="local" />],
                [strings.rowsTo, <Time key="to" value={run.rangeTo} form="local" />],
              ] as const)),
          [strings.startedBy, run.reason === 'schedule' ? strings.bySchedule : <DeviceText key="by" value={run.by} />],
          [strings.due, <Time key="due" value={run.dueAt} form="local" />],
          [strings.started, <Time key="begun" value={run.startedAt} form="local" />],
          [strings.ended, <Time key="ended" value={run.endedAt} form="local" />],
          [
            strings.schedule,
            run.scheduleId === null ? (
              strings.scheduleDeleted
            ) : session.may('config:write') ? (
              <Link key="schedule" to="/reports/$id" params={{ id: run.scheduleId }}>
                {strings.openSchedule}
              </Link>
            ) : (
              strings.scheduleExists
            ),
          ],
        ]}
      />
      <Deliveries run={run} />
    </DrawerBody>
  )
}

/** The drawer of a run: its result, its file and its deliveries. */
export const RunDrawer = ({ id, close }: { id: string; close: () => void }) => (
  <SidePanel label={strings.run} close={close}>
    <Body key={id} id={id} />
  </SidePanel>
)
