import {
  approveQuarantines,
  clearQuarantines,
  dismissQuarantines,
  nacSystemNames,
  type Quarantine,
} from '@portcullis/contract'
import { useServices } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { rereadQuarantines } from '../../ui/nac/useNac.ts'
import { tell } from '../../ui/tell.ts'
import { strings } from './strings.ts'

/** Waits for a person. */
export const isWaiting = ({ state }: Quarantine): boolean => state === 'waiting'

/** In force or on its way, and nobody takes it back yet; or somebody does, and only a person's word can end it. */
export const isClearable = ({ state, isActive, isMoved }: Quarantine): boolean =>
  isActive && state !== 'waiting' && (state !== 'clearing' || isMoved)

const counted = (n: number) => `${n.toLocaleString('en')} ${n === 1 ? 'quarantine' : 'quarantines'}`

const decisions = {
  clear: {
    operation: clearQuarantines,
    title: strings.takeQuarantinesBack,
    action: strings.takeBack2,
    does: isClearable,
    consequence: strings.theSystemIsAskedToLet,
    done: (n: number) => strings.nBeingTakenBack({ n: counted(n) }),
  },
  approve: {
    operation: approveQuarantines,
    title: strings.quarantineNow,
    action: strings.quarantine2,
    does: isWaiting,
    consequence: strings.theHostIsTakenOffThe,
    done: (n: number) => strings.nOnTheWay({ n: counted(n) }),
  },
  dismiss: {
    operation: dismissQuarantines,
    title: strings.dismissQuarantines,
    action: strings.dismiss2,
    does: isWaiting,
    consequence: strings.theHostStaysOnTheNetwork,
    done: (n: number) => strings.nDismissed({ n: counted(n) }),
  },
} as const

export type Decision = keyof typeof decisions

// As many as one request takes.
const most = 1_000

/** What can be decided about quarantines, one or many; each asks first. */
export const useQuarantineActions = (onDone: () => void) => {
  const { api, queries } = useServices()
  return (decision: Decision, among: readonly Quarantine[]) => {
    const { operation, title, action, does, consequence, done } = decisions[decision]
    const rows = among.filter(does)
    const rest = among.length - rows.length
    confirm({
      title,
      names: [...new Set(rows.map((row) => `${row.hostIdentifier}, ${nacSystemNames[row.system]}`))],
      count: rows.length,
      kind: ['quarantine', 'quarantines'],
      consequence: `${consequence}${rest === 0 ? '' : ` ${rest.toLocaleString('en')} of the selected need it not, or cannot have it, and stay as they are.`}`,
      action,
      run: async () => {
        let accepted = 0
        for (let from = 0; from < rows.length; from += most) {
          const ids = rows.slice(from, from + most).map(({ id }) => id)
          accepted += (await api.call(operation, { body: { ids } })).accepted.length
        }
        const late = rows.length - accepted
        tell(`${done(accepted)}${late === 0 ? '' : ` ${late.toLocaleString('en')} had changed meanwhile.`}`)
        onDone()
        await rereadQuarantines(queries)
      },
    })
  }
}
