import { createHmac, timingSafeEqual } from 'node:crypto'
import { type ChangeRequest, profileNames, type UserProfile } from '@portcullis/contract'
import type { AuditApi } from '#features/audit/index.ts'
import { AppError, notFound } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import { type Db, type Queryable, type Tx, transactionAgain } from '#platform/db/db.ts'
import type { Envelope } from '#platform/envelope.ts'
import type { Actor } from '#platform/http/actor.ts'
import { isId, newId } from '#platform/ids.ts'
import type { Secret } from '#platform/secret.ts'
import type { ApprovalsStore, Effect, StoredRequest } from './approvals.store.ts'

/** How long a request waits for a second approver. */
const waitMs = 24 * 3_600_000
/** Requests that wait at once: each may name 100,000 hosts. */
const maxWaiting = 50
const listed = 200

/** Runs once the approval is committed: tells caches, wakes workers. */
export type AfterCommit = () => unknown

/** What a feature says about one kind of change that may need a second approver. `Change` has to survive JSON. */
export interface ApprovalKind<Change> {
  action: ChangeRequest['action'] | ((change: Change) => ChangeRequest['action'])
  /** Everything the change does, for the approver: nothing is carried out that the title does not say. */
  title(change: Change): string
  /** Hosts concerned; 0 when the change is about no hosts. */
  hosts?(change: Change): number
  /** Least profile that may approve. Administrator when absent. */
  approver?: UserProfile
  /** Further conditions on the approver; throws to refuse. Runs in the transaction of the approval. */
  mayApprove?(tx: Tx, approver: Actor, change: Change): Promise<void>
  /** Carries the change out in the transaction of the approval; throws to refuse it. `actor` names both people. */
  carryOut(tx: Tx, actor: Actor, change: Change, secret: Secret | null): Promise<AfterCommit | undefined>
}

/** What one person wants to do and may not do alone. */
export interface Wish<Change> {
  kind: string
  change: Change
  /** Part of the change that is stored sealed and never shown, such as a password hash. */
  secret?: Secret | null
  /** Limit that it exceeds, for the message. */
  limit?: number
  /** Sentence of the refusal; `{id}` is replaced by the id of the request. */
  detail?: string
}

export interface ApprovalsDeps {
  db: Db
  clock: Clock
  store: ApprovalsStore
  /** Key of the seals over requests. */
  sealKey: Secret<Buffer>
  envelope: Pick<Envelope, 'seal' | 'open'>
  audit: Pick<AuditApi, 'write'>
  /** Hosts above which one person needs a second approver, as configured; null: off. */
  limit(): Promise<number | null>
}

/** What the sealed part of a request is bound to. */
export const requestContext = (id: string): string => `change request ${id}`

const profileAdministrator: UserProfile = 10

/** The second approver: what one person may not do alone waits here for another one. */
export const createApprovals = ({ db, clock, store, sealKey, envelope, audit, limit }: ApprovalsDeps) => {
  const kinds = new Map<string, ApprovalKind<unknown>>()
  const kindOf = (kind: string): ApprovalKind<unknown> => {
    const found = kinds.get(kind)
    if (found === undefined) throw new AppError('conflict', { detail: `This server knows no changes of kind ${kind}.` })
    return found
  }

  /** Covers everything that is carried out: with the database alone nobody gets another change approved. */
  const sealOf = (r: Omit<StoredRequest, 'seal'>): Buffer =>
    createHmac('sha256', sealKey.reveal())
      .update(
        JSON.stringify([
          r.request_id,
          r.action,
          r.hosts,
          r.body,
          r.requested_by,
          r.requested_by_account,
          r.requested_at.toISOString(),
          r.expires_at.toISOString(),
          // Not the bytes: a new root key seals them again. They are bound to the id of the request.
          ...(r.sealed === null ? [] : ['sealed']),
        ]),
      )
      .digest()

  const isOwn = (request: StoredRequest, actor: Actor): boolean =>
    request.requested_by.toLowerCase() === actor.userName.toLowerCase() ||
    (request.requested_by_account !== null && request.requested_by_account === actor.accountId)

  const file = <Change extends object>(actor: Actor, wish: Wish<Change>): Promise<StoredRequest> =>
    db.transaction(async (tx) => {
      const kind = kindOf(wish.kind)
      const now = new Date(clock.now())
      const body = JSON.stringify({ kind: wish.kind, ...wish.change })
      const twin = await store.waitingTwin(tx, now, actor.userName, body)
      const known = twin === undefined ? undefined : await store.lockWaiting(tx, now, twin)
      if (known !== undefined) return known
      if ((await store.waiting(tx, now)) >= maxWaiting)
        throw new AppError('conflict', { detail: `${maxWaiting} requests are already waiting for a second approver.` })
      const title = kind.title(wish.change)
      const id = newId(clock.now())
      const request: Omit<StoredRequest, 'seal'> = {
        request_id: id,
        action: typeof kind.action === 'function' ? kind.action(wish.change) : kind.action,
        title,
        hosts: kind.hosts?.(wish.change) ?? 0,
        body,
        sealed: wish.secret == null ? null : envelope.seal(wish.secret, requestContext(id)),
        requested_by: actor.userName,
        requested_by_account: actor.accountId,
        requested_at: now,
        expires_at: new Date(clock.now() + waitMs),
      }
      const stored = { ...request, seal: sealOf(request) }
      await store.insert(tx, stored)
      await audit.write(tx, actor, {
        action: 'change.requested',
        entity: title,
        details: `request ${id}`,
        severity: 4,
      })
      return stored
    })

  const lock = async (tx: Tx, id: string): Promise<StoredRequest> => {
    const now = new Date(clock.now())
    const found = isId(id) ? await store.lockWaiting(tx, now, id) : undefined
    if (found !== undefined) return found
    const known = isId(id) ? await store.one(tx, now, id) : undefined
    if (known === undefined) throw notFound('There is no such request.')
    throw new AppError('conflict', { detail: `This request is ${known.state.toLowerCase()} already.` })
  }

  /** The limit in force; null while one person may do it alone. */
  const limitInForce = async (q: Queryable): Promise<number | null> =>
    (await store.isLatched(q, new Date(clock.now()))) ? limit() : null

  const isOver = async (q: Queryable, actor: Actor, effect: Effect, hosts: number, most: number): Promise<boolean> =>
    hosts + (await store.recentlyReleased(q, new Date(clock.now()), effect, actor.userName)) > most

  return {
    /** Registers what a kind of change is called and how it is carried out. */
    handle: <Change>(kind: string, handler: ApprovalKind<Change>): void => {
      kinds.set(kind, handler as ApprovalKind<unknown>)
    },

    /** Whether some changes need a second approver whatever their size: two Administrators exist or have existed. */
    isLatched: (q: Queryable = db): Promise<boolean> => store.isLatched(q, new Date(clock.now())),

    limitInForce,

    /** The limit that releasing so many hosts exceeds; null while one person may do it alone. Notes nothing. */
    exceeds: async (actor: Actor, hosts: number): Promise<number | null> => {
      const most = await limitInForce(db)
      return most !== null && hosts > 0 && (await isOver(db, actor, 'release', hosts, most)) ? most : null
    },

    /** The same, and notes the release when it is allowed: call it right before the release is carried out. */
    release: async (actor: Actor, hosts: number): Promise<number | null> => {
      const most = await limitInForce(db)
      if (most === null || hosts === 0) return null
      return db.transaction(async (tx) => {
        await store.lockReleases(tx, 'release')
        if (await isOver(tx, actor, 'release', hosts, most)) return most
        await store.noteRelease(tx, new Date(clock.now()), 'release', actor.userName, hosts)
        return null
      })
    },

    /**
     * Files what one person may not do alone, in a transaction of its own, and refuses it. Never inside another
     * transaction: the refusal would roll the request back.
     */
    require: async <Change extends object>(actor: Actor, wish: Wish<Change>): Promise<never> => {
      const request = await file(actor, wish)
      const values = { hosts: request.hosts, limit: wish.limit ?? 0, id: request.request_id }
      throw wish.limit === undefined
        ? new AppError('second_person_required', {
            ...values,
            detail: (
              wish.detail ?? 'This needs a second approver: request {id} waits for another Administrator.'
            ).replaceAll('{id}', request.request_id),
          })
        : new AppError('second_person_required', values)
    },

    list: async (): Promise<{ data: ChangeRequest[] }> => ({
      data: await store.recent(new Date(clock.now()), listed),
    }),

    /** Approves a request and carries it out in the same transaction. */
    approve: async (actor: Actor, id: string): Promise<ChangeRequest> => {
      const done = await transactionAgain(db, async (tx) => {
        const request = await lock(tx, id)
        const change = JSON.parse(request.body) as { kind: string }
        const kind = kindOf(change.kind)
        if (isOwn(request, actor))
          throw new AppError('forbidden_object', { detail: 'You made this request. Another person has to approve it.' })
        const least = kind.approver ?? profileAdministrator
        if (actor.profile > least)
          throw new AppError('forbidden_object', {
            detail: `A ${profileNames[actor.profile]} cannot approve this; a ${profileNames[least]} can.`,
          })
        const made = actor.accountId === null ? undefined : await store.accountMade(tx, actor.accountId)
        if (made === undefined || made > request.requested_at)
          throw new AppError('forbidden_object', {
            detail: 'Your account was made after this request. Someone whose account is older has to approve it.',
          })
        if (!timingSafeEqual(sealOf(request), request.seal))
          throw new AppError('conflict', { detail: 'This request is not authentic: it was changed in the database.' })
        await kind.mayApprove?.(tx, actor, change)
        const now = new Date(clock.now())
        await store.decide(tx, now, id, 'Approved', actor.userName)
        const afterCommit = await kind.carryOut(
          tx,
          { ...actor, userName: `${request.requested_by}, approved by ${actor.userName}` },
          change,
          request.sealed === null ? null : envelope.open(request.sealed, requestContext(id)),
        )
        await audit.write(tx, actor, {
          action: 'change.approved',
          entity: request.title,
          details: `request ${id} of ${request.requested_by}`,
          severity: 4,
        })
        return { afterCommit, answer: (await store.one(tx, now, id)) as ChangeRequest }
      })
      await done.afterCommit?.()
      return done.answer
    },

    /** Rejects a request; the requester withdraws it the same way. */
    reject: (actor: Actor, id: string): Promise<ChangeRequest> =>
      db.transaction(async (tx) => {
        const request = await lock(tx, id)
        const now = new Date(clock.now())
        await store.decide(tx, now, id, 'Rejected', actor.userName)
        await audit.write(tx, actor, {
          action: 'change.rejected',
          entity: request.title,
          details: `request ${id} of ${request.requested_by}`,
        })
        return (await store.one(tx, now, id)) as ChangeRequest
      }),
  }
}
