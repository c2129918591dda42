import { Button, Group, Menu, NativeSelect, TextInput } from '@mantine/core'
import { type AuditRecord, exportAuditTrail, getAudits, severityNames } from '@portcullis/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { curlOf } from '../../lib/curl.ts'
import { useServices } from '../../lib/services.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { downloadByTicket } from '../../ui/download.ts'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { fieldOfInstant, instantOfField } from '../../ui/filters/filter.ts'
import { eventSeverity } from '../../ui/findings.ts'
import { Icon } from '../../ui/icons.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { ReportItems } from '../../ui/ReportItems.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import { useTitle } from '../../ui/useTitle.ts'
import classes from './AuditPage.module.css'
import { Checkpoints } from './Checkpoints.tsx'
import { strings } from './strings.ts'

const step = 100
// More lines would make the browser slow; older ones are reached by a date.
const most = 1_000

interface AuditSearch {
  severity?: string
  from?: string
  rows?: string
}

/** Details longer than this are collapsed, because a bulk action can list hundreds of devices. */
const shortDetails = 160

const Details = ({ text }: { text: string }) =>
  text.length <= shortDetails ? (
    <span className={classes.long}>
      <DeviceText value={text} absent="" />
    </span>
  ) : (
    <details className={classes.long}>
      <summary>
        <DeviceText value={`${text.slice(0, shortDetails)}…`} />
      </summary>
      <DeviceText value={text} />
    </details>
  )

const rowOf = (record: AuditRecord) => ({
  key: String(record.auditTrailID),
  cells: [
    record.auditTrailID,
    <Time key="when" value={record.creationTime} />,
    <DeviceText key="who" value={record.userName} />,
    <span key="what">
      {record.action} {record.outcome === 'failure' ? <SeverityTag severity="amber" word={strings.refused} /> : null}
      {record.severity <= 3 ? (
        <SeverityTag severity={eventSeverity(record.severity)} word={record.severityString} />
      ) : null}
    </span>,
    <span key="entity" className={classes.long}>
      <DeviceText value={record.entity} />
    </span>,
    <Details key="details" text={record.details} />,
    <code key="from">{record.sourceIp}</code>,
  ],
})

/** The audit trail: who did what, from where. */
export const AuditPage = () => {
  useTitle(strings.auditTrail)
  const { api } = useServices()
  const navigate = useNavigate()
  const search = useSearch({ from: '/inside/settings/audit' })
  const rows = Math.min(most, Math.max(step, Number(search.rows) || step))
  const query = {
    PageSize: rows,
    ...(search.severity === undefined ? {} : { MinimumSeverity: search.severity }),
    ...(search.from === undefined ? {} : { FromDate: search.from }),
  }
  const trail = useQuery({
    queryKey: ['audit', query],
    queryFn: ({ signal }) => api.call(getAudits, { query, signal }),
    placeholderData: keepPreviousData,
  })
  const set = (change: AuditSearch) =>
    void navigate({ to: '.', search: { ...search, rows: undefined, ...change }, replace: true })
  return (
    <SettingsPage
      title={strings.auditTrail}
      intro={strings.intro}
      actions={
        <MoreMenu label={strings.more} curl={() => curlOf(window.location.origin, getAudits, { query })}>
          <ReportItems list="audit" query={search.severity === undefined ? {} : { MinimumSeverity: search.severity }} />
          <Menu.Item
            leftSection={<Icon name="download" />}
            onClick={() => void downloadByTicket(api, exportAuditTrail, {}, 'audit.jsonl')}
          >
            {strings.exportToVerify}
          </Menu.Item>
        </MoreMenu>
      }
    >
      <Checkpoints />
      <Group gap="md" align="flex-end">
        <NativeSelect
          size="xs"
          label={strings.minimumSeverity}
          data={[
            { value: '', label: strings.anySeverity },
            ...severityNames.slice(0, 7).map((name) => ({ value: name, label: name })),
          ]}
          value={search.severity ?? ''}
          onChange={(event) => set({ severity: event.currentTarget.value || undefined })}
        />
        <TextInput
          size="xs"
          type="datetime-local"
          label={strings.fromDate}
          value={search.from === undefined ? '' : fieldOfInstant(search.from)}
          onChange={(event) => set({ from: instantOfField(event.currentTarget.value) ?? undefined })}
        />
      </Group>
      {trail.error === null ? null : <ErrorState failure={trail.error} retry={() => void trail.refetch()} inline />}
      <SmallTable
        label={strings.auditTrail}
        head={[
          { title: strings.number, align: 'right' },
          strings.when,
          strings.user,
          strings.action,
          strings.object,
          strings.details,
          strings.address,
        ]}
        rows={trail.data?.data.map(rowOf)}
        empty={strings.empty}
      />
      {(trail.data?.data.length ?? 0) >= rows && rows < most ? (
        <Group>
          <Button
            size="xs"
            variant="default"
            loading={trail.isFetching}
            onClick={() => set({ rows: String(rows + step * 3) })}
          >
            {strings.showMore}
          </Button>
        </Group>
      ) : null}
    </SettingsPage>
  )
}
