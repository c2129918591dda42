import {
  approverHoldMs,
  evaluateApproval,
  evaluateChange,
  type GateAccount,
  type GatedChange,
  type GateState,
  type GateVerdict,
  type Influence,
  mustExist,
} from '@portcullis/domain'
import { AppError, notFound } from '@portcullis/platform/server/app-error.ts'
import { type Queryable, Rollback, type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { assertFresh } from '@portcullis/platform/server/http/fresh.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import { type ChangeRequest, profileNames, type UserProfile } from '#features/contract.ts'
import {
  createChangeRequestsStore,
  type PendingRequest,
  type SignInSource,
  type StoredRequest,
} from './change-requests.store.ts'
import type { ChangeRequestsContext } from './context.ts'
import { refusals } from './refusals.ts'
import { createRequestSeals, type UnsealedRequest } from './seal.ts'
import { digestOf, fileOf, shownLine } from './shown-change.ts'

const waitMs = 24 * 3_600_000
/** Maximum number of waiting requests. Each may name 100,000 hosts. */
const maxWaiting = 50
/** Maximum number of waiting requests of one account, so that nobody fills the queue. */
const maxWaitingOfAccount = 10
/** Number of waiting requests reserved for Administrators, so that requests of Managers lock nobody out. */
const reservedForAdministrators = 10
const listed = 200

/** Runs after the approval has committed, to refresh caches and wake workers. */
export type AfterCommit = () => unknown

/** The other parts of an approved request. */
export interface ApprovedRequest {
  requestedBy: string
  requestedByAccount: string
  requestedAt: Date
  secret: Secret | null
}

/** Handler of one kind of change that may need a second approver. `Change` must be serialisable as JSON. */
export interface ChangeKind<Change> {
  action: ChangeRequest['action'] | ((change: Change) => ChangeRequest['action'])
  /** Summarises the change for the approver, widest effect first. */
  title(change: Change): string
  /**
   * Lists everything that is carried out, one part per line, widest effect first. Secrets appear as “(changed)”. Absent
   * if the title is complete (`shown-changes.test.ts`).
   */
  details?(tx: Tx, change: Change): readonly string[] | Promise<readonly string[]>
  /** Number of affected hosts; 0 if the change does not affect hosts. */
  hosts?(change: Change): number
  /** Lowest profile that may approve. Defaults to Administrator. */
  approver?: UserProfile | ((change: Change) => UserProfile)
  /** Checks further conditions on the approver and throws to refuse. Runs in the transaction of the approval. */
  mayApprove?(tx: Tx, approver: Actor, change: Change): Promise<void>
  /** Removes data stored for the change, in the transaction that rejects the request. */
  discard?(tx: Tx, change: Change): Promise<void>
  /** Carries out the change in the transaction of the approval, or throws to refuse it. `actor` names both people. */
  carryOut(tx: Tx, actor: Actor, change: Change, request: ApprovedRequest): Promise<AfterCommit | undefined>
}

/** A change that one person may not make alone. */
export interface ProposedChange<Change extends object = object> {
  kind: string
  change: Change
  /** Part of the change that is stored sealed and never shown, such as a password hash. */
  secret?: Secret | null
  /** Limit that the change exceeds, for the message. */
  limit?: number
  /** Text of the refusal. `{id}` becomes the id of the request. */
  detail?: string
}

/** The outcome of a transaction whose change needs a second approver: rolls it back, then `settle` files the change. */
export class NeedsApprover extends Rollback<never> {
  readonly proposed: ProposedChange
  constructor(proposed: ProposedChange) {
    super(undefined as never)
    this.proposed = proposed
  }
}

/** Returns the context that binds the sealed part to its request. */
export const requestContext = (id: string): string => `change request ${id}`

const profileAdministrator: UserProfile = 10

/** Stands in for a requester whose account was deleted. */
const nobody: GateAccount = {
  accountId: '',
  profile: profileAdministrator,
  isEnabled: true,
  isSuspended: false,
  madeAt: 0,
  signInChangedAt: null,
  heldUntil: null,
}

/** Stores changes that one person may not make alone, until a second approver decides. */
export const createChangeRequests = ({ db, clock, envelope, audit, settings, events, keys }: ChangeRequestsContext) => {
  const store = createChangeRequestsStore(db)
  const seals = createRequestSeals(keys.derive('change-requests'))
  const kinds = new Map<string, ChangeKind<unknown>>()
  function kindOf(kind: string): ChangeKind<unknown> {
    const found = kinds.get(kind)
    if (found === undefined)
      throw new AppError('conflict', { detail: `This server does not support changes of kind ${kind}.` })
    return found
  }

  /** Refuses a request if its account has too many waiting ones, or if the queue is full. */
  async function assertMayWait(tx: Tx, actor: Actor, now: Date): Promise<void> {
    const { all, own } = await store.lockWaitingCounts(tx, now, actor.accountId)
    if (own >= maxWaitingOfAccount)
      throw new AppError('approval_queue_full', {
        detail: `${own} of your requests wait for a second approver, which is the maximum. Wait, or withdraw one.`,
      })
    const allowed = maxWaiting - (actor.profile > profileAdministrator ? reservedForAdministrators : 0)
    if (all >= allowed)
      throw new AppError('approval_queue_full', { detail: `${all} requests already wait for a second approver.` })
  }

  const file = (actor: Actor, proposed: ProposedChange): Promise<StoredRequest> =>
    db.transaction(async (tx) => {
      const kind = kindOf(proposed.kind)
      const now = new Date(clock.now())
      const body = JSON.stringify({ kind: proposed.kind, ...proposed.change })
      const duplicate = await store.waitingDuplicate(tx, now, actor.userName, body)
      const known = duplicate === undefined ? undefined : await store.lockWaiting(tx, now, duplicate)
      if (known !== undefined) return known
      await assertMayWait(tx, actor, now)
      const title = shownLine(kind.title(proposed.change))
      const id = newId(clock.now())
      const request: UnsealedRequest = {
        request_id: id,
        action: typeof kind.action === 'function' ? kind.action(proposed.change) : kind.action,
        title,
        hosts: kind.hosts?.(proposed.change) ?? 0,
        details: ((await kind.details?.(tx, proposed.change)) ?? []).map(shownLine),
        body,
        sealed: proposed.secret == null ? null : envelope.seal(proposed.secret, requestContext(id)),
        requested_by: actor.userName,
        requested_by_account: actor.accountId,
        requested_at: now,
        expires_at: new Date(clock.now() + waitMs),
      }
      const stored = seals.sealed(request)
      await store.insert(tx, stored)
      await audit.write(tx, actor, {
        action: 'change.requested',
        entity: title,
        details: `request ${id}`,
        severity: 4,
      })
      return stored
    })

  /** Returns why an account may not decide about a request. Rejecting has the same rules, except for the requester. */
  function refusalOf(
    actor: Actor,
    request: PendingRequest,
    kind: ChangeKind<unknown> | undefined,
    decision: 'approve' | 'reject',
    known: { accounts: readonly GateAccount[]; influences: readonly Influence[] },
  ): string | null {
    const change = JSON.parse(request.body) as unknown
    const least = typeof kind?.approver === 'function' ? kind.approver(change) : kind?.approver
    const leastProfile = least ?? profileAdministrator
    const byId = (id: string | null) => known.accounts.find(({ accountId }) => accountId === id) ?? null
    const found = byId(request.requested_by_account)
    const requester = decision === 'approve' ? found : { ...(found ?? nobody), isEnabled: true, isSuspended: false }
    const refusal = evaluateApproval({
      now: clock.now(),
      isApiToken: actor.kind !== 'session',
      approver: byId(actor.accountId),
      requester,
      leastProfile,
      requestedAt: request.requested_at.getTime(),
      expiresAt: request.expires_at.getTime(),
      influences: known.influences,
    })
    if (refusal === null) return null
    return refusal === 'profile'
      ? `A ${profileNames[actor.profile]} cannot approve this. Ask ${leastProfile === profileAdministrator ? 'an' : 'a'} ${profileNames[leastProfile]}.`
      : refusals[refusal]
  }

  async function assertMayDecide(
    tx: Tx,
    actor: Actor,
    request: StoredRequest,
    kind: ChangeKind<unknown> | undefined,
    decision: 'approve' | 'reject',
  ): Promise<void> {
    const ids = [actor.accountId, request.requested_by_account].filter((id) => id !== null)
    const why = refusalOf(actor, request, kind, decision, {
      accounts: await store.lockAccounts(tx, new Date(clock.now()), ids),
      influences: await store.influencesOn(tx, ids),
    })
    if (why === null) return
    throw new AppError('forbidden_object', {
      detail:
        decision === 'approve' ? why : `Only the requester and accounts that may approve this can reject it. ${why}`,
    })
  }

  /** Returns a waiting request. Otherwise throws the reason. */
  async function waiting(
    q: Queryable,
    id: string,
    read: (now: Date) => Promise<StoredRequest | undefined>,
  ): Promise<StoredRequest> {
    const now = new Date(clock.now())
    const found = isId(id) ? await read(now) : undefined
    if (found !== undefined) return found
    const known = isId(id) ? await store.one(q, now, id) : undefined
    if (known === undefined) throw notFound('The request does not exist.')
    throw new AppError('conflict', { detail: `This request is already ${known.state.toLowerCase()}.` })
  }
  const lock = (tx: Tx, id: string): Promise<StoredRequest> => waiting(tx, id, (now) => store.lockWaiting(tx, now, id))

  async function readAuthentic(id: string): Promise<StoredRequest> {
    const request = await waiting(db, id, (now) => store.readWaiting(db, now, id))
    seals.assertAuthentic(request)
    return request
  }

  async function stateOf(q: Queryable): Promise<GateState> {
    const now = new Date(clock.now())
    const limit = (await settings.values(db, 'vendorA')).number('VENDORA_TWO_PERSON_LIMIT')
    return {
      isLatched: await store.isLatched(q, now),
      limit: limit === 0 ? null : limit,
      released: await store.recentlyReleased(q, now, 'release'),
      allowed: await store.recentlyReleased(q, now, 'allow'),
    }
  }

  const evaluate = (state: GateState, actor: Pick<Actor, 'kind'>, change: GatedChange): GateVerdict =>
    evaluateChange(state, { isApiToken: actor.kind === 'apiToken' }, change)

  /**
   * Returns null if one person may make a change alone, and counts its hosts. Otherwise returns the exceeded limit, if the
   * change has one. Parallel calls wait, so they cannot exceed the limit together. Call it in the transaction of the change.
   */
  async function take(tx: Tx, actor: Actor, change: GatedChange): Promise<{ limit?: number } | null> {
    const counted = change.kind === 'release' || change.kind === 'allow' ? change : null
    if (counted?.hosts === 0 && !(counted.kind === 'allow' && counted.isForLaterHosts)) return null
    if (counted !== null) await store.lockReleases(tx, counted.kind)
    const state = await stateOf(tx)
    // Also from people who may free or delete that many hosts alone.
    if (change.kind === 'release' && state.limit !== null && state.released + change.hosts > state.limit)
      assertFresh(actor, clock.now())
    if (evaluate(state, actor, change) !== 'allow') return counted === null ? {} : { limit: state.limit ?? 0 }
    // Also counts while the gate is off: small steps without fresh authentication add up.
    if (counted !== null && state.limit !== null && (state.isLatched || counted.kind === 'release'))
      await store.noteRelease(tx, new Date(clock.now()), counted.kind, actor.userName, counted.hosts)
    return null
  }

  /** Files a change in its own transaction, then throws the refusal. */
  async function require(actor: Actor, proposed: ProposedChange): Promise<never> {
    // A request is half of an approval, so a stolen token must not be able to file one.
    assertFresh(actor, clock.now())
    const request = await file(actor, proposed)
    const detail =
      proposed.detail ??
      (proposed.limit === undefined
        ? 'This needs a second approver. Request {id} waits for another Administrator.'
        : `This affects ${request.hosts} ${request.hosts === 1 ? 'host' : 'hosts'}. With the changes of all people within 15 minutes, the total is more than ${proposed.limit}. Request {id} waits for a second approver.`)
    throw new AppError(
      'second_person_required',
      { detail: detail.replaceAll('{id}', request.request_id) },
      { extensions: { requestId: request.request_id } },
    )
  }

  return {
    /** Returns the registered kinds of changes. */
    kinds: (): ReadonlyMap<string, ChangeKind<unknown>> => kinds,

    /** Registers the handler of one kind of change. */
    handle: <Change>(kind: string, handler: ChangeKind<Change>): void => {
      kinds.set(kind, handler as ChangeKind<unknown>)
    },

    /** Returns whether some changes always need a second approver, because two Administrators exist or have existed. */
    isLatched: (q: Queryable = db): Promise<boolean> => store.isLatched(q, new Date(clock.now())),

    /** Returns whether one person may make a change alone. Does not count it: use it for previews. */
    mayAlone: async (actor: Pick<Actor, 'kind'>, change: GatedChange, q: Queryable = db): Promise<boolean> =>
      evaluate(await stateOf(q), actor, change) === 'allow',

    take,

    /** Files a change in its own transaction, then throws the refusal. Never call it inside another transaction. */
    require,

    /**
     * Refuses a change that one person may not make alone, and files it. Otherwise counts its hosts. Call it right before
     * the change, outside a transaction.
     */
    assertAlone: async <Change extends object>(
      actor: Actor,
      change: GatedChange,
      proposed: () => ProposedChange<Change> | Promise<ProposedChange<Change>>,
    ): Promise<void> => {
      const refused = await db.transaction((tx) => take(tx, actor, change))
      if (refused !== null) await require(actor, { ...refused, ...(await proposed()) })
    },

    /** Returns the result of a transaction. If its change needs a second approver, files it and throws the refusal. */
    settle: async <T>(actor: Actor, outcome: T | Rollback<T>): Promise<T> => {
      if (outcome instanceof NeedsApprover) return require(actor, outcome.proposed)
      return outcome instanceof Rollback ? outcome.result : outcome
    },

    /**
     * Records that one person acted on another's account. Forgets it for the account that latches the gate: until then
     * one person decides everything, and without that account nobody could ever approve.
     */
    noteInfluence: async (
      tx: Tx,
      influence: Omit<Influence, 'at'> & { wasLatched: boolean; isAdministrator: boolean },
    ): Promise<void> => {
      const { wasLatched, isAdministrator, ...noted } = influence
      if (!wasLatched && isAdministrator) await store.forgetInfluences(tx, noted.accountId)
      else await store.noteInfluence(tx, { ...noted, at: clock.now() })
    },

    /** Records a change of settings that decide who signs in, or who receives set-password links. */
    noteSignInChange: (tx: Tx, source: SignInSource): Promise<void> =>
      store.noteSignInChange(tx, new Date(clock.now()), source),

    /** Returns the time until which the account of a new set-password link cannot approve, or null if it can already. */
    linkHold: async (q: Queryable): Promise<Date | null> => {
      const changedAt = await store.linkSettingsChangedAt(q)
      const until = changedAt === null ? 0 : changedAt.getTime() + approverHoldMs
      return until > clock.now() ? new Date(until) : null
    },

    maintain: (): Promise<unknown> => store.latchAgain(db, new Date(clock.now())),

    liftedUntil: (): Promise<Date | null> => store.liftedUntil(db, new Date(clock.now())),

    endLift: (actor: Actor): Promise<{ ended: boolean }> =>
      db.transaction(async (tx) => {
        const ended = await store.endLift(tx, new Date(clock.now()))
        if (ended)
          await audit.write(tx, actor, { action: 'approvals.liftEnded', entity: 'second approver', severity: 4 })
        return { ended }
      }),

    /** Lifts the gate, for the server's command line only. All current accounts then count as independent people. */
    lift: (actor: Actor, minutes: number): Promise<Date> =>
      db.transaction(async (tx) => {
        const until = new Date(clock.now() + minutes * 60_000)
        await store.lift(tx, until)
        await store.forgetInfluences(tx, null)
        await events.append(tx, [
          {
            kind: 'approvalLifted',
            agentId: null,
            entity: 'Second approver',
            hashtags: '',
            details: `No second approver is required until ${until.toISOString().slice(0, 16).replace('T', ' ')} UTC. The requirement was lifted on the command line of the server.`,
          },
        ])
        await audit.write(tx, actor, {
          action: 'approvals.lifted',
          entity: 'second approver',
          details: `until ${until.toISOString()}`,
          severity: 4,
        })
        return until
      }),

    /** Returns the newest requests, each with the reason why the caller cannot approve it. */
    list: async (actor: Actor): Promise<{ data: ChangeRequest[] }> => {
      const now = new Date(clock.now())
      const [rows, waiting] = await Promise.all([store.recent(now, listed), store.waiting(now)])
      const ids = [actor.accountId, ...waiting.map((one) => one.requested_by_account)].filter((id) => id !== null)
      const known =
        waiting.length === 0
          ? { accounts: [], influences: [] }
          : { accounts: await store.accounts(now, ids), influences: await store.influencesOn(db, ids) }
      const refusals = new Map(
        waiting.map((one) => {
          const kind = kinds.get((JSON.parse(one.body) as { kind: string }).kind)
          return [one.request_id, refusalOf(actor, one, kind, 'approve', known) ?? '']
        }),
      )
      return { data: rows.map((row) => ({ ...row, refusal: refusals.get(row.id) ?? '' })) }
    },

    /** Returns one page of the complete change. */
    read: async (id: string, page: { number: number; size: number }) => {
      const request = await readAuthentic(id)
      const from = (page.number - 1) * page.size
      return {
        title: request.title,
        digest: digestOf(request),
        recordsTotal: request.details.length,
        data: request.details.slice(from, from + page.size),
      }
    },

    /** Returns the file of the complete change. */
    file: async (id: string): Promise<string> => fileOf(await readAuthentic(id)),

    /** Approves a request that the approver read, and carries it out in the same transaction. */
    approve: async (actor: Actor, id: string, digest: string): Promise<ChangeRequest> => {
      const done = await transactionAgain(db, async (tx) => {
        const request = await lock(tx, id)
        const change = JSON.parse(request.body) as { kind: string }
        const kind = kindOf(change.kind)
        await assertMayDecide(tx, actor, request, kind, 'approve')
        seals.assertAuthentic(request)
        if (digestOf(request) !== digest) throw new AppError('change_differs')
        await kind.mayApprove?.(tx, actor, change)
        const now = new Date(clock.now())
        await store.decide(tx, now, id, 'Approved', actor.userName)
        const afterCommit = await kind.carryOut(
          tx,
          { ...actor, userName: `${request.requested_by}, approved by ${actor.userName}` },
          change,
          {
            requestedBy: request.requested_by,
            requestedByAccount: request.requested_by_account as string,
            requestedAt: request.requested_at,
            secret: request.sealed === null ? null : envelope.open(request.sealed, requestContext(id)),
          },
        )
        await audit.write(tx, actor, {
          action: 'change.approved',
          entity: request.title,
          details: `request ${id} of ${request.requested_by}`,
          objects: [{ kind: 'account', name: request.requested_by }],
          severity: 4,
        })
        return { afterCommit, answer: mustExist(await store.one(tx, now, id), 'the request') }
      })
      await done.afterCommit?.()
      return done.answer
    },

    /** Rejects a request. The requester withdraws it the same way. */
    reject: (actor: Actor, id: string): Promise<ChangeRequest> =>
      db.transaction(async (tx) => {
        const request = await lock(tx, id)
        const now = new Date(clock.now())
        const change = JSON.parse(request.body) as { kind: string }
        const kind = kinds.get(change.kind)
        if (request.requested_by_account !== actor.accountId) {
          await assertMayDecide(tx, actor, request, kind, 'reject')
          await kind?.mayApprove?.(tx, actor, change)
        }
        await store.decide(tx, now, id, 'Rejected', actor.userName)
        await kind?.discard?.(tx, change)
        await audit.write(tx, actor, {
          action: 'change.rejected',
          entity: request.title,
          details: `request ${id} of ${request.requested_by}`,
          objects: [{ kind: 'account', name: request.requested_by }],
        })
        return mustExist(await store.one(tx, now, id), 'the request')
      }),
  }
}
