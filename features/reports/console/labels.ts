import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { type ReportCadence, type ReportRange, type ReportRunState, reportRunStateLabels } from '#features/contract.ts'
import { strings } from './strings.ts'

export const weekdays = [
  strings.monday,
  strings.tuesday,
  strings.wednesday,
  strings.thursday,
  strings.friday,
  strings.saturday,
  strings.sunday,
] as const

/** Returns when a schedule runs. */
export const cadenceText = ({ every, weekday, day, time, timeZone }: ReportCadence): string => {
  const at = { time, timeZone }
  if (every === 'week') return strings.weeklyOn({ weekday: weekdays[(weekday ?? 1) - 1] ?? '', ...at })
  if (every === 'month') return day === 31 ? strings.monthlyLast(at) : strings.monthlyOn({ day: day ?? 1, ...at })

  return strings.dailyAt(at)
}

export const rangeLabels: Readonly<Record<ReportRange, string>> = messages({
  all: 'All rows',
  day: 'Rows of the previous day',
  week: 'Rows of the previous week',
  month: 'Rows of the previous month',
  previous: 'Rows since the previous run',
})

const stateLabels = messages(reportRunStateLabels)

/** Returns the result of a run. A file that was created but not delivered counts as a problem. */
export const resultOf = ({
  state,
  error,
}: {
  state: ReportRunState
  error: string
}): { word: string; isBad: boolean } =>
  state === 'completed' && error !== ''
    ? { word: strings.notDelivered, isBad: true }
    : { word: stateLabels[state], isBad: state === 'failed' }

/** Returns where a report goes, in a few words. */
export const targetText = (recipients: readonly string[], folder: string | null): string => {
  const [first, ...others] = recipients
  const parts = [
    first === undefined ? '' : others.length === 0 ? first : strings.recipientCount({ count: recipients.length }),
    folder === null ? '' : strings.folderName({ folder }),
  ].filter((part) => part !== '')
  return parts.length === 0 ? strings.downloadOnly : parts.join(', ')
}
