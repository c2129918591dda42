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
import { strings } from './strings.ts'

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
          label={strings.rows}
          description={strings.byTime({ time })}
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
          label={strings.order}
          placeholder={strings.asTheListHasIt}
          searchable
          clearable
          data={[
            ...(draft.sortBy === '' || keys.some((key) => draft.sortBy.startsWith(`${key}_`)) ? [] : [draft.sortBy]),
            ...keys.flatMap((key) => [
              { value: `${key}_asc`, label: strings.keyRising({ key }) },
              { value: `${key}_desc`, label: strings.keyFalling({ key }) },
            ]),
          ]}
          value={draft.sortBy === '' ? null : draft.sortBy}
          onChange={(sortBy) => set({ sortBy: sortBy ?? '' })}
          error={fault('sortBy')}
        />
      ) : null}
      <div>
        <p className={classes.hint}>{strings.form}</p>
        <SegmentedControl
          aria-label={strings.form}
          data={[
            { value: 'csv', label: strings.csv },
            { value: 'pdf', label: strings.pdf },
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
    <Fields title={strings.what}>
      <ListFields {...props} />
      <FilterFields
        list={draft.list}
        value={draft.filter}
        onChange={(filter) => set({ filter })}
        fault={(name) => fault(`filter.${name}`)}
      />
      <MultiSelect
        label={strings.columns}
        placeholder={draft.columns.length === 0 ? strings.allInTheOrderOfThe : ''}
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
  <Fields title={strings.toWhom}>
    <TagsInput
      label={strings.byMailTo}
      description={
        isMailConfigured
          ? strings.atMostRecipientsAddressesEachGets({ recipients: reportLimits.recipients })
          : strings.noMailServerIsConfiguredYet
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
        label={strings.intoTheFolder}
        placeholder="none"
        maxLength={64}
        description={strings.aNameBelowFolderrootOnThe({ folderRoot })}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        value={draft.folder ?? ''}
        onChange={(event) => set({ folder: event.currentTarget.value })}
        error={fault('folder') === undefined ? undefined : strings.onlyLettersDigitsAndTheFirst}
      />
      <NumberInput
        label={strings.newestFilesToKeep}
        description={strings.thereAndForDownloadFiledaysDays({ fileDays: reportLimits.fileDays })}
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
