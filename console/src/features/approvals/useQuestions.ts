import { getPeripherals, policyApprovals } from '@portcullis/contract'
import { useServices } from '../../lib/services.tsx'
import type { BulkQuestion } from '../../ui/policy/BulkDecideDialog.tsx'
import { bulkLimit } from '../../ui/policy/bulk-decide.ts'
import type { DecideStart, DecideSubject } from '../../ui/policy/decide.ts'
import { tell, tellFailure } from '../../ui/tell.ts'
import { strings } from './strings.ts'
import { chosenDevices, type Line, modelKey, subjectOf, type Waiting } from './waiting.ts'

/** Reads what a question about devices needs to say: evidence, and devices that the page does not list. */
export const useQuestions = () => {
  const { api } = useServices()
  return {
    /** The subject of a decision about a line; null if its evidence could not be read. */
    subjectOf: async (line: Line): Promise<DecideSubject | null> => {
      const { vid, pid, isKnownAttackTool } = line.model
      if (!isKnownAttackTool) return subjectOf(line, [])
      // Why it is taken for an attack tool is part of the question.
      try {
        const { data } = await api.call(getPeripherals, { query: { vid, pid, isKnownAttackTool: 'true', PageSize: 1 } })
        return subjectOf(line, data[0]?.evidence ?? [])
      } catch (failure) {
        tellFailure(failure)
        return null
      }
    },
    /** The devices of a whole selection; null if they are too many or could not be read. */
    devicesOf: async (
      chosen: ReadonlySet<string>,
      count: number,
      all: readonly Waiting[],
      asked: Record<string, string>,
    ): Promise<Omit<BulkQuestion, 'effect' | 'done'> | null> => {
      if (count > bulkLimit) {
        tell(strings.selectAtMostBulklimitDevicesOr({ bulkLimit }))
        return null
      }
      try {
        const complete = await Promise.all(
          all.map(async (model) => {
            if (!chosen.has(modelKey(model)) || model.devices.length >= model.peripheralsCount) return model
            const { vid, pid } = model
            const { data } = await api.call(policyApprovals, {
              query: { ...asked, vid, pid, PageSize: 1, DevicesPerModel: bulkLimit },
            })
            return data[0] ?? model
          }),
        )
        return chosenDevices(chosen, complete)
      } catch (failure) {
        tellFailure(failure)
        return null
      }
    },
  }
}

export interface KeyedStart {
  keys: string
  description: string
  start: DecideStart
}

/** Keys for the narrow decisions only; the wide ones are chosen from the menu of the row or in the dialog. */
export const starts: readonly KeyedStart[] = [
  { keys: 'a', description: strings.approveTheSelectedRowOnIts, start: { effect: 'allow', scope: 'host' } },
  { keys: 'd', description: strings.denyTheSelectedRow, start: { effect: 'deny', scope: 'host' } },
]
