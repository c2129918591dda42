import { SegmentedControl } from '@mantine/core'
import { agentAddress, deviceAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { listSource } from '@portcullis/platform/console/lib/list-source.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import type { ViewSpec } from '@portcullis/platform/console/lib/view-state.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { Icon, kindIcon } from '@portcullis/platform/console/ui/icons.tsx'
import { Quiet, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { Column } from '@portcullis/platform/console/ui/table/column.ts'
import { DataTable } from '@portcullis/platform/console/ui/table/DataTable.tsx'
import { ListFrame } from '@portcullis/platform/console/ui/table/ListFrame.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useView, type View } from '@portcullis/platform/console/ui/useView.ts'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { getPolicyTest, type PolicyTestRow, type Prediction, predictedDays } from '#features/contract.ts'
import { nameOfModel } from '#features/devices/console/shared/model-name.ts'
import { HostPicker } from './shared/HostPicker.tsx'
import { basisText, blockedText } from './shared/labels.ts'
import { TagPicker } from './shared/TagPicker.tsx'
import { strings } from './strings.ts'

const columns: readonly Column<PolicyTestRow>[] = [
  {
    id: 'decision',
    title: strings.outcome,
    width: 108,
    cell: ({ decision }) =>
      decision === 'block' ? <SeverityTag severity="red" word={strings.blocked} /> : <span>{strings.allowed}</span>,
  },
  {
    id: 'device',
    hasLink: true,
    title: strings.device,
    width: 220,
    grow: true,
    cell: (row) => (
      <Row as="span" gap={6}>
        <Icon name={kindIcon(row.devIcon)} size={14} />
        <PlainLink href={deviceAddress(row.uuid, row.deviceID)}>
          <DeviceText value={nameOfModel(row) || `${row.vid}:${row.pid}`} />
        </PlainLink>
      </Row>
    ),
  },
  { id: 'ids', title: strings.ids, width: 90, cell: ({ vid, pid }) => <code>{`${vid}:${pid}`}</code> },
  {
    id: 'host',
    hasLink: true,
    title: strings.hostName,
    width: 150,
    cell: (row) => (
      <PlainLink href={agentAddress(row.uuid)}>
        <DeviceText value={row.hostIdentifier} />
      </PlainLink>
    ),
  },
  { id: 'why', title: strings.why, width: 240, grow: true, cell: ({ reason }) => <DeviceText value={reason} /> },
  {
    id: 'times',
    title: strings.times,
    width: 70,
    align: 'right',
    cell: ({ attachments }) => (
      <span title={attachments === 0 ? strings.attachedBefore : undefined}>
        {attachments === 0 ? '–' : attachments.toLocaleString('en')}
      </span>
    ),
  },
  {
    id: 'seen',
    title: strings.lastSeen,
    width: 108,
    align: 'right',
    cell: ({ lastSeen }) => <Time value={lastSeen} />,
  },
]

const simulatorView: ViewSpec = {
  filters: ['days', 'hashtags', 'hostUuid', 'decision'],
  defaultSort: '',
  defaultColumns: columns.map(({ id }) => id),
}

const usualDays = String(predictedDays)
const idOf = (row: PolicyTestRow) => `${row.uuid}|${row.deviceID}`
const hrefOf = (row: PolicyTestRow) => deviceAddress(row.uuid, row.deviceID)

/** Fields for period, outcome and hosts. */
const Fields = ({ view }: { view: View }) => {
  const { filters } = view.state
  const set = (name: string, value: string | null) => view.set({ filters: { [name]: value } })
  return (
    <Row wrap align="end" gap={10}>
      <SegmentedControl
        size="xs"
        aria-label={strings.period}
        value={filters.days ?? usualDays}
        onChange={(days) => set('days', days === usualDays ? null : days)}
        data={['1', '7', '30', '90'].map((value) => ({
          value,
          label: strings.dayCount({ count: Number(value) }),
        }))}
      />
      <SegmentedControl
        size="xs"
        aria-label={strings.devices}
        value={filters.decision ?? ''}
        onChange={(decision) => set('decision', decision === '' ? null : decision)}
        data={[
          { value: '', label: strings.all },
          { value: 'block', label: strings.blocked },
          { value: 'allow', label: strings.allowed },
        ]}
      />
      <TagPicker
        label={strings.tag}
        clearable
        value={filters.hashtags ?? ''}
        onChange={(tag) => set('hashtags', tag === '' ? null : tag)}
      />
      <HostPicker
        label={strings.hostName}
        clearable
        value={filters.hostUuid ?? ''}
        onChange={(uuid) => set('hostUuid', uuid === '' ? null : uuid)}
      />
    </Row>
  )
}

/** Simulates arming: the outcome for every stored device, as if newly attached to an armed host. Blocked devices first. */
export const SimulatorPage = () => {
  useTitle(strings.simulator)
  const { api } = useServices()
  const view = useView('/inside/policy/simulator', simulatorView)
  const { filters } = view.state
  const [counts, setCounts] = useState<{ total: number; filtered: number } | null>(null)
  const [shown, setShown] = useState<{ of: string; prediction: Prediction } | null>(null)
  const query = useMemo((): Record<string, string> => ({ ...filters, days: filters.days ?? usualDays }), [filters])
  const key = JSON.stringify(query)
  const source = useMemo(() => {
    const rows = listSource(api, getPolicyTest, query, idOf)
    return {
      ...rows,
      load: async (page: number, size: number, signal?: AbortSignal) => {
        const answer = await rows.load(page, size, signal)
        // Each page of the response contains the prediction.
        setShown({ of: key, prediction: (answer as unknown as { prediction: Prediction }).prediction })
        return answer
      },
    }
  }, [api, query, key])
  return (
    <ListFrame
      title={strings.simulator}
      counts={counts}
      actions={<MoreMenu curl={() => curlOf(getPolicyTest, { query: { ...query, PageSize: 100 } })} />}
      filters={
        <Stack gap={8}>
          <Text as="p" aria-live="polite" data-stale={shown?.of !== key || undefined}>
            {shown === null ? (
              <strong>{strings.simulatorLoading}</strong>
            ) : (
              <>
                <strong>{blockedText(shown.prediction.blocked)}</strong> {basisText(shown.prediction)}
              </>
            )}{' '}
            <Quiet small>
              {strings.simulatorIntro({
                link: (text) => (
                  <Link to="/policy" search={{ open: 'new' }}>
                    {text}
                  </Link>
                ),
              })}
            </Quiet>
          </Text>
          <Fields view={view} />
        </Stack>
      }
      table={
        <DataTable
          label={strings.simulatorTable}
          columns={columns}
          source={source}
          view={view}
          topics={[]}
          hrefOf={hrefOf}
          opensPage
          empty={
            <EmptyState icon="policy" title={strings.simulatorEmptyTitle}>
              <p>{strings.simulatorEmpty}</p>
            </EmptyState>
          }
          onCounts={setCounts}
        />
      }
    />
  )
}
