import { Button, Switch, TextInput } from '@mantine/core'
import { addReportSchedule, listReportSchedules, updateReportSchedule } from '@portcullis/contract'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { fieldMessage } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { LinkButton } from '@portcullis/platform/console/ui/LinkButton.tsx'
import { Notice, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { CadenceFields } from './CadenceFields.tsx'
import { type Draft, draftOf, draftOfStored, inputOf } from './draft.ts'
import { Preview } from './Preview.tsx'
import { ReportsFrame } from './ReportsFrame.tsx'
import classes from './reports.module.css'
import { Fields, WhatFields, WhomFields } from './ScheduleFields.tsx'
import { strings } from './strings.ts'

/** State and saving of a schedule. */
const useSchedule = (id: string | null, start: Draft) => {
  const { api, queries } = useServices()
  const navigate = useNavigate()
  const [draft, setDraft] = useState(start)
  const { busy, failure, run } = useChange({ closes: false })
  const save = () =>
    run(async () => {
      const body = inputOf(draft)
      if (id === null) await api.call(addReportSchedule, { body })
      else await api.call(updateReportSchedule, { params: { id }, body })
      await queries.invalidateQueries({ queryKey: ['report-schedules'] })
      tell(id === null ? strings.scheduled : strings.saved)
      void navigate({ to: '/reports' })
    })
  return {
    draft,
    set: (change: Partial<Draft>) => setDraft((old) => ({ ...old, ...change })),
    fault: (member: string) => fieldMessage(failure, member),
    failure,
    busy,
    save,
    curl: () =>
      id === null
        ? curlOf(addReportSchedule, { body: inputOf(draft) })
        : curlOf(updateReportSchedule, { params: { id }, body: inputOf(draft) }),
  }
}

interface EditorProps {
  /** Null for a new schedule. */
  id: string | null
  start: Draft
  problem: string
  folderRoot: string
  isMailConfigured: boolean
}

const Editor = ({ id, start, problem, folderRoot, isMailConfigured }: EditorProps) => {
  const { draft, set, fault, failure, busy, save, curl } = useSchedule(id, start)
  return (
    <form className={classes.editor} onSubmit={submits(save)}>
      <Stack>
        {problem === '' ? null : (
          <Notice tone="red" role="note">
            <DeviceText value={problem} />
          </Notice>
        )}
        <TextInput
          label={strings.name}
          description={strings.nameHelp}
          required
          withAsterisk={false}
          data-autofocus
          maxLength={100}
          value={draft.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          error={fault('name')}
        />
        <WhatFields {...{ draft, set, fault }} />
        <Fields title={strings.schedule}>
          <CadenceFields
            value={draft.cadence}
            onChange={(cadence) => set({ cadence })}
            fault={(member) => fault(`cadence.${member}`)}
          />
        </Fields>
        <WhomFields {...{ draft, set, fault, folderRoot, isMailConfigured }} />
        <Switch
          label={strings.enabled}
          checked={draft.isEnabled}
          onChange={(event) => set({ isEnabled: event.currentTarget.checked })}
        />
        <ErrorState failure={failure} {...(id === null ? {} : { resend: () => void save() })} inline />
        <Row wrap>
          <Button type="submit" loading={busy} disabled={draft.name.trim() === ''}>
            {id === null ? strings.scheduleReport : problem === '' ? strings.save : strings.takeOver}
          </Button>
          <LinkButton to="/reports" variant="default">
            {strings.cancel}
          </LinkButton>
          <MoreMenu curl={curl} />
        </Row>
      </Stack>
      <Preview draft={draft} />
    </form>
  )
}

/** The editor of a schedule: content, times, recipients and a preview. */
export const ReportEditorPage = () => {
  const { id } = useParams({ from: '/inside/reports/$id' })
  const search = useSearch({ from: '/inside/reports/$id' })
  const isNew = id === 'new'
  const schedules = useRead(['report-schedule', id], listReportSchedules, {
    // Always read again: an outdated draft would revert what somebody else has changed.
    gcTime: 0,
  })
  const stored = schedules.data?.data.find((one) => one.id === id)
  const title = isNew ? strings.newSchedule : (stored?.name ?? strings.schedule)
  useTitle(title)
  const body = () => {
    if (schedules.data === undefined)
      return schedules.error === null ? <DetailSkeleton /> : <ErrorState query={schedules} />
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
      <EmptyState icon="report" title={strings.scheduleNotFound}>
        <p>{strings.scheduleNotFoundText}</p>
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
      <Text as="div" grow style={{ overflowY: 'auto' }}>
        <SettingsPage title={title}>{body()}</SettingsPage>
      </Text>
    </ReportsFrame>
  )
}
