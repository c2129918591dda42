import { MultiSelect, NumberInput, SegmentedControl, Select, TagsInput, TextInput } from '@mantine/core'
import {
  type ReportFormat,
  type ReportListName,
  type ReportRange,
  reportColumns,
  reportLimits,
  reportListNames,
  reportRanges,
  reportTraits,
} from '@portcullis/contract'
import type { ReactNode } from 'react'
import { type Draft, withList } from './draft.ts'
import { FilterFields } from './FilterFields.tsx'
import { rangeWords } from './labels.ts'
import classes from './reports.module.css'

export interface ScheduleFieldsProps {
  draft: Draft
  set: (change: Partial<Draft>) => void
  /** What the server says against a member. */
  fault: (member: string) => string | undefined
}

/** Fields of one question. */
export const Fields = ({ title, children }: { title: string; children: ReactNode }) => (
  <fieldset className={classes.group}>
    <legend>{title}</legend>
    {children}
  </fieldset>
)

const ListFields = ({ draft, set, fault }: ScheduleFieldsProps) => {
  const { time } = reportTraits[draft.list]
  return (
    <div className={classes.line}>
      <Select
        label="List"
        searchable
        allowDeselect={false}
        data={reportListNames.map((value) => ({ value, label: reportTraits[value].title }))}
        value={draft.list}
        onChange={(list) => set(withList(draft, (list ?? draft.list) as ReportListName))}
        error={fault('list')}
      />
      {time === '' ? null : (
        <Select
          label="Rows"
          description={`By ${time}`}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          allowDeselect={false}
          data={reportRanges.map((value) => ({ value, label: rangeWords[value] }))}
          value={draft.range}
          onChange={(range) => set({ range: (range ?? 'all') as ReportRange })}
          error={fault('range')}
        />
      )}
    </div>
  )
}

const FormFields = ({ draft, set, fault }: ScheduleFieldsProps) => {
  const { canSort } = reportTraits[draft.list]
  const keys = reportColumns[draft.list] ?? []
  return (
    <div className={classes.line}>
      {canSort ? (
        <Select
          label="Order"
          placeholder="As the list has it"
          searchable
          clearable
          data={[
            ...(draft.sortBy === '' || keys.some((key) => draft.sortBy.startsWith(`${key}_`)) ? [] : [draft.sortBy]),
            ...keys.flatMap((key) => [
              { value: `${key}_asc`, label: `${key}, rising` },
              { value: `${key}_desc`, label: `${key}, falling` },
            ]),
          ]}
          value={draft.sortBy === '' ? null : draft.sortBy}
          onChange={(sortBy) => set({ sortBy: sortBy ?? '' })}
          error={fault('sortBy')}
        />
      ) : null}
      <div>
        <p className={classes.hint}>Form</p>
        <SegmentedControl
          aria-label="Form"
          data={[
            { value: 'csv', label: 'CSV' },
            { value: 'pdf', label: 'PDF' },
          ]}
          value={draft.format}
          onChange={(format) => set({ format: format as ReportFormat })}
        />
      </div>
    </div>
  )
}

/** What a report holds: list, rows, filters, columns, order, and form. */
export const WhatFields = (props: ScheduleFieldsProps) => {
  const { draft, set, fault } = props
  return (
    <Fields title="What">
      <ListFields {...props} />
      <FilterFields
        list={draft.list}
        value={draft.filter}
        onChange={(filter) => set({ filter })}
        fault={(name) => fault(`filter.${name}`)}
      />
      <MultiSelect
        label="Columns"
        placeholder={draft.columns.length === 0 ? 'All, in the order of the list' : ''}
        data={[...(reportColumns[draft.list] ?? [])]}
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

/** Who gets a report, and where its files are kept. */
export const WhomFields = ({ draft, set, fault, folderRoot, isMailConfigured }: WhomFieldsProps) => (
  <Fields title="To whom">
    <TagsInput
      label="By mail to"
      description={
        isMailConfigured
          ? `At most ${reportLimits.recipients} addresses; each gets a mail of its own.`
          : 'No mail server is configured yet (Settings, Mail): until then, mails fail and the history says so.'
      }
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      placeholder={draft.recipients.length === 0 ? 'nobody' : ''}
      splitChars={[',', ';', ' ']}
      maxTags={reportLimits.recipients}
      value={[...draft.recipients]}
      onChange={(recipients) => set({ recipients })}
      error={
        fault('recipients') ??
        draft.recipients.map((_, i) => fault(`recipients[${i}]`)).find((one) => one !== undefined)
      }
    />
    <div className={classes.line}>
      <TextInput
        label="Into the folder"
        placeholder="none"
        maxLength={64}
        description={`A name below ${folderRoot} on the server: letters, digits, _ and -`}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        value={draft.folder ?? ''}
        onChange={(event) => set({ folder: event.currentTarget.value })}
        error={fault('folder') === undefined ? undefined : 'Only letters, digits, _ and -; the first a letter or digit'}
      />
      <NumberInput
        label="Newest files to keep"
        description={`There, and for download (${reportLimits.fileDays} days at most)`}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        min={1}
        max={reportLimits.keepFiles}
        allowDecimal={false}
        value={draft.keepFiles}
        onChange={(keepFiles) => set({ keepFiles: Number(keepFiles) || 1 })}
        error={fault('keepFiles')}
      />
    </div>
  </Fields>
)
