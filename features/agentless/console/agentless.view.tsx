import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { listTable } from '@portcullis/platform/console/ui/list/list-table.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'
import { type ConnectionStatus, connectionStatusList } from '#features/contract.ts'
import { durationText, keyTrustLabels, platformLabels } from './labels.ts'
import { NextRun } from './NextRun.tsx'
import { strings } from './strings.ts'

const stateLabels: Readonly<Record<ConnectionStatus['statusString'], { word: string; severity: Severity | null }>> = {
  Pending: { word: strings.waiting, severity: 'neutral' },
  Running: { word: strings.running, severity: 'neutral' },
  Success: { word: strings.succeeded, severity: null },
  Failed: { word: strings.failed, severity: 'amber' },
  Unregistered: { word: strings.notPolled, severity: 'neutral' },
}

export const State = ({ status }: { status: ConnectionStatus['statusString'] }) => {
  const { word, severity } = stateLabels[status]
  return severity === null ? <span>{word}</span> : <SeverityTag severity={severity} word={word} />
}

/** Returns the result of the last poll, with the error if it failed. */
const resultOf = ({ statusDescription, statusErrorDescription }: ConnectionStatus): string =>
  statusErrorDescription === '' ? statusDescription : `${statusDescription}. ${statusErrorDescription}`

export const statusTable = listTable<ConnectionStatus>(connectionStatusList, {
  state: (row) => <State status={row.statusString} />,
  story: (row) => <DeviceText value={resultOf(row)} />,
  key: (row) => keyTrustLabels[row.hostKeyTrust],
  platform: (row) => (row.platform === 'auto' ? '–' : platformLabels[row.platform]),
  devices: (row) =>
    row.uuid === '' ? (
      '–'
    ) : (
      <PlainLink href={agentAddress(row.uuid)}>{row.peripheralsCount.toLocaleString('en')}</PlainLink>
    ),
  took: (row) => durationText(row.durationMs),
  next: (row) => <NextRun value={row.nextRun} />,
})
