/**
 * The second approver: what one person may do alone, and who may approve the rest. Pure, so that every state it can reach
 * is explored (`domain/test/approval-gate.test.ts`). All times are ms since 1970.
 */

/** What the gate knows when someone requests a change. */
export interface GateState {
  /** Two Administrators exist or have existed, and the command line has not lifted the gate. */
  isLatched: boolean
  /** Hosts that all people together may release in 15 minutes without a second approver; null: any number. */
  limit: number | null
  /** Hosts freed or deleted in the last 15 minutes without a second approver. */
  released: number
  /** Hosts on which rules newly allowed devices in the last 15 minutes without a second approver. */
  allowed: number
}

/** What can be done to an account that is not the caller's own. */
export type AccountChangeKind = 'disable' | 'demote' | 'delete' | 'password' | 'factor' | 'email'

export type GateWish =
  /** Free or delete this many hosts. */
  | { kind: 'release'; hosts: number }
  /** Allow devices by rules on this many hosts that blocked them. */
  /** `isForLaterHosts`: the change also allows attack tools on hosts that enrol later. */
  | { kind: 'allow'; hosts: number; isForLaterHosts?: boolean }
  | { kind: 'limit'; limit: number | null }
  | { kind: 'account'; change: AccountChangeKind; isAdministrator: boolean; isOwn: boolean }
  /** Settings that decide who a directory or identity provider lets in, and as what. */
  | { kind: 'signIn' }
  /** Install a program on hosts: publish a build or order an update. */
  | { kind: 'program' }

/** `approver`: only if a second approver agrees. `refuse`: never with this credential. */
export type GateVerdict = 'allow' | 'approver' | 'refuse'

const needsApprover = ({ limit, released, allowed }: GateState, wish: GateWish): boolean => {
  switch (wish.kind) {
    case 'release':
      return wish.hosts > 0 && limit !== null && released + wish.hosts > limit
    case 'allow':
      return limit !== null && (wish.isForLaterHosts === true || (wish.hosts > 0 && allowed + wish.hosts > limit))
    case 'limit':
      return limit !== null && (wish.limit === null || wish.limit > limit)
    case 'account':
      return wish.isAdministrator && !wish.isOwn
    case 'signIn':
    case 'program':
      return true
  }
}

/**
 * Whether someone may make a change alone. An API token cannot even request an approval: a stolen token would let one
 * attacker act under a second name.
 */
export const judgeWish = (state: GateState, actor: { isApiToken: boolean }, wish: GateWish): GateVerdict =>
  !state.isLatched || !needsApprover(state, wish) ? 'allow' : actor.isApiToken ? 'refuse' : 'approver'

/** An account, as the gate sees it. */
export interface GateAccount {
  accountId: string
  profile: number
  isEnabled: boolean
  /** Suspended by another Administrator. */
  isSuspended: boolean
  madeAt: number
  /** When the sign-in settings of its directory or provider last changed; null for local accounts. */
  signInChangedAt: number | null
  /** Until then somebody else may have received the link that set its password; null: nobody else could. */
  heldUntil: number | null
}

/** Someone did this to the account of another person and could therefore act as it. */
export interface Influence {
  accountId: string
  by: string
  how: 'created' | 'promoted' | 'enabled' | 'password' | 'factor' | 'email'
  /** A second approver agreed. */
  isApproved: boolean
  at: number
}

export interface ApprovalCase {
  now: number
  isApiToken: boolean
  approver: GateAccount | null
  requester: GateAccount | null
  /** Least profile that may approve; profiles count down, 10 is the Administrator. */
  leastProfile: number
  requestedAt: number
  expiresAt: number
  influences: readonly Influence[]
}

export type ApprovalRefusal =
  | 'token'
  | 'own'
  | 'profile'
  | 'disabled'
  | 'suspended'
  | 'requester'
  | 'late'
  | 'new'
  | 'recent'
  | 'related'

/** An account whose password or factor somebody else set may not approve for this long. */
export const approverHoldMs = 24 * 3_600_000

const setsCredentials: ReadonlySet<Influence['how']> = new Set(['password', 'factor', 'email'])

/** Everyone who could act as an account: its owner, whoever created it or set its password alone, and so on for them. */
export const controllersOf = (accountId: string, influences: readonly Influence[]): ReadonlySet<string> => {
  const found = new Set([accountId])
  for (const one of found)
    for (const influence of influences)
      if (influence.accountId === one && !influence.isApproved) found.add(influence.by)
  return found
}

const isHeld = (
  { accountId, signInChangedAt, heldUntil }: GateAccount,
  influences: readonly Influence[],
  now: number,
): boolean =>
  (heldUntil !== null && now < heldUntil) ||
  (signInChangedAt !== null && signInChangedAt > now - approverHoldMs) ||
  influences.some((one) => one.accountId === accountId && setsCredentials.has(one.how) && one.at > now - approverHoldMs)

/** Why an account may not approve a request; null when it may. */
export const judgeApproval = (given: ApprovalCase): ApprovalRefusal | null => {
  const { now, approver, requester, influences } = given
  if (given.isApiToken) return 'token'
  if (approver === null || !approver.isEnabled) return 'disabled'
  if (approver.isSuspended) return 'suspended'
  if (requester === null || !requester.isEnabled || requester.isSuspended) return 'requester'
  if (approver.accountId === requester.accountId) return 'own'
  if (approver.profile > given.leastProfile) return 'profile'
  if (now >= given.expiresAt) return 'late'
  if (approver.madeAt > given.requestedAt) return 'new'
  if (isHeld(approver, influences, now)) return 'recent'
  const mine = controllersOf(approver.accountId, influences)
  return [...controllersOf(requester.accountId, influences)].some((one) => mine.has(one)) ? 'related' : null
}
