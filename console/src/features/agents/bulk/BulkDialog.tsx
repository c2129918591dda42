import { Button, Checkbox, Group, Modal, TextInput } from '@mantine/core'
import { type BulkAction, previewBulk, runBulk } from '@portcullis/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { curlOf } from '../../../lib/curl.ts'
import { CallFailure, isStoredRequest } from '../../../lib/problem.ts'
import { useServices } from '../../../lib/services.tsx'
import { ArmGate } from '../../../ui/arming/ArmGate.tsx'
import { ErrorState } from '../../../ui/ErrorState.tsx'
import { LinkButton } from '../../../ui/LinkButton.tsx'
import { MoreMenu } from '../../../ui/MoreMenu.tsx'
import { SeverityShape } from '../../../ui/SeverityTag.tsx'
import { tell, tellWithUndo } from '../../../ui/tell.ts'
import classes from './BulkDialog.module.css'
import { type BulkHosts, bulkWords, hostsText, opposite, previewLines, selected, typedAbove } from './bulk.ts'
import { undoBulk, undoQuestion } from './undo.ts'

export interface BulkQuestion {
  action: BulkAction
  hosts: BulkHosts
}

interface BodyProps extends BulkQuestion {
  close: () => void
  /** Called when it was carried out. */
  onDone: () => void
}

const Body = ({ action, hosts, close, onDone }: BodyProps) => {
  const { api, queries, work } = useServices()
  const words = bulkWords[action]
  const [applyToPresent, setApplyToPresent] = useState(false)
  const [typed, setTyped] = useState('')
  const [reason, setReason] = useState('')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const body = { ...hosts, action, ...(applyToPresent ? { applyToPresent } : {}) }
  const order = { ...body, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) }
  const preview = useQuery({
    queryKey: ['bulk-preview', body],
    queryFn: ({ signal }) => api.call(previewBulk, { body, signal }),
    placeholderData: keepPreviousData,
    // What it would do is asked anew with every opening.
    gcTime: 0,
    staleTime: 0,
  })
  const data = preview.data
  const count = data?.agents ?? 0
  const mustType = count > typedAbove
  const opensDevices = action === 'free' || action === 'approveAll' || action === 'delete'
  // What concerns more than one host is explained by whoever does it.
  const needsReason = opensDevices && count > 1

  const run = async () => {
    setBusy(true)
    setFailure(null)
    try {
      const answer = await api.call(runBulk, {
        body: { ...order, ...(data ? { expectedAgents: data.agents } : {}) },
      })
      const { accepted, jobId } = answer
      close()
      onDone()
      void queries.invalidateQueries({ queryKey: ['rows'] })
      if (jobId !== null) work.follow(jobId)
      const message = accepted === 0 ? 'There was nothing to do.' : words.done(hostsText(accepted))
      if (jobId === null || opposite(action) === null) tell(message)
      else
        tellWithUndo(
          message,
          (why) => undoBulk(api, action, jobId, work.follow, why),
          () => undoQuestion(api, action, jobId),
        )
    } catch (reason) {
      setFailure(reason)
      setBusy(false)
      if (!(reason instanceof CallFailure)) return
      // Hosts came or went since the preview: show what it would be now.
      if (reason.code === 'conflict') void preview.refetch()
      if (isStoredRequest(reason)) void queries.invalidateQueries({ queryKey: ['change-requests'] })
    }
  }
  if (failure instanceof CallFailure && isStoredRequest(failure)) {
    return (
      <div className={classes.body}>
        <p>
          <strong>Waiting for a second approver. Nothing has changed yet.</strong>
        </p>
        <p>{failure.message}</p>
        <Group justify="flex-end" gap="sm">
          <LinkButton to="/policy/requests" variant="default" onClick={close}>
            Open the request
          </LinkButton>
          <Button onClick={close} data-autofocus>
            Close
          </Button>
        </Group>
      </div>
    )
  }
  return (
    <form
      className={classes.body}
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <p className={classes.head} aria-busy={preview.isFetching}>
        {data === undefined ? (
          'Asking what this would do…'
        ) : (
          <>
            <strong>{hostsText(count)}</strong>
            {count === selected(data) ? '' : ` of ${selected(data).toLocaleString('en')} selected`}. {words.effect}
          </>
        )}
      </p>
      {preview.error === null ? null : (
        <ErrorState failure={preview.error} retry={() => void preview.refetch()} inline />
      )}
      <ul className={classes.lines} data-stale={preview.isPlaceholderData || undefined}>
        {data === undefined
          ? null
          : previewLines(data, applyToPresent).map(({ text, severity }) => (
              <li key={text}>
                <SeverityShape severity={severity ?? 'neutral'} />
                <span>{text}</span>
              </li>
            ))}
      </ul>
      {action === 'arm' ? <ArmGate hosts={hosts} /> : null}
      {action === 'arm' ? (
        <Checkbox
          size="sm"
          label="Judge what is attached now, too"
          description="Else what is attached now goes on working until it is unplugged. Attack tools and explicit denies stop in any case."
          checked={applyToPresent}
          onChange={(event) => setApplyToPresent(event.currentTarget.checked)}
        />
      ) : null}
      {needsReason ? (
        <TextInput
          label="Reason"
          required
          maxLength={200}
          value={reason}
          placeholder="Why devices on these hosts may work"
          onChange={(event) => setReason(event.currentTarget.value)}
        />
      ) : null}
      {data?.secondPerson === true ? (
        <p className={classes.note}>
          This needs a second approver. Your request waits for 24 hours, and nothing changes until it is approved.
        </p>
      ) : null}
      {mustType ? (
        <TextInput
          label={`Type ${count} to go on`}
          value={typed}
          inputMode="numeric"
          autoComplete="off"
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      ) : null}
      {failure === null ? null : <ErrorState failure={failure} inline />}
      <div className={classes.foot}>
        <MoreMenu label="More" curl={() => curlOf(window.location.origin, runBulk, { body: order })} />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={close} data-autofocus={opensDevices || undefined}>
            Cancel
          </Button>
          <Button
            type="submit"
            {...(words.isDangerous === true ? { color: 'red' } : {})}
            loading={busy}
            data-autofocus={(!opensDevices && !mustType) || undefined}
            disabled={
              data === undefined ||
              preview.isPlaceholderData ||
              count === 0 ||
              (needsReason && reason.trim() === '') ||
              (mustType && typed.replaceAll(/\D/g, '') !== String(count))
            }
          >
            {data?.secondPerson === true ? 'Request approval' : words.action}
          </Button>
        </Group>
      </div>
    </form>
  )
}

export interface BulkDialogProps {
  question: BulkQuestion | null
  close: () => void
  onDone: () => void
}

/** Before anything changes on hosts: how many, which are left out and why, what will happen. All of it is the server's word. */
export const BulkDialog = ({ question, close, onDone }: BulkDialogProps) => (
  <Modal opened={question !== null} onClose={close} title={question === null ? '' : bulkWords[question.action].title}>
    {question === null ? null : <Body {...question} close={close} onDone={onDone} />}
  </Modal>
)
