import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { CallFailure, isStoredRequest } from '@portcullis/platform/console/lib/problem.ts'
import { type Services, useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { tell, tellWithUndo } from '@portcullis/platform/console/ui/tell.ts'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { keepPreviousData } from '@tanstack/react-query'
import { useState } from 'react'
import { type BulkAction, previewBulk, runBulk } from '#features/contract.ts'
import { tellPolicyJob } from '#features/policy/console/shared/undo.ts'
import { strings } from '../../strings.ts'
import { type BulkHosts, bulkLabels, opposite, typedAbove } from './bulk.ts'
import { undoBulk, undoQuestion } from './undo.ts'

export interface BulkQuestion {
  action: BulkAction
  hosts: BulkHosts
}

export interface BulkActionProps extends BulkQuestion {
  close: () => void
  /** Called before the action runs. */
  onStart?: () => Promise<void>
  /** Called after the action, with its job. */
  onDone: (jobId: string | null) => void
}

const tellResult = (services: Services, action: BulkAction, hosts: number, jobId: string | null): void => {
  const { api, work } = services
  const message = hosts === 0 ? strings.nothingToDo : bulkLabels[action].done({ hosts })
  if (jobId !== null && action === 'approveAll') tellPolicyJob(services, message, jobId)
  else if (jobId === null || opposite(action) === null) tell(message)
  else
    tellWithUndo(
      message,
      (why) => undoBulk(api, action, jobId, work.follow, why),
      () => undoQuestion(api, action, jobId),
    )
}

/** State and requests of a bulk action. */
export const useBulkAction = ({ action, hosts, close, onStart, onDone }: BulkActionProps) => {
  const services = useServices()
  const { api, queries, work } = services
  const labels = bulkLabels[action]
  const [applyToPresent, setApplyToPresent] = useState(false)
  const [revertMinutes, setRevertMinutes] = useState<number>()
  const [typed, setTyped] = useState('')
  const [reason, setReason] = useState('')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const body = {
    ...hosts,
    action,
    ...(applyToPresent ? { applyToPresent } : {}),
    ...(revertMinutes === undefined ? {} : { revertMinutes }),
  }
  const order = { ...body, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) }
  const preview = useRead(['bulk-preview', body], previewBulk, {
    body: action === 'arm' ? { ...body, withNames: true } : body,
    placeholderData: keepPreviousData,
    // Each opening of the dialog loads a new preview.
    gcTime: 0,
    staleTime: 0,
  })
  // Decisions follow an approval within seconds, and the dialog shows what is left.
  useLiveRefresh(['peripherals'], 1_000, () => void preview.refetch())
  const data = preview.data
  const count = data?.agents ?? 0
  const mustType = count > typedAbove
  const opensDevices = action === 'free' || action === 'approveAll' || action === 'delete'
  // More than one host requires a reason.
  const needsReason = opensDevices && count > 1

  const run = async () => {
    setBusy(true)
    setFailure(null)
    try {
      await onStart?.()
      const { accepted, jobId } = await api.call(runBulk, {
        body: { ...order, ...(data ? { expectedAgents: data.agents } : {}) },
      })
      close()
      onDone(jobId)
      void queries.invalidateQueries({ queryKey: ['rows'] })
      if (jobId !== null) work.follow(jobId)
      tellResult(services, action, accepted, jobId)
    } catch (reason) {
      setFailure(reason)
      setBusy(false)
      if (!(reason instanceof CallFailure)) return
      // The hosts changed since the preview: reload it.
      if (reason.code === 'conflict') void preview.refetch()
      if (isStoredRequest(reason)) void queries.invalidateQueries({ queryKey: ['change-requests'] })
    }
  }
  return {
    labels,
    preview,
    count,
    /** False if no selected host can carry out the action. */
    canAny: data === undefined || count > 0,
    opensDevices,
    applyToPresent,
    setApplyToPresent,
    revertMinutes,
    setRevertMinutes,
    mustType,
    typed,
    setTyped,
    needsReason,
    reason,
    setReason,
    busy,
    failure,
    run,
    isReady:
      data !== undefined &&
      !preview.isPlaceholderData &&
      count > 0 &&
      (!needsReason || reason.trim() !== '') &&
      (!mustType || typed.replaceAll(/\D/g, '') === String(count)),
    curl: () => curlOf(runBulk, { body: order }),
  }
}

export type BulkState = ReturnType<typeof useBulkAction>
