import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import {
  approveQuarantines,
  clearQuarantines,
  dismissQuarantines,
  nacSystemNames,
  type Quarantine,
} from '#features/contract.ts'
import { rereadQuarantines } from './shared/useNac.ts'
import { strings } from './strings.ts'

/** Returns whether a quarantine, or a part of its addresses, waits for approval. */
export const isWaiting = ({ awaitsApproval }: Quarantine): boolean => awaitsApproval

/**
 * Returns whether a quarantine can be released: active or pending, and not being released, unless only a person can end
 * it.
 */
export const isClearable = ({ state, isActive, isMoved }: Quarantine): boolean =>
  isActive && state !== 'waiting' && (state !== 'clearing' || isMoved)

const decisions = {
  clear: {
    operation: clearQuarantines,
    title: strings.releaseTitle,
    action: strings.releaseTitle,
    does: isClearable,
    consequence: strings.releaseConsequence,
    done: strings.released,
  },
  approve: {
    operation: approveQuarantines,
    title: strings.approveTitle,
    action: strings.approveTitle,
    does: isWaiting,
    consequence: strings.approveConsequence,
    done: strings.requesting,
  },
  dismiss: {
    operation: dismissQuarantines,
    title: strings.dismissTitle,
    action: strings.dismissTitle,
    does: isWaiting,
    consequence: strings.dismissConsequence,
    done: strings.dismissedCount,
  },
} as const

export type Decision = keyof typeof decisions

// Limit of one request.
const most = 1_000

/** Returns the actions for quarantines. Each asks for confirmation. */
export const useQuarantineActions = (onDone: () => void) => {
  const { api, queries } = useServices()
  return (decision: Decision, among: readonly Quarantine[]) => {
    const { operation, title, action, does, consequence, done } = decisions[decision]
    const rows = among.filter(does)
    const rest = among.length - rows.length
    confirm({
      title,
      names: [
        ...new Set(
          rows.map((row) => strings.hostAndSystem({ host: row.hostIdentifier, system: nacSystemNames[row.system] })),
        ),
      ],
      count: rows.length,
      kind: strings.quarantineCount,
      consequence: rest === 0 ? consequence : `${consequence} ${strings.othersUnchanged({ count: rest })}`,
      action,
      run: async () => {
        let accepted = 0
        for (let from = 0; from < rows.length; from += most) {
          const ids = rows.slice(from, from + most).map(({ id }) => id)
          accepted += (await api.call(operation, { body: { ids } })).accepted.length
        }
        const late = rows.length - accepted
        const message = done({ count: accepted })
        tell(late === 0 ? message : `${message} ${strings.changedMeanwhile({ count: late })}`)
        onDone()
        await rereadQuarantines(queries)
      },
    })
  }
}
