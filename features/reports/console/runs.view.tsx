import { bytesText } from '@portcullis/platform/console/lib/bytes.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { listTable } from '@portcullis/platform/console/ui/list/list-table.tsx'
import { type ReportRun, reportListNames, reportRunList, reportTraits } from '#features/contract.ts'
import { resultOf } from './labels.ts'
import { strings } from './strings.ts'

/** Returns the first error of a run: of its file or of a delivery. */
const troubleOf = ({ error, deliveries }: ReportRun): string => {
  const failed = deliveries.find((delivery) => delivery.error !== '')
  return error !== '' || failed === undefined ? error : `${failed.target}: ${failed.error}`
}

export const RunState = ({ run }: { run: ReportRun }) => {
  const { word, isBad } = resultOf({ state: run.state, error: troubleOf(run) })
  return isBad ? (
    <Row as="span" gap={4} tone="red">
      <Icon name="warn" size={14} /> {word}
    </Row>
  ) : (
    <span>{word}</span>
  )
}

export const listTitle = (list: string): string => {
  const known = reportListNames.find((name) => name === list)
  return known === undefined ? list : reportTraits[known].title
}

export const runsTable = listTable<ReportRun>(reportRunList, {
  state: (run) => <RunState run={run} />,
  error: (run) => <DeviceText value={troubleOf(run)} absent="" />,
  list: (run) => listTitle(run.list),
  format: (run) => run.format.toUpperCase(),
  rows: (run) => (run.fileName === '' ? '–' : run.rows.toLocaleString('en')),
  bytes: (run) => (run.fileName === '' ? '–' : bytesText(run.bytes)),
  by: (run) => (run.reason === 'schedule' ? strings.bySchedule : <DeviceText value={run.by} />),
})
