import { type ConnectionStatus, connectionStates, hostKeyTrusts, pollCauses, pollFailures } from '@portcullis/contract'
import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import type { ViewSpec } from '@portcullis/platform/console/lib/view-state.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { Column } from '@portcullis/platform/console/ui/table/column.ts'
import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'
import { durationText, keyTrustLabels, platformLabels } from './labels.ts'
import { NextRun } from './NextRun.tsx'
import { strings } from './strings.ts'

const stateLabels: Readonly<Record<ConnectionStatus['statusString'], { word: string; severity: Severity | null }>> = {
  Pending: { word: strings.waiting, severity: 'neutral' },
  Running: { word: strings.runningState, severity: 'neutral' },
  Success: { word: strings.succeeded, severity: null },
  Failed: { word: strings.failed, severity: 'amber' },
  Unregistered: { word: strings.notPolled, severity: 'neutral' },
}

/** Filters of the list of agentless hosts, by the names of the API. */
export const statusFilters = [
  {
    name: 'StatusString',
    label: strings.state,
    kind: 'choice',
    options: connectionStates.map((value) => ({ value, label: stateLabels[value].word })),
  },
  {
    name: 'Cause',
    label: strings.cause,
    kind: 'choice',
    options: pollFailures.map((value) => ({ value, label: pollCauses[value].title })),
  },
  {
    name: 'HostKeyTrust',
    label: strings.keyTrust,
    kind: 'choice',
    options: hostKeyTrusts.map((value) => ({ value, label: keyTrustLabels[value] })),
  },
  { name: 'ComputerName', label: strings.hostName, kind: 'text' },
  { name: 'IsOverrideDefaults', label: strings.ownCredentials, kind: 'yesNo' },
  { name: 'EndTime', label: strings.lastRun, kind: 'period' },
] as const satisfies readonly Filter[]

export const statusView: ViewSpec = {
  filters: statusFilters.map(({ name }) => name),
  defaultSort: 'computerName_asc',
  defaultColumns: ['computer', 'state', 'story', 'key', 'platform', 'devices', 'took', 'ended', 'next'],
}

export const State = ({ status }: { status: ConnectionStatus['statusString'] }) => {
  const { word, severity } = stateLabels[status]
  return severity === null ? <span>{word}</span> : <SeverityTag severity={severity} word={word} />
}

/** Returns the result of the last poll, with the error if it failed. */
const resultOf = ({ statusDescription, statusErrorDescription }: ConnectionStatus): string =>
  statusErrorDescription === '' ? statusDescription : `${statusDescription}. ${statusErrorDescription}`

export const statusColumns: readonly Column<ConnectionStatus>[] = [
  {
    id: 'computer',
    title: strings.hostName,
    width: 186,
    grow: true,
    sortKey: 'computerName',
    cell: (row) => <DeviceText value={row.computerName} />,
  },
  {
    id: 'state',
    title: strings.state,
    width: 96,
    sortKey: 'statusString',
    cell: (row) => <State status={row.statusString} />,
  },
  {
    id: 'story',
    title: strings.result,
    width: 230,
    grow: true,
    sortKey: 'statusErrorDescription',
    cell: (row) => <DeviceText value={resultOf(row)} />,
  },
  {
    id: 'key',
    title: strings.keyTrust,
    width: 130,
    sortKey: 'hostKeyTrust',
    cell: (row) => keyTrustLabels[row.hostKeyTrust],
  },
  {
    id: 'platform',
    title: strings.systemColumn,
    width: 80,
    sortKey: 'platform',
    cell: (row) => (row.platform === 'auto' ? '–' : platformLabels[row.platform]),
  },
  {
    id: 'devices',
    hasLink: true,
    title: strings.devices,
    width: 76,
    align: 'right',
    sortKey: 'peripheralsCount',
    naturalSort: 'desc',
    cell: (row) =>
      row.uuid === '' ? (
        '–'
      ) : (
        <PlainLink href={agentAddress(row.uuid)}>{row.peripheralsCount.toLocaleString('en')}</PlainLink>
      ),
  },
  {
    id: 'took',
    title: strings.duration,
    width: 74,
    align: 'right',
    sortKey: 'durationMs',
    naturalSort: 'desc',
    cell: (row) => durationText(row.durationMs),
  },
  {
    id: 'ended',
    title: strings.ended,
    width: 76,
    align: 'right',
    sortKey: 'endTime',
    naturalSort: 'desc',
    cell: (row) => <Time value={row.endTime} />,
  },
  {
    id: 'next',
    title: strings.next,
    width: 84,
    align: 'right',
    sortKey: 'nextRun',
    cell: (row) => <NextRun value={row.nextRun} />,
  },
  {
    id: 'failures',
    title: strings.failuresInARow,
    width: 120,
    align: 'right',
    sortKey: 'failures',
    naturalSort: 'desc',
    cell: (row) => row.failures.toLocaleString('en'),
  },
  {
    id: 'own',
    title: strings.ownCredentials,
    width: 120,
    sortKey: 'isOverrideDefaults',
    cell: (row) => (row.isOverrideDefaults ? strings.yes : strings.no),
  },
  {
    id: 'previous',
    title: strings.lastFailures,
    width: 320,
    sortKey: 'prevRunningErrors',
    cell: (row) => <DeviceText value={row.prevRunningErrors} />,
  },
]
