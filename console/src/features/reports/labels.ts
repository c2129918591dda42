import type { ReportCadence, ReportRange, ReportRunState } from '@portcullis/contract'

export const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const

const ordinal = (n: number): string => {
  const tens = n % 100
  const ending = tens >= 11 && tens <= 13 ? 'th' : ({ 1: 'st', 2: 'nd', 3: 'rd' }[n % 10] ?? 'th')
  return `${n}${ending}`
}

/** When a schedule runs, as people say it. */
export const cadenceWords = ({ every, weekday, day, time, timeZone }: ReportCadence): string => {
  const at = `at ${time}, ${timeZone}`
  if (every === 'week') return `${weekdays[(weekday ?? 1) - 1]}s ${at}`
  if (every === 'month') return `on the ${day === 31 ? 'last day' : ordinal(day ?? 1)} of each month ${at}`
  return `daily ${at}`
}

export const rangeWords: Readonly<Record<ReportRange, string>> = {
  all: 'All rows',
  day: 'Rows of the day before',
  week: 'Rows of the week before',
  month: 'Rows of the month before',
  previous: 'Rows since the run before',
}

export const stateWords: Readonly<Record<ReportRunState, string>> = {
  waiting: 'Waiting',
  running: 'Being made',
  completed: 'Made',
  failed: 'Failed',
  cancelled: 'Cancelled',
}

/** How the last run stands in the list of schedules: a file that was made and not delivered is not well. */
export const resultOf = ({
  state,
  error,
}: {
  state: ReportRunState
  error: string
}): { word: string; isBad: boolean } =>
  state === 'completed' && error !== ''
    ? { word: 'Made, not all delivered', isBad: true }
    : { word: stateWords[state], isBad: state === 'failed' }

/** Where a report goes, in a few words. */
export const targetWords = (recipients: readonly string[], folder: string | null): string => {
  const parts = [
    recipients.length === 0 ? '' : recipients.length === 1 ? (recipients[0] as string) : `${recipients.length} people`,
    folder === null ? '' : `folder ${folder}`,
  ].filter((part) => part !== '')
  return parts.length === 0 ? 'kept for download' : parts.join(', ')
}
