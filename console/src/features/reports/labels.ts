import type { ReportCadence, ReportRange, ReportRunState } from '@portcullis/contract'
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

const ordinal = (n: number): string => {
  const tens = n % 100
  const ending = tens >= 11 && tens <= 13 ? 'th' : ({ 1: 'st', 2: 'nd', 3: 'rd' }[n % 10] ?? 'th')
  return `${n}${ending}`
}

/** When a schedule runs, as people say it. */
export const cadenceWords = ({ every, weekday, day, time, timeZone }: ReportCadence): string => {
  const at = strings.atTimeTimezone({ time, timeZone })
  if (every === 'week') return `${weekdays[(weekday ?? 1) - 1]}s ${at}`
  if (every === 'month')
    return strings.onTheValueOfEachMonth({ value: day === 31 ? 'last day' : ordinal(day ?? 1), at })
  return strings.dailyAt({ at })
}

export const rangeWords: Readonly<Record<ReportRange, string>> = {
  all: strings.allRows,
  day: strings.rowsOfTheDayBefore,
  week: strings.rowsOfTheWeekBefore,
  month: strings.rowsOfTheMonthBefore,
  previous: strings.rowsSinceTheRunBefore,
}

export const stateWords: Readonly<Record<ReportRunState, string>> = {
  waiting: strings.waiting,
  running: strings.beingMade,
  completed: strings.made,
  failed: strings.failed,
  cancelled: strings.cancelled,
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
    ? { word: strings.madeNotAllDelivered, isBad: true }
    : { word: stateWords[state], isBad: state === 'failed' }

/** Where a report goes, in a few words. */
export const targetWords = (recipients: readonly string[], folder: string | null): string => {
  const parts = [
    recipients.length === 0
      ? ''
      : recipients.length === 1
        ? (recipients[0] as string)
        : strings.recipientsPeople({ recipients: recipients.length }),
    folder === null ? '' : strings.folderFolder({ folder }),
  ].filter((part) => part !== '')
  return parts.length === 0 ? 'kept for download' : parts.join(', ')
}
