import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Note, Quiet, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { lazilyDialog } from '@portcullis/platform/console/ui/lazily.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { findingVerdictLabels, type HostFinding, listFindings } from '#features/contract.ts'
import { findingOf } from '../findings.ts'
import { reopen } from './actions.ts'
import { strings } from './strings.ts'

const CloseFindingsDialog = lazilyDialog(async () => (await import('./CloseFindingsDialog.tsx')).CloseFindingsDialog)
const shownRows = 20

/** The state of a finding: attached, removed since, or its verdict. */
export const FindingState = ({ finding }: { finding: HostFinding }) => {
  if (finding.verdict !== null)
    return (
      <Row as="span" wrap gap={6}>
        {findingVerdictLabels[finding.verdict]}
        {finding.comment === '' ? null : (
          <Quiet>
            <DeviceText value={finding.comment} />
          </Quiet>
        )}
      </Row>
    )
  return <span>{strings.isOpen}</span>
}

export const FindingTag = ({ finding: { severity } }: { finding: Pick<HostFinding, 'severity'> }) => {
  const shown = findingOf(severity)
  return shown === null ? <span>–</span> : <SeverityTag severity={shown.severity} word={shown.word} />
}

export const FindingPlace = ({ finding }: { finding: HostFinding }) =>
  finding.detachedAt === null ? (
    <span>{strings.attached}</span>
  ) : (
    <span>{strings.removedAt({ time: <Time key="time" value={finding.detachedAt} form="ago" /> })}</span>
  )

/** The findings of one host, open ones first, with their verdicts. */
export const HostFindings = ({ agentId }: { agentId: string }) => {
  const services = useServices()
  const mayWrite = services.session.may('fleet:write')
  const [closing, setClosing] = useState<readonly HostFinding[] | null>(null)
  const read = useRead(['findings', agentId], listFindings, { query: { hostUuid: agentId, PageSize: shownRows } })
  const reread = () => void read.refetch()
  useLiveRefresh(['peripherals'], 1_000, reread)
  const rows = read.data?.data.map((finding) => ({
    key: String(finding.id),
    quiet: finding.verdict !== null,
    cells: [
      <FindingTag key="finding" finding={finding} />,
      <DeviceText
        key="device"
        value={finding.guiPid || finding.guiVid || `${finding.vid}:${finding.pid}`}
        absent={`${finding.vid}:${finding.pid}`}
      />,
      <FindingPlace key="place" finding={finding} />,
      <FindingState key="state" finding={finding} />,
      mayWrite ? (
        finding.verdict === null ? (
          <Button key="close" size="compact-xs" variant="default" onClick={() => setClosing([finding])}>
            {strings.askClose}
          </Button>
        ) : finding.closedBy === '' ? null : (
          <Button key="reopen" size="compact-xs" variant="subtle" onClick={() => reopen(services, [finding], reread)}>
            {strings.reopen}
          </Button>
        )
      ) : null,
    ],
  }))
  return (
    <Stack gap={8}>
      <h3>{strings.findingsOf}</h3>
      <Note>{strings.findingsHint}</Note>
      <SmallTable
        label={strings.findingsOf}
        head={[strings.finding, strings.device, strings.lastAttached, strings.state, '']}
        rows={rows}
        empty={strings.noFindings}
      />
      {(read.data?.recordsFiltered ?? 0) > shownRows ? (
        <Link to="/findings" search={{ hostUuid: agentId }}>
          {strings.allFindings({ count: read.data?.recordsFiltered ?? 0 })}
        </Link>
      ) : null}
      <CloseFindingsDialog findings={closing} close={() => setClosing(null)} onChanged={reread} />
    </Stack>
  )
}
