import { durationText, parseTime } from '@portcullis/platform/console/lib/time.ts'
import { listTable } from '@portcullis/platform/console/ui/list/list-table.tsx'
import { type HealthChange, healthChangeList } from '#features/contract.ts'
import { Status } from './Status.tsx'
import { strings } from './strings.ts'

const lasted = ({ at, endedAt }: HealthChange): string => {
  const from = parseTime(at)
  const to = parseTime(endedAt)
  return from === null || to === null ? strings.ongoing : durationText(Math.max(0, (to - from) / 1000))
}

export const changesTable = listTable<HealthChange>(healthChangeList, {
  part: (row) => row.subsystem,
  to: (row) => <Status status={row.status} />,
  lasted,
})
