import { MultiSelect, NumberInput, SegmentedControl, Select, TagsInput, TextInput } from '@mantine/core'
import { Columns, Panel, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import type { ReactNode } from 'react'
import {
  maxPdfRows,
  type ReportFormat,
  type ReportListName,
  type ReportRange,
  reportLimits,
  reportListNames,
  reportRanges,
  reportTraits,
} from '#features/contract.ts'
import { type Draft, withList } from './draft.ts'
import { FilterFields } from './FilterFields.tsx'
import { rangeLabels } from './labels.ts'
import { strings } from './strings.ts'

export interface ScheduleFieldsProps {
  draft: Draft
  set: (change: Partial<Draft>) => void
  /** Returns the server's message about a member. */
  fault: (member: string) => string | undefined
}

/** A group of fields. */
export const Fields = ({ title, children }: { title: string; children: ReactNode }) => (
  <Panel as="fieldset" gap={12}>
    <legend>{title}</legend>
    {children}
  </Panel>
)

const ListFields = ({ draft, set, fault }: ScheduleFieldsProps) => {
  const { time } = reportTraits[draft.list]
  return (
    <Columns template="repeat(auto-fit, minmax(160px, 1fr))" align="start">
      <Select
        label={strings.list}
        searchable
        allowDeselect={false}
        data={reportListNames.map((value) => ({ value, label: reportTraits[value].title }))}
        value={draft.list}
        onChange={(list) => set(withList(draft, (list ?? draft.list) as ReportListName))}
        error={fault('list')}
      />
      {time === '' ? null : (
        <Select
          label={strings.period}
          description={strings.rangeHelp({ time: time })}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          allowDeselect={false}
          data={reportRanges.map((value) => ({ value, label: rangeLabels[value] }))}
          value={draft.range}
          onChange={(range) => set({ range: (range ?? 'all') as ReportRange })}
          error={fault('range')}
        />
      )}
    </Columns>
  )
}

const formatHelp = ({ format, form }: Draft): string => {
  if (format === 'pdf') return strings.pdfHelp({ max: maxPdfRows })
  if (format === 'xlsx') return strings.xlsxHelp
  return form === 'fixed' ? strings.csvProgramsHelp : strings.csvHelp
}

const FormFields = ({ draft, set, fault }: ScheduleFieldsProps) => {
  const { canSort, columns } = reportTraits[draft.list]
  return (
    <Columns template="repeat(auto-fit, minmax(160px, 1fr))" align="start">
      {canSort ? (
        <Select
          label={strings.order}
          placeholder={strings.defaultOrder}
          searchable
          clearable
          data={[
            ...(draft.sortBy === '' || columns.some(({ key }) => draft.sortBy.startsWith(`${key}_`))
              ? []
              : [draft.sortBy]),
            ...columns.flatMap(({ key, label }) => [
              { value: `${key}_asc`, label: strings.ascending({ key: label }) },
              { value: `${key}_desc`, label: strings.descending({ key: label }) },
            ]),
          ]}
          value={draft.sortBy === '' ? null : draft.sortBy}
          onChange={(sortBy) => set({ sortBy: sortBy ?? '' })}
          error={fault('sortBy')}
        />
      ) : null}
      <div>
        <Text as="p" quiet tiny>
          {strings.format}
        </Text>
        <SegmentedControl
          aria-label={strings.format}
          data={[
            { value: 'xlsx', label: strings.xlsx },
            { value: 'readable', label: strings.csv },
            { value: 'fixed', label: strings.csvPrograms },
            { value: 'pdf', label: strings.pdf },
          ]}
          value={draft.format === 'csv' ? draft.form : draft.format}
          onChange={(kind) =>
            set(
              kind === 'readable' || kind === 'fixed'
                ? { format: 'csv', form: kind }
                : { format: kind as ReportFormat },
            )
          }
        />
        <Text as="p" quiet tiny>
          {formatHelp(draft)}
        </Text>
      </div>
    </Columns>
  )
}

/** The content of a report: list, rows, filters, columns, order and format. */
export const WhatFields = (props: ScheduleFieldsProps) => {
  const { draft, set, fault } = props
  return (
    <Fields title={strings.content}>
      <ListFields {...props} />
      <FilterFields
        list={draft.list}
        value={draft.filter}
        onChange={(filter) => set({ filter })}
        fault={(name) => fault(`filter.${name}`)}
      />
      <MultiSelect
        label={strings.columns}
        placeholder={
          draft.columns.length > 0 ? '' : draft.format === 'pdf' ? strings.usefulColumns : strings.allColumns
        }
        data={reportTraits[draft.list].columns.map(({ key, label }) => ({ value: key, label }))}
        value={[...draft.columns]}
        searchable
        clearable
        onChange={(columns) => set({ columns })}
        error={fault('columns')}
      />
      <FormFields {...props} />
    </Fields>
  )
}

export interface WhomFieldsProps extends ScheduleFieldsProps {
  folderRoot: string
  isMailConfigured: boolean
}

/** The recipients of a report, and where its files are stored. */
export const WhomFields = ({ draft, set, fault, folderRoot, isMailConfigured }: WhomFieldsProps) => (
  <Fields title={strings.recipients}>
    <TagsInput
      label={strings.emailTo}
      description={isMailConfigured ? strings.emailHelp({ max: reportLimits.recipients }) : strings.noMailServer}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      placeholder={draft.recipients.length === 0 ? strings.none : ''}
      splitChars={[',', ';', ' ']}
      maxTags={reportLimits.recipients}
      value={[...draft.recipients]}
      onChange={(recipients) => set({ recipients })}
      error={
        fault('recipients') ??
        draft.recipients.map((_, i) => fault(`recipients[${i}]`)).find((one) => one !== undefined)
      }
    />
    <Columns template="repeat(auto-fit, minmax(160px, 1fr))" align="start">
      <TextInput
        label={strings.folder}
        placeholder={strings.none}
        maxLength={64}
        description={strings.folderHelp({ folderRoot })}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        value={draft.folder ?? ''}
        onChange={(event) => set({ folder: event.currentTarget.value })}
        error={fault('folder') === undefined ? undefined : strings.badFolder}
      />
      <NumberInput
        label={strings.keepFiles}
        description={strings.keepFilesHelp({ days: reportLimits.fileDays })}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        min={1}
        max={reportLimits.keepFiles}
        allowDecimal={false}
        value={draft.keepFiles}
        onChange={(keepFiles) => set({ keepFiles: Number(keepFiles) || 1 })}
        error={fault('keepFiles')}
      />
    </Columns>
  </Fields>
)
