import type { Goal } from './axes.ts'
import type { GuardId } from './guards.ts'

export type Proven = 'refused' | 'second approver' | 'detected'

export type Cell =
  /** A guard stops or reveals the attack. `note` states what the attacker can still do, if anything. */
  | { is: Proven; by: readonly [GuardId, ...GuardId[]]; note?: string }
  /** The attack succeeds. `limit` states what bounds the damage, `by` which guards do, and `response` what to do. */
  | { is: 'possible'; limit: string; response: string; by: readonly GuardId[] }
  | { is: 'not applicable' }

/** One attacker against every goal. */
export type Row = Readonly<Record<Goal, Cell>>

type Ids = readonly [GuardId, ...GuardId[]]
export const refused = (by: Ids, note?: string): Cell => ({
  is: 'refused',
  by,
  ...(note === undefined ? {} : { note }),
})
export const needsApprover = (by: Ids, note?: string): Cell => ({
  is: 'second approver',
  by,
  ...(note === undefined ? {} : { note }),
})
export const detected = (by: Ids, note?: string): Cell => ({
  is: 'detected',
  by,
  ...(note === undefined ? {} : { note }),
})
export const possible = (limit: string, response: string, by: readonly GuardId[] = []): Cell => ({
  is: 'possible',
  limit,
  response,
  by,
})
export const notApplicable: Cell = { is: 'not applicable' }
