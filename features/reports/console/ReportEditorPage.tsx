import { Button, Switch, TextInput } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { merged } from '@portcullis/platform/console/lib/merge.ts'
import { CallFailure, fieldMessage } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { EditConflict } from '@portcullis/platform/console/ui/form/EditConflict.tsx'
import { RestoredInput } from '@portcullis/platform/console/ui/form/RestoredInput.tsx'
import { submits } from '@portcullis/platform/console/ui/form/submits.ts'
import { useChange } from '@portcullis/platform/console/ui/form/useChange.ts'
import { useKept } from '@portcullis/platform/console/ui/form/useKept.ts'
import { LinkButton } from '@portcullis/platform/console/ui/LinkButton.tsx'
import { Notice, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useState } from 'react'
import {
  addReportSchedule,
  listReportSchedules,
  type ReportSchedule,
  updateReportSchedule,
} from '#features/contract.ts'
import { CadenceFields } from './CadenceFields.tsx'
import { type Draft, draftOf, draftOfStored, inputOf } from './draft.ts'
import { Preview } from './Preview.tsx'
import { ReportsFrame } from './ReportsFrame.tsx'
import classes from './reports.module.css'
import { Fields, WhatFields, WhomFields } from './ScheduleFields.tsx'
import { scheduleConflict, scheduleGroups } from './schedule-conflict.ts'
import { strings } from './strings.ts'

/** State and saving of a schedule. */
const useSchedule = ({ stored, start, reread }: Pick<EditorProps, 'stored' | 'start' | 'reread'>) => {
  const id = stored?.id ?? null
  const { api, queries } = useServices()
  const navigate = useNavigate()
  const kept = useKept<{ draft: Draft; base: ReportSchedule | null }>(`schedule.${id ?? 'new'}`, {
    draft: start,
    base: stored,
  })
  // A new schedule with values in the address begins with them.
  const [found] = useState(() => (id === null && start.list !== 'agents' ? undefined : kept.found?.value))
  // Another person can save the schedule while it is edited.
  const [base, setBase] = useState(found === undefined ? stored : found.base)
  const [draft, setDraft] = useState(found?.draft ?? start)
  const isConflict = base !== null && stored !== null && base.updatedAt !== stored.updatedAt
  const take = (next: Draft) => {
    setDraft(next)
    setBase(stored)
    kept.forget()
  }
  const isTyped = JSON.stringify(draft) !== JSON.stringify(base === null ? start : draftOfStored(base))
  const keep = useEffectEvent(() => kept.keep(isTyped ? { draft, base } : null))
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the input is kept
  useEffect(() => keep(), [draft, base])
  const { busy, failure, run } = useChange({ closes: false })
  const save = () =>
    run(async () => {
      const body = inputOf(draft)
      if (base === null) await api.call(addReportSchedule, { body })
      else
        await api
          .call(updateReportSchedule, { params: { id: base.id }, body: { ...body, ifUpdatedAt: base.updatedAt } })
          .catch(async (cause: unknown) => {
            // The schedule as it is now says what the other person changed.
            if (cause instanceof CallFailure && cause.code === 'conflict') await reread()
            throw cause
          })
      kept.keep(null)
      await queries.invalidateQueries({ queryKey: ['report-schedules'] })
      tell(id === null ? strings.scheduled : strings.saved)
      void navigate({ to: '/reports' })
    })
  return {
    draft,
    set: (change: Partial<Draft>) => setDraft((old) => ({ ...old, ...change })),
    fault: (member: string) => fieldMessage(failure, member),
    failure: isConflict ? null : failure,
    busy,
    save,
    restoredAt: found === undefined ? null : (kept.found?.at ?? null),
    discardInput: () => take(start),
    dropInput: () => kept.keep(null),
    conflict: isConflict
      ? {
          by: stored.owner,
          at: stored.updatedAt,
          fields: scheduleConflict(base, stored, draft),
          merge: () => take(merged(draftOfStored(base), draftOfStored(stored), draft, scheduleGroups)),
          discard: () => take(draftOfStored(stored)),
        }
      : null,
    curl: () =>
      id === null
        ? curlOf(addReportSchedule, { body: inputOf(draft) })
        : curlOf(updateReportSchedule, { params: { id }, body: inputOf(draft) }),
  }
}

interface EditorProps {
  /** Null for a new schedule. */
  stored: ReportSchedule | null
  start: Draft
  problem: string
  folderRoot: string
  isMailConfigured: boolean
  /** Reads the schedule again. */
  reread: () => Promise<unknown>
}

const Editor = (props: EditorProps) => {
  const { stored, problem, folderRoot, isMailConfigured } = props
  const id = stored?.id ?? null
  const schedule = useSchedule(props)
  const { draft, set, fault, failure, busy, save, curl, conflict, restoredAt } = schedule
  return (
    <form className={classes.editor} onSubmit={submits(save)}>
      <Stack>
        {problem === '' ? null : (
          <Notice tone="red" role="note">
            <DeviceText value={problem} />
          </Notice>
        )}
        {restoredAt === null ? null : <RestoredInput at={restoredAt} discard={schedule.discardInput} />}
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
        {conflict === null ? null : <EditConflict {...conflict} />}
        <ErrorState failure={failure} {...(id === null ? {} : { resend: () => void save() })} inline />
        <Row wrap>
          <Button type="submit" loading={busy} disabled={draft.name.trim() === '' || conflict !== null}>
            {id === null ? strings.scheduleReport : problem === '' ? strings.save : strings.takeOver}
          </Button>
          <LinkButton to="/reports" variant="default" onClick={schedule.dropInput}>
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
          stored={null}
          start={draftOf(search, Intl.DateTimeFormat().resolvedOptions().timeZone)}
          problem=""
          {...{ folderRoot, isMailConfigured, reread: schedules.refetch }}
        />
      )
    return stored === undefined ? (
      <EmptyState icon="report" title={strings.scheduleNotFound}>
        <p>{strings.scheduleNotFoundText}</p>
      </EmptyState>
    ) : (
      <Editor
        key={id}
        stored={stored}
        start={draftOfStored(stored)}
        problem={stored.problem}
        {...{ folderRoot, isMailConfigured, reread: schedules.refetch }}
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
