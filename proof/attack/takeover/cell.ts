import type { Goal } from './axes.ts'
import type { ControlId } from './controls.ts'

type Verdict = 'refused' | 'second approver' | 'detected' | 'possible'

export type Cell =
  | { is: 'not applicable' }
  | {
      is: Verdict
      /** They stop or reveal the attack. Beside `possible`, they only reduce the damage. */
      by: readonly ControlId[]
      /** What the attacker can still do. */
      limit?: string
      /** What to do against a possible attack. */
      response?: string
    }

/** One attacker against every goal. */
export type Row = Readonly<Record<Goal, Cell>>

const proven =
  (is: Exclude<Verdict, 'possible'>) =>
  (by: readonly [ControlId, ...ControlId[]], limit?: string): Cell =>
    limit === undefined ? { is, by } : { is, by, limit }

export const refused = proven('refused')
export const needsApprover = proven('second approver')
export const detected = proven('detected')
export const possible = (limit: string, response: string, by: readonly ControlId[] = []): Cell => ({
  is: 'possible',
  by,
  limit,
  response,
})
export const notApplicable: Cell = { is: 'not applicable' }
