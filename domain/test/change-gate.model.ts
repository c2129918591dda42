import type { AccountChangeKind, GateAccount, GatedChange, GateState, Influence } from '../src/change-gate.ts'
import { controllersOf, evaluateApproval, evaluateChange } from '../src/change-gate.ts'

/** The functions under test. A mutant replaces one of them. */
export const gate = {
  evaluateChange,
  evaluateApproval,
  /** Returns true if the gate is on. Two Administrators existed at the start; `enabled` is the current number. */
  isLatched: (_enabledAdministrators: number): boolean => true,
  /** Returns the number of hosts of the last 15 minutes that count for a caller. */
  window: (byAll: number, _byCaller: number): number => byAll,
}
export type Gate = typeof gate

const administrator = 10
const manager = 20
/** The lowest profile for each operation, according to the contract. */
const hostProfile = manager

/**
 * `a` is the attacker's account, `b` an honest Administrator, `m` an honest Manager whose API token is stolen in one
 * scenario. `s` and `t` are accounts that the attacker creates.
 */
export const names = ['a', 'b', 'm', 's', 't'] as const
export type Name = (typeof names)[number]

export const accountOps = ['promote', 'demote', 'disable', 'enable', 'delete', 'password', 'factor', 'email'] as const
export type AccountOp = (typeof accountOps)[number]

/** All operations that an attacker can try. `hosts`: 1 is the limit, 2 is above it. */
export type Op =
  | { op: 'release' | 'allow'; who: Name; hosts: 1 | 2 }
  | { op: 'raiseLimit' | 'signIn' | 'program'; who: Name }
  | { op: 'make'; who: Name; target: Name; profile: 10 | 20 }
  | { op: AccountOp; who: Name; target: Name }
  | { op: 'approve'; who: Name }
  | { op: 'wait'; hours: 0.25 | 24 }

interface Account {
  profile: number
  isEnabled: boolean
}

/**
 * The pending request. One is enough: requests do not influence each other, so every bypass with several requests also
 * works with only the approved request.
 */
interface Request {
  by: Name
  isForAdministrators: boolean
  /** Accounts that existed at the time of the request. */
  present: readonly Name[]
}

export interface World {
  accounts: Readonly<Partial<Record<Name, Account>>>
  /** Accounts that the attacker can sign in to. */
  sessions: readonly Name[]
  /** Accounts whose API token is the only credential that the attacker holds. */
  tokens: readonly Name[]
  request: Request | null
  /** Hosts of the last 15 minutes, by the person who released them or allowed devices on them alone. */
  released: Readonly<Partial<Record<Name, number>>>
  allowed: Readonly<Partial<Record<Name, number>>>
  /** `target<by`: an account that one person changed alone. */
  influences: readonly string[]
  /** Accounts whose password or factor another person set in the last 24 hours. */
  held: readonly Name[]
}

const now = 1_000_000_000_000
const hour = 3_600_000
const limit = 1

export const start = (withToken: boolean): World => ({
  accounts: {
    a: { profile: administrator, isEnabled: true },
    b: { profile: administrator, isEnabled: true },
    m: { profile: manager, isEnabled: true },
  },
  sessions: ['a'],
  tokens: withToken ? ['m'] : [],
  request: null,
  released: {},
  allowed: {},
  influences: [],
  held: [],
})

/** A bypass: a change without a second approver. The search ends there. */
class Bypass extends Error {}

const sum = (of: Readonly<Partial<Record<Name, number>>>): number => {
  let n = 0
  for (const name of names) n += of[name] ?? 0
  return n
}

const withOne = <T>(all: readonly T[], one: T): readonly T[] => (all.includes(one) ? all : [...all, one].sort())

/** The operations that the gate decides on. */
const changeOf = (world: World, op: Op): GatedChange | null => {
  switch (op.op) {
    case 'release':
    case 'allow':
      return { kind: op.op, hosts: op.hosts }
    case 'raiseLimit':
      return { kind: 'limit', limit: null }
    case 'signIn':
    case 'program':
      return { kind: op.op }
    case 'disable':
    case 'demote':
    case 'delete':
    case 'password':
    case 'factor':
    case 'email':
      return {
        kind: 'account',
        change: op.op satisfies AccountChangeKind,
        isAdministrator: world.accounts[op.target]?.profile === administrator,
        isOwn: op.who === op.target,
      }
    default:
      return null
  }
}

/** Returns the profile of a call. An API token keeps the profile with which it was created. */
const profileOf = (world: World, who: Name): number => {
  const profile = world.accounts[who]?.profile ?? Number.POSITIVE_INFINITY
  return world.sessions.includes(who) ? profile : Math.max(profile, manager)
}

/** Returns true if the interface accepts the caller and the objects exist. */
const isPossible = (world: World, op: Op): boolean => {
  if (op.op === 'wait') return true
  const caller = world.accounts[op.who]
  if (caller === undefined || !caller.isEnabled) return false
  // A Manager may change only accounts with the profile User, and the model has none.
  const isForHosts = op.op === 'release' || op.op === 'allow' || op.op === 'approve'
  if (profileOf(world, op.who) > (isForHosts ? hostProfile : administrator)) return false
  if (op.op === 'approve') return world.request !== null
  if (!('target' in op)) return true
  // Accounts cannot demote, disable or delete themselves. Setting one's own password is not a takeover.
  return op.target !== op.who && (op.op === 'make') === (world.accounts[op.target] === undefined)
}

const withInfluence = (world: World, target: Name, by: Name): World => ({
  ...world,
  influences: withOne(world.influences, `${target}<${by}`),
})

/** Carries out a change that one person made alone. Throws if it needs a second approver. */
const carryOut = (world: World, op: Op): World => {
  switch (op.op) {
    case 'release':
    case 'allow': {
      const member = op.op === 'release' ? 'released' : 'allowed'
      const counted = { ...world[member], [op.who]: (world[member][op.who] ?? 0) + op.hosts }
      if (sum(counted) > limit) throw new Bypass(`${op.op}: ${sum(counted)} hosts in 15 minutes`)
      return { ...world, [member]: counted }
    }
    case 'raiseLimit':
    case 'program':
    case 'signIn':
      throw new Bypass(op.op)
    case 'make':
      return withInfluence(
        {
          ...world,
          accounts: { ...world.accounts, [op.target]: { profile: op.profile, isEnabled: true } },
          sessions: withOne(world.sessions, op.target),
        },
        op.target,
        op.who,
      )
    case 'promote':
    case 'demote':
    case 'disable':
    case 'enable': {
      if (op.target === 'b' && (op.op === 'demote' || op.op === 'disable'))
        throw new Bypass(`${op.op} of another Administrator`)
      const before = world.accounts[op.target] as Account
      const after = {
        profile: op.op === 'promote' ? administrator : op.op === 'demote' ? manager : before.profile,
        isEnabled: op.op === 'enable' || (op.op !== 'disable' && before.isEnabled),
      }
      if (after.profile === before.profile && after.isEnabled === before.isEnabled) return world
      const changed = { ...world, accounts: { ...world.accounts, [op.target]: after } }
      return op.op === 'promote' || op.op === 'enable' ? withInfluence(changed, op.target, op.who) : changed
    }
    case 'delete': {
      if (op.target === 'b') throw new Bypass('delete of another Administrator')
      const { [op.target]: _, ...accounts } = world.accounts
      const isOther = (name: Name): boolean => name !== op.target
      const request =
        world.request === null || world.request.by === op.target
          ? null
          : { ...world.request, present: world.request.present.filter(isOther) }
      // The next account with this name is another account. The influence of the deleted account passes to its controllers.
      const behind = world.influences.filter((one) => one.startsWith(`${op.target}<`)).map((one) => one.slice(2))
      const influences = world.influences
        .filter((one) => !one.startsWith(`${op.target}<`))
        .flatMap((one) => (one.endsWith(`<${op.target}`) ? behind.map((by) => `${one.slice(0, 2)}${by}`) : [one]))
      return {
        ...world,
        accounts,
        request,
        sessions: world.sessions.filter(isOther),
        tokens: world.tokens.filter(isOther),
        held: world.held.filter(isOther),
        influences: [...new Set(influences)].sort(),
      }
    }
    case 'password':
    case 'factor':
    case 'email':
      if (op.target === 'b') throw new Bypass(`${op.op} of another Administrator`)
      return withInfluence(
        { ...world, sessions: withOne(world.sessions, op.target), held: withOne(world.held, op.target) },
        op.target,
        op.who,
      )
    default:
      return world
  }
}

const accountOf = (world: World, name: Name, existed: boolean): GateAccount | null => {
  const account = world.accounts[name]
  return account === undefined
    ? null
    : {
        accountId: name,
        profile: account.profile,
        isEnabled: account.isEnabled,
        isSuspended: false,
        madeAt: existed ? now - 48 * hour : now - 1,
        signInChangedAt: null,
        heldUntil: null,
      }
}

const influencesOf = (world: World): Influence[] => [
  ...world.influences.map((one) => ({
    accountId: one.slice(0, 1),
    by: one.slice(2),
    how: 'created' as const,
    isApproved: false,
    at: now - 25 * hour,
  })),
  ...world.held.map((accountId) => ({
    accountId,
    by: 'nobody',
    how: 'password' as const,
    isApproved: true,
    at: now - hour,
  })),
]

/** Returns the world after an operation, or the same world if nothing changes. */
export const step = (world: World, op: Op, { evaluateChange, evaluateApproval, isLatched, window }: Gate): World => {
  if (!isPossible(world, op)) return world
  if (op.op === 'wait') {
    const next = { ...world, released: {}, allowed: {} }
    return op.hours < 24 ? next : { ...next, request: null, held: [] }
  }
  const isApiToken = !world.sessions.includes(op.who)
  if (op.op === 'approve') {
    const request = world.request as Request
    const refusal = evaluateApproval({
      now,
      isApiToken,
      approver: accountOf(world, op.who, request.present.includes(op.who)),
      requester: accountOf(world, request.by, true),
      leastProfile: request.isForAdministrators ? administrator : hostProfile,
      requestedAt: now - hour,
      expiresAt: now + 23 * hour,
      influences: influencesOf(world),
    })
    if (refusal === null) throw new Bypass(`${op.who} approved what ${request.by} requested`)
    return world
  }
  const change = changeOf(world, op)
  if (change === null) return carryOut(world, op)
  let enabled = 0
  for (const name of names)
    if (world.accounts[name]?.profile === administrator && world.accounts[name]?.isEnabled) enabled++
  const state: GateState = {
    isLatched: isLatched(enabled),
    limit,
    released: window(sum(world.released), world.released[op.who] ?? 0),
    allowed: window(sum(world.allowed), world.allowed[op.who] ?? 0),
  }
  const verdict = evaluateChange(state, { isApiToken }, change)
  if (verdict === 'refuse') return world
  if (verdict === 'allow') return carryOut(world, op)
  return {
    ...world,
    request: {
      by: op.who,
      isForAdministrators: change.kind !== 'release' && change.kind !== 'allow',
      present: names.filter((name) => world.accounts[name] !== undefined),
    },
  }
}

/** Returns all operations that the attacker can call in a world. */
export const opsOf = (world: World): Op[] => {
  const ops: Op[] = [
    { op: 'wait', hours: 0.25 },
    { op: 'wait', hours: 24 },
  ]
  for (const who of names) {
    const caller = world.accounts[who]
    if (caller === undefined || !(world.sessions.includes(who) || world.tokens.includes(who))) continue
    for (const hosts of [1, 2] as const) ops.push({ op: 'release', who, hosts }, { op: 'allow', who, hosts })
    if (world.request !== null) ops.push({ op: 'approve', who })
    if (profileOf(world, who) !== administrator) continue
    for (const op of ['raiseLimit', 'signIn', 'program'] as const) ops.push({ op, who })
    for (const target of names) {
      if (target === 'a') continue
      if (world.accounts[target] !== undefined) for (const op of accountOps) ops.push({ op, who, target })
      else if (target === 's' || target === 't')
        for (const profile of [10, 20] as const) ops.push({ op: 'make', who, target, profile })
    }
  }
  return ops
}

/** Returns a world as text. */
export const exactKey = (world: World): string => JSON.stringify(world)

const theirsOf = new WeakMap<readonly string[], ReadonlySet<Name>>()
/** Returns the accounts that the account of the attacker controls. */
const theirs = (world: World): ReadonlySet<Name> => {
  const known = theirsOf.get(world.influences)
  if (known !== undefined) return known
  const influences = influencesOf({ ...world, held: [] })
  const found = new Set(names.filter((name) => controllersOf(name, influences).has('a')))
  theirsOf.set(world.influences, found)
  return found
}

/**
 * Returns the same text for worlds that are equivalent for the gate of the product. The gate uses only whether two accounts
 * share a controller, and the sum of hosts in the window. All accounts that the attacker controls are equivalent.
 */
export const shortKey = (world: World): string => {
  const controlled = theirs(world)
  const part = (name: Name): string => {
    const account = world.accounts[name]
    if (account === undefined) return '-'
    const r = world.request
    return (
      account.profile +
      (account.isEnabled ? 'e' : 'd') +
      (world.sessions.includes(name) ? 's' : world.tokens.includes(name) ? 't' : '') +
      (world.held.includes(name) ? 'h' : '') +
      (controlled.has(name) ? 'c' : '') +
      (r?.by === name ? (r.isForAdministrators ? 'R' : 'r') : '') +
      (r?.present.includes(name) ? 'p' : '')
    )
  }
  // The two accounts that the attacker created are equivalent.
  const made = [part('s'), part('t')].sort()
  return [part('a'), part('b'), part('m'), ...made, sum(world.released), sum(world.allowed)].join(' ')
}

export interface Explored {
  states: number
  steps: number
  /** Number of operations in the longest shortest path. */
  depth: number
  /** Operations of a bypass. Null: there is no bypass. */
  bypass: { ops: Op[]; why: string } | null
}

/** Explores every reachable state once, shortest sequences first. */
export const explore = (first: World, of: Gate, keyOf: (world: World) => string, most = 1_000_000): Explored => {
  const seen = new Map<string, { from: string; op: Op } | null>([[keyOf(first), null]])
  const pathTo = (key: string): Op[] => {
    const ops: Op[] = []
    for (let at = seen.get(key); at != null; at = seen.get(at.from)) ops.unshift(at.op)
    return ops
  }
  let level: { world: World; key: string }[] = [{ world: first, key: keyOf(first) }]
  let [depth, steps] = [0, 0]
  while (level.length > 0) {
    const next: typeof level = []
    for (const { world, key: from } of level)
      for (const op of opsOf(world)) {
        steps++
        let after: World
        try {
          after = step(world, op, of)
        } catch (error) {
          if (!(error instanceof Bypass)) throw error
          return { states: seen.size, steps, depth, bypass: { ops: [...pathTo(from), op], why: error.message } }
        }
        if (after === world) continue
        const key = keyOf(after)
        if (seen.has(key)) continue
        seen.set(key, { from, op })
        if (seen.size > most) throw new Error(`more than ${most} states`)
        next.push({ world: after, key })
      }
    level = next
    if (next.length > 0) depth++
  }
  return { states: seen.size, steps, depth, bypass: null }
}
