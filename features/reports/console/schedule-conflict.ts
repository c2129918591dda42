import type { ConflictField } from '@portcullis/platform/console/ui/form/EditConflict.tsx'
import type { ReportSchedule } from '#features/contract.ts'
import { type Draft, draftOfStored } from './draft.ts'
import { cadenceText, rangeLabels, targetText } from './labels.ts'
import { strings } from './strings.ts'

/** Fields of a schedule that only make sense together. */
export const scheduleGroups: readonly (readonly (keyof Draft)[])[] = [
  ['list', 'filter', 'columns', 'sortBy', 'range'],
  ['format', 'form'],
]

const filterText = (filter: Draft['filter']): string =>
  Object.entries(filter)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')

const members: readonly (readonly [name: string, of: (draft: Draft) => string])[] = [
  [strings.name, ({ name }) => name],
  [strings.list, ({ list }) => list],
  [strings.filters, ({ filter }) => filterText(filter)],
  [strings.columns, ({ columns }) => columns.join(', ')],
  [strings.order, ({ sortBy }) => sortBy],
  [strings.format, ({ format, form }) => (format === 'csv' && form === 'fixed' ? strings.csvPrograms : format)],
  [strings.schedule, ({ cadence }) => cadenceText(cadence)],
  [strings.period, ({ range }) => rangeLabels[range]],
  [strings.emailTo, ({ recipients, folder }) => targetText(recipients, folder)],
  [strings.keepFiles, ({ keepFiles }) => String(keepFiles)],
  [strings.enabled, ({ isEnabled }) => (isEnabled ? strings.yes : strings.no)],
]

/** Returns the properties that another person changed while a schedule was edited. */
export const scheduleConflict = (base: ReportSchedule, theirs: ReportSchedule, mine: Draft): ConflictField[] => {
  const [before, after] = [draftOfStored(base), draftOfStored(theirs)]
  return members.flatMap(([name, of]) =>
    of(before) === of(after) ? [] : [{ name, before: of(before), theirs: of(after), mine: of(mine) }],
  )
}
