import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { getPeripherals, policyApprovals } from '#features/contract.ts'
import type { BulkQuestion } from '../shared/BulkDecideDialog.tsx'
import { bulkLimit } from '../shared/bulk-decide.ts'
import type { DecideStart, DecideSubject } from '../shared/decide.ts'
import { strings } from './strings.ts'
import { chosenDevices, type Line, modelKey, subjectOf, type Waiting } from './waiting.ts'

/** Reads data for a decision: the evidence, and devices that the page does not list. */
export const useQuestions = () => {
  const { api } = useServices()
  return {
    /** Returns the subject of a decision about a line; null if its evidence could not be read. */
    subjectOf: async (line: Line): Promise<DecideSubject | null> => {
      const { vid, pid, isKnownAttackTool } = line.model
      if (!isKnownAttackTool) return subjectOf(line, [])
      // The dialog shows why it is considered an attack tool.
      try {
        const { data } = await api.call(getPeripherals, { query: { vid, pid, isKnownAttackTool: 'true', PageSize: 1 } })
        return subjectOf(line, data[0]?.evidence ?? [])
      } catch (failure) {
        tellFailure(failure)
        return null
      }
    },
    /** Returns the devices of a selection; null if there are too many or they could not be read. */
    devicesOf: async (
      chosen: ReadonlySet<string>,
      count: number,
      all: readonly Waiting[],
      asked: Record<string, string>,
    ): Promise<Omit<BulkQuestion, 'effect' | 'done'> | null> => {
      if (count > bulkLimit) {
        tell(strings.tooMany({ limit: bulkLimit }))
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

/** Keys for decisions on one host. Wider decisions need the menu of the row or the dialog. */
export const starts: readonly KeyedStart[] = [
  { keys: 'a', description: strings.approveRow, start: { effect: 'allow', scope: 'host' } },
  { keys: 'd', description: strings.denyRow, start: { effect: 'deny', scope: 'host' } },
]
