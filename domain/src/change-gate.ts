/**
 * The second approver: which changes one person may make alone, and who may approve the others. The functions are pure, so
 * that a test can explore every reachable state (`domain/test/change-gate.test.ts`). All times are ms since 1970.
 */

/** The state of the gate at the time of a change. */
export interface GateState {
  /** True if two Administrators exist or have existed and the command line has not lifted the gate. */
  isLatched: boolean
  /** Maximum number of hosts that all people together may release in 15 minutes without a second approver. Null: any number. */
  limit: number | null
  /** Hosts freed or deleted in the last 15 minutes without a second approver. */
  released: number
  /** Hosts on which rules newly allowed devices in the last 15 minutes without a second approver. */
  allowed: number
}

/** Changes of another person's account. */
export type AccountChangeKind = 'disable' | 'demote' | 'delete' | 'password' | 'factor' | 'email'

export type GatedChange =
  /** Frees or deletes this many hosts. */
  | { kind: 'release'; hosts: number }
  /** Allows devices by rules on this many hosts that blocked them. */
  /** `isForLaterHosts`: the change also allows attack tools on hosts that enrol later. */
  | { kind: 'allow'; hosts: number; isForLaterHosts?: boolean }
  | { kind: 'limit'; limit: number | null }
  | { kind: 'account'; change: AccountChangeKind; isAdministrator: boolean; isOwn: boolean }
  /** Changes who can sign in through a directory or identity provider, and with which profile. */
  | { kind: 'signIn' }
  /** Installs a program on hosts: publishes a build or starts an update. */
  | { kind: 'program' }
  /** Lifts the limit of armed Windows hosts of a build. */
  | { kind: 'verification' }

/** `approver`: needs a second approver. `refuse`: impossible with this credential. */
export type GateVerdict = 'allow' | 'approver' | 'refuse'

const needsApprover = ({ limit, released, allowed }: GateState, change: GatedChange): boolean => {
  switch (change.kind) {
    case 'release':
      return change.hosts > 0 && limit !== null && released + change.hosts > limit
    case 'allow':
      return limit !== null && (change.isForLaterHosts === true || (change.hosts > 0 && allowed + change.hosts > limit))
    case 'limit':
      return limit !== null && (change.limit === null || change.limit > limit)
    case 'account':
      return change.isAdministrator && !change.isOwn
    case 'verification':
      return limit !== null
    case 'signIn':
    case 'program':
      return true
  }
}

/**
 * Decides whether a person may make a change alone. An API token cannot even request an approval, because with a stolen
 * token, an attacker could act as another person.
 */
export const evaluateChange = (state: GateState, actor: { isApiToken: boolean }, change: GatedChange): GateVerdict =>
  !state.isLatched || !needsApprover(state, change) ? 'allow' : actor.isApiToken ? 'refuse' : 'approver'

/** The data about an account that the gate uses. */
export interface GateAccount {
  accountId: string
  profile: number
  isEnabled: boolean
  /** True if another Administrator suspended the account. */
  isSuspended: boolean
  madeAt: number
  /** Last change of the sign-in settings of its directory or provider. Null for local accounts. */
  signInChangedAt: number | null
  /** Until this time, another person may have received the link that set the password. Null: impossible. */
  heldUntil: number | null
}

/** A change of another person's account that lets the actor act as that account. */
export interface Influence {
  accountId: string
  by: string
  how: 'created' | 'promoted' | 'enabled' | 'password' | 'factor' | 'email'
  /** True if a second approver approved it. */
  isApproved: boolean
  at: number
}

export interface ApprovalCase {
  now: number
  isApiToken: boolean
  approver: GateAccount | null
  requester: GateAccount | null
  /** Lowest profile that may approve. A lower number is a higher profile; 10 is Administrator. */
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

/** Time for which an account may not approve after another person set its password or second factor. */
export const approverHoldMs = 24 * 3_600_000

const setsCredentials: ReadonlySet<Influence['how']> = new Set(['password', 'factor', 'email'])

/** Returns all accounts that could act as an account: the owner, accounts that created it or set its password alone, and so on recursively. */
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
  now < (heldUntil ?? 0) ||
  (signInChangedAt ?? 0) > now - approverHoldMs ||
  influences.some((one) => one.accountId === accountId && setsCredentials.has(one.how) && one.at > now - approverHoldMs)

/** Returns why an account may not approve a request, or null if it may. */
export const evaluateApproval = (given: ApprovalCase): ApprovalRefusal | null => {
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
