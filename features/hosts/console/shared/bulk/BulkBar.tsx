import { Button, Menu } from '@mantine/core'
import { exportBody } from '@portcullis/platform/console/lib/export-body.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { lazilyDialog, useIdlePreload } from '@portcullis/platform/console/ui/lazily.tsx'
import { SelectionBar } from '@portcullis/platform/console/ui/table/SelectionBar.tsx'
import { type Selection, selectionLimit } from '@portcullis/platform/console/ui/table/useSelection.ts'
import { useState } from 'react'
import { type Agent, type BulkAction, exportAgentCsv, getJob } from '#features/contract.ts'
import { TagEditor } from '#features/tags/console/shared/TagEditor.tsx'
import { strings } from '../../strings.ts'
import { type BulkHosts, bulkLabels, nextAction } from './bulk.ts'
import type { BulkQuestion } from './useBulkAction.ts'

const BulkDialog = lazilyDialog(async () => (await import('./BulkDialog.tsx')).BulkDialog)

const inBar: readonly BulkAction[] = ['arm', 'free', 'approveAll']
const inMenu: readonly BulkAction[] = ['update', 'collectLogs', 'cancelCommands', 'delete']

export interface BulkBarProps {
  selection: Selection<Agent>
  filtered: number | null
  /** Filter and search of the list by their API names, without sorting. */
  filter: Record<string, string>
  onChanged: () => void
}

interface NextStepProps {
  action: BulkAction
  /** The job of the action before it. */
  jobId: string
  ask: (action: BulkAction) => void
}

const jobGap = 1_000

/** Offers the action that usually follows, once the job of the one before it has ended. */
const NextStep = ({ action, jobId, ask }: NextStepProps) => {
  const job = useRead(['job', jobId], getJob, {
    params: { id: jobId },
    refetchInterval: ({ state }) => (state.data?.state === 'running' || state.data === undefined ? jobGap : false),
  })
  return (
    <>
      <span>{strings.nextStep}</span>
      <Button size="compact-sm" loading={job.data?.state === 'running'} onClick={() => ask(action)}>
        {bulkLabels[action].button}
      </Button>
    </>
  )
}

/** Actions on the selected hosts. */
export const BulkBar = ({ selection, filtered, filter, onChanged }: BulkBarProps) => {
  useIdlePreload(BulkDialog)
  const { api } = useServices()
  const [question, setQuestion] = useState<BulkQuestion | null>(null)
  const hosts: BulkHosts = selection.isEverything ? { filter } : { uuids: [...selection.ids] }
  const ask = (action: BulkAction) => setQuestion({ action, hosts })
  const [last, setLast] = useState<{ action: BulkAction; jobId: string } | null>(null)
  // The next step belongs to the selection of the last one.
  if (last !== null && selection.size === 0) setLast(null)
  const next = last === null ? undefined : nextAction[last.action]
  /** Removed hosts leave the list. A filter with too many hosts for ids may match others after the action. */
  const losesSelection = question?.action === 'delete' || (selection.isEverything && selection.size > selectionLimit)
  const done = (jobId: string | null) => {
    if (losesSelection) selection.clear()
    else if (question !== null && jobId !== null) setLast({ action: question.action, jobId })
  }
  /** Tag operations need ids. A one-column export returns all matching ids at 37 bytes per host, in one snapshot. */
  const readIds = async (): Promise<string[]> => {
    if (!selection.isEverything) return [...selection.ids]
    const { blob } = await api.download(exportAgentCsv, { body: exportBody(filter, ['uuid']) })
    return (await blob.text()).split(/\r?\n/).slice(1).filter(Boolean)
  }
  return (
    <>
      <SelectionBar selection={selection} filtered={filtered}>
        {last === null || next === undefined ? null : <NextStep action={next} jobId={last.jobId} ask={ask} />}
        {inBar
          .filter((action) => action !== next)
          .map((action) => (
            <Button key={action} size="compact-sm" variant="default" onClick={() => ask(action)}>
              {bulkLabels[action].button}
            </Button>
          ))}
        <TagEditor entityType="Agent" elementIds={readIds} onChanged={onChanged}>
          {(open) => (
            <Button size="compact-sm" variant="default" onClick={open} leftSection={<Icon name="tag" size={14} />}>
              {strings.askTag}
            </Button>
          )}
        </TagEditor>
        <Menu position="top-start">
          <Menu.Target>
            <Button size="compact-sm" variant="default" rightSection={<Icon name="up" size={12} />}>
              {strings.more}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {inMenu.map((action) => (
              <Menu.Item key={action} onClick={() => ask(action)}>
                {bulkLabels[action].button}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      </SelectionBar>
      <BulkDialog question={question} close={() => setQuestion(null)} onStart={selection.pin} onDone={done} />
    </>
  )
}
