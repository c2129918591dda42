import type { Api } from '@portcullis/platform/console/lib/api.ts'
import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { type BulkAction, cancelJob, listCommands, previewBulk, runBulk } from '#features/contract.ts'
import { worksAgainText } from '#features/policy/console/shared/labels.ts'
import { asReason } from '#features/policy/console/shared/NewlyAllowed.tsx'
import { strings } from '../../strings.ts'
import { opposite } from './bulk.ts'

// Number of commands per request.
const pageSize = 10_000

/** Returns the hosts that have received a job's command. Cancelling does not undo it there. */
const reached = async (api: Pick<Api, 'call'>, jobId: string): Promise<string[]> => {
  const uuids: string[] = []
  for (let page = 1; ; page++) {
    const { data } = await api.call(listCommands, { query: { jobId, PageNumber: page, PageSize: pageSize } })
    uuids.push(...data.filter(({ deliveredAt }) => deliveredAt !== null).map(({ uuid }) => uuid))
    if (data.length < pageSize) return uuids
  }
}

/** Returns what to confirm before the undo of arming frees hosts; null if no host is armed yet, or the undo arms hosts. */
export const undoQuestion = async (api: Pick<Api, 'call'>, action: BulkAction, jobId: string) => {
  if (opposite(action) !== 'free') return null
  const uuids = await reached(api, jobId)
  if (uuids.length === 0) return null
  const { worksAgain } = await api.call(previewBulk, { body: { uuids, action: 'free' } })
  return {
    title: strings.undoTitle,
    names: [],
    count: uuids.length,
    kind: strings.hostCount,
    consequence: strings.undoEffect,
    action: strings.free,
    worksAgain: worksAgainText(worksAgain) ?? {
      severity: 'amber' as const,
      text: strings.undoOpens({ hosts: uuids.length }),
    },
    ...(uuids.length > 1 ? { reasonFor: strings.whyDevicesOnHosts } : {}),
  }
}

/**
 * Undoes arming or freeing: cancels undelivered commands, and sends the opposite to hosts that received theirs. Returns a
 * message. `follow` receives the job of the opposite action.
 */
export const undoBulk = async (
  api: Pick<Api, 'call'>,
  action: BulkAction,
  jobId: string,
  follow: (jobId: string) => void,
  reason: string,
): Promise<string> => {
  const back = opposite(action)
  if (back === null) throw new Error(`${action} cannot be undone`)
  try {
    await api.call(cancelJob, { params: { id: jobId } })
  } catch (failure) {
    // The job has ended: all hosts have it.
    if (!(failure instanceof CallFailure) || failure.code !== 'conflict') throw failure
  }
  const uuids = await reached(api, jobId)
  if (uuids.length === 0) return strings.undone
  const answer = await api.call(runBulk, { body: { uuids, action: back, ...asReason(reason) } })
  if (answer.jobId !== null) follow(answer.jobId)
  return (back === 'arm' ? strings.undoneToArmed : strings.undoneToFree)({ hosts: uuids.length })
}
