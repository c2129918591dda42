import { type BulkAction, cancelJob, listCommands, previewBulk, runBulk } from '@portcullis/contract'
import type { Api } from '../../../lib/api.ts'
import { CallFailure } from '../../../lib/problem.ts'
import { worksAgainText } from '../../../ui/policy/labels.ts'
import { asReason } from '../../../ui/policy/NewlyAllowed.tsx'
import { strings } from '../strings.ts'
import { hostsText, opposite } from './bulk.ts'

// Commands of one job that are read at once; a job of more hosts is read in as many steps as it needs.
const pageSize = 10_000

/** Hosts that a job's command has reached: cancelling alone does not take it back there. */
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
    title: strings.undoArming,
    names: [],
    count: uuids.length,
    kind: ['host', 'hosts'] as const,
    consequence: strings.everyBlockIsLiftedAtOnce2,
    action: strings.free2,
    worksAgain: worksAgainText(worksAgain) ?? {
      severity: 'amber' as const,
      text: strings.devicesAreNoLongerBlockedOn({ uuids: hostsText(uuids.length) }),
    },
    ...(uuids.length > 1 ? { reasonFor: strings.whyDevicesOnTheseHostsMay } : {}),
  }
}

/**
 * Takes arming or freeing back: what has not left is cancelled, and hosts that have it already are sent the opposite.
 * Says in words what it did. `follow` hears of the job that the opposite makes.
 */
export const undoBulk = async (
  api: Pick<Api, 'call'>,
  action: BulkAction,
  jobId: string,
  follow: (jobId: string) => void,
  reason: string,
): Promise<string> => {
  const back = opposite(action)
  if (back === null) throw new Error(strings.actionCannotBeTakenBack({ action }))
  try {
    await api.call(cancelJob, { params: { id: jobId } })
  } catch (failure) {
    // It has ended already: all hosts have it.
    if (!(failure instanceof CallFailure) || failure.code !== 'conflict') throw failure
  }
  const uuids = await reached(api, jobId)
  if (uuids.length === 0) return strings.takenBackBeforeItReachedA
  const answer = await api.call(runBulk, { body: { uuids, action: back, ...asReason(reason) } })
  if (answer.jobId !== null) follow(answer.jobId)
  return strings.takenBackUuidsHadItAlready({
    uuids: hostsText(uuids.length),
    uuids2: uuids.length,
    value: back === 'arm' ? strings.armed : strings.free2,
  })
}
