import {
  Button,
  Group,
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Select,
  Switch,
  TagsInput,
  TextInput,
} from '@mantine/core'
import {
  addReportSchedule,
  listReportSchedules,
  type ReportFormat,
  type ReportListName,
  type ReportRange,
  reportColumns,
  reportLimits,
  reportListNames,
  reportRanges,
  reportTraits,
  updateReportSchedule,
} from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { fieldMessage } from '../../lib/problem.ts'
import { useServices } from '../../lib/services.tsx'
import { DetailSkeleton } from '../../ui/DetailSkeleton.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { LinkButton } from '../../ui/LinkButton.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { tell } from '../../ui/tell.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { CadenceFields } from './CadenceFields.tsx'
import { type Draft, draftOf, draftOfStored, inputOf, withList } from './draft.ts'
import { FilterFields } from './FilterFields.tsx'
import { Preview } from './Preview.tsx'
import { ReportsFrame } from './ReportsFrame.tsx'
import classes from './reports.module.css'
import { rangeWords } from './words.ts'

/** Fields of one question. */
const Fields = ({ title, children }: { title: string; children: ReactNode }) => (
  <fieldset className={classes.group}>
    <legend>{title}</legend>
    {children}
  </fieldset>
)

interface EditorProps {
  /** Null: it is a new one. */
  id: string | null
  start: Draft
  problem: string
  folderRoot: string
  isMailConfigured: boolean
}

const Editor = ({ id, start, problem, folderRoot, isMailConfigured }: EditorProps) => {
  const { api, queries } = useServices()
  const navigate = useNavigate()
  const [draft, setDraft] = useState(start)
  const [failure, setFailure] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const set = (change: Partial<Draft>) => setDraft((old) => ({ ...old, ...change }))
  const fault = (member: string) => fieldMessage(failure, member)
  const { time, canSort } = reportTraits[draft.list]
  const keys = reportColumns[draft.list] ?? []
  const save = async () => {
    setBusy(true)
    setFailure(null)
    try {
      const body = inputOf(draft)
      if (id === null) await api.call(addReportSchedule, { body })
      else await api.call(updateReportSchedule, { params: { id }, body })
      await queries.invalidateQueries({ queryKey: ['report-schedules'] })
      tell(id === null ? 'The report is scheduled.' : 'Saved.')
      void navigate({ to: '/reports' })
    } catch (reason) {
      setFailure(reason)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      className={classes.editor}
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <div className={classes.fields}>
        {problem === '' ? null : (
          <p className={classes.error} role="note">
            <DeviceText value={problem} />
          </p>
        )}
        <TextInput
          label="Name"
          description="Stands in the subject of mails and in the names of files"
          required
          withAsterisk={false}
          data-autofocus
          maxLength={100}
          value={draft.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          error={fault('name')}
        />
        <Fields title="What">
          <div className={classes.line}>
            <Select
              label="List"
              searchable
              allowDeselect={false}
              data={reportListNames.map((value) => ({ value, label: reportTraits[value].title }))}
              value={draft.list}
              onChange={(list) => setDraft((old) => withList(old, (list ?? old.list) as ReportListName))}
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
          <FilterFields
            list={draft.list}
            value={draft.filter}
            onChange={(filter) => set({ filter })}
            fault={(name) => fault(`filter.${name}`)}
          />
          <MultiSelect
            label="Columns"
            placeholder={draft.columns.length === 0 ? 'All, in the order of the list' : ''}
            data={[...keys]}
            value={[...draft.columns]}
            searchable
            clearable
            onChange={(columns) => set({ columns })}
            error={fault('columns')}
          />
          <div className={classes.line}>
            {canSort ? (
              <Select
                label="Order"
                placeholder="As the list has it"
                searchable
                clearable
                data={[
                  ...(draft.sortBy === '' || keys.some((key) => draft.sortBy.startsWith(`${key}_`))
                    ? []
                    : [draft.sortBy]),
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
        </Fields>
        <Fields title="When">
          <CadenceFields
            value={draft.cadence}
            onChange={(cadence) => set({ cadence })}
            fault={(member) => fault(`cadence.${member}`)}
          />
        </Fields>
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
              error={
                fault('folder') === undefined ? undefined : 'Only letters, digits, _ and -; the first a letter or digit'
              }
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
        <Switch
          label="It runs at its times"
          checked={draft.isEnabled}
          onChange={(event) => set({ isEnabled: event.currentTarget.checked })}
        />
        {failure === null ? null : <ErrorState failure={failure} inline />}
        <Group gap="sm">
          <Button type="submit" loading={busy} disabled={draft.name.trim() === ''}>
            {id === null ? 'Schedule it' : problem === '' ? 'Save' : 'Save, and take it over'}
          </Button>
          <LinkButton to="/reports" variant="default">
            Cancel
          </LinkButton>
          <MoreMenu
            label="More"
            curl={() =>
              id === null
                ? curlOf(window.location.origin, addReportSchedule, { body: inputOf(draft) })
                : curlOf(window.location.origin, updateReportSchedule, { params: { id }, body: inputOf(draft) })
            }
          />
        </Group>
      </div>
      <Preview draft={draft} />
    </form>
  )
}

/** One schedule: what it holds, when it runs, who gets it, and what the server makes of that. */
export const ReportEditorPage = () => {
  const { id } = useParams({ from: '/inside/reports/$id' })
  const search = useSearch({ from: '/inside/reports/$id' })
  const isNew = id === 'new'
  const { api } = useServices()
  const schedules = useQuery({
    queryKey: ['report-schedule', id],
    queryFn: ({ signal }) => api.call(listReportSchedules, { signal }),
    // What is edited is read anew: a draft of what somebody else has changed since would take that back.
    gcTime: 0,
  })
  const stored = schedules.data?.data.find((one) => one.id === id)
  const title = isNew ? 'New schedule' : (stored?.name ?? 'Schedule')
  useTitle(title)
  const body = () => {
    if (schedules.data === undefined)
      return schedules.error === null ? (
        <DetailSkeleton />
      ) : (
        <ErrorState failure={schedules.error} retry={() => void schedules.refetch()} />
      )
    const { folderRoot, isMailConfigured } = schedules.data
    if (isNew)
      return (
        <Editor
          id={null}
          start={draftOf(search, Intl.DateTimeFormat().resolvedOptions().timeZone)}
          problem=""
          {...{ folderRoot, isMailConfigured }}
        />
      )
    return stored === undefined ? (
      <EmptyState icon="report" title="This schedule is not here">
        <p>The address is not right, or it was deleted.</p>
      </EmptyState>
    ) : (
      <Editor
        key={id}
        id={id}
        start={draftOfStored(stored)}
        problem={stored.problem}
        {...{ folderRoot, isMailConfigured }}
      />
    )
  }
  return (
    <ReportsFrame>
      <div className={classes.scroll}>
        <SettingsPage title={title}>{body()}</SettingsPage>
      </div>
    </ReportsFrame>
  )
}
