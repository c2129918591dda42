import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ChangeRequest, PolicySettings } from '@portcullis/contract'
import type { AuditApi } from '#features/audit/index.ts'
import { AppError, notFound } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import { type Db, type Queryable, type Tx, transactionAgain } from '#platform/db/db.ts'
import type { Actor } from '#platform/http/actor.ts'
import { isId, newId } from '#platform/ids.ts'
import type { Secret } from '#platform/secret.ts'
import { createChangeRequestsStore, type StoredRequest } from './change-requests.store.ts'

/** What a request carries out when it is approved. */
export type Change =
  | { kind: 'configuration'; items: ConfigurationItem[] }
  | { kind: 'bulk'; action: 'free' | 'delete'; uuids: string[] }
  | { kind: 'settings'; settings: PolicySettings }
  | { kind: 'revert'; rollout: RevertedRollout }

/** A rollout whose hosts are freed, as it was when it was asked for. */
export interface RevertedRollout {
  rolloutId: string
  name: string
  hosts: number
}

/** One host of `configuration`, resolved. */
export interface ConfigurationItem {
  uuid: string
  mode: 'Armed' | 'Free' | null
  approveAll: boolean
  applyToPresent: boolean
}

/** How long a request waits for a second person. */
const waitMs = 24 * 3_600_000
/** Requests that wait at once: each may name 100,000 hosts. */
const maxWaiting = 50
const listed = 200

export interface ChangeRequestsDeps {
  db: Db
  clock: Clock
  /** Key of the seals. */
  sealKey: Secret<Buffer>
  audit: Pick<AuditApi, 'write'>
  /** Hosts above which a second person is needed; null when that is off. */
  secondPersonAbove(): Promise<number | null>
}

const hostsText = (n: number): string => `${n} ${n === 1 ? 'host' : 'hosts'}`
const administrator = 10

/** All that a request carries out, in words: who approves it approves nothing that is not said here. */
const titleOf = (change: Change): string => {
  if (change.kind === 'settings') {
    const { twoPersonHosts } = change.settings
    return twoPersonHosts === null
      ? 'Never ask a second person'
      : `Ask a second person above ${hostsText(twoPersonHosts)} only`
  }
  if (change.kind === 'revert')
    return `Free ${hostsText(change.rollout.hosts)}: take rollout ${change.rollout.name} back`
  if (change.kind === 'bulk') return `${change.action === 'free' ? 'Free' : 'Delete'} ${hostsText(change.uuids.length)}`
  const parts = [
    ['Free', change.items.filter((item) => item.mode === 'Free').length],
    ['arm', change.items.filter((item) => item.mode === 'Armed').length],
    ['approve what is attached to', change.items.filter((item) => item.approveAll).length],
  ] as const
  return parts.flatMap(([verb, n]) => (n === 0 ? [] : [`${verb} ${hostsText(n)}`])).join(', ')
}

/**
 * Approval of a second person for what could disarm a fleet: freeing or deleting many hosts, and asking for that less
 * often. It guards against a slip and against one stolen session. Who can make accounts can make himself a second
 * person, though not for a request that waits already.
 */
export const createChangeRequests = ({ db, clock, sealKey, audit, secondPersonAbove }: ChangeRequestsDeps) => {
  const store = createChangeRequestsStore(db)

  /** Over all that is carried out: who can write to the database alone can not have a request approved for something else. */
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
        ]),
      )
      .digest()

  const isOwn = (request: StoredRequest, actor: Actor): boolean =>
    request.requested_by.toLowerCase() === actor.userName.toLowerCase() ||
    (request.requested_by_account !== null && request.requested_by_account === actor.accountId)

  const file = (actor: Actor, action: ChangeRequest['action'], hosts: number, change: Change): Promise<string> =>
    db.transaction(async (tx) => {
      const now = new Date(clock.now())
      const body = JSON.stringify(change)
      const twin = await store.waitingTwin(tx, now, actor.userName, body)
      if (twin !== undefined) return twin
      if ((await store.waiting(tx, now)) >= maxWaiting)
        throw new AppError('conflict', { detail: `${maxWaiting} requests wait for a second person already.` })
      const title = titleOf(change)
      const request: Omit<StoredRequest, 'seal'> = {
        request_id: newId(clock.now()),
        action,
        title,
        hosts,
        body,
        requested_by: actor.userName,
        requested_by_account: actor.accountId,
        requested_at: now,
        expires_at: new Date(clock.now() + waitMs),
      }
      await store.insert(tx, { ...request, seal: sealOf(request) })
      await audit.write(tx, actor, {
        action: 'change.requested',
        entity: title,
        details: `request ${request.request_id}`,
        severity: 4,
      })
      return request.request_id
    })

  const lock = async (tx: Tx, id: string): Promise<StoredRequest> => {
    const now = new Date(clock.now())
    const found = isId(id) ? await store.lockWaiting(tx, now, id) : undefined
    if (found !== undefined) return found
    const known = isId(id) ? await store.one(tx, now, id) : undefined
    if (known === undefined) throw notFound('There is no such request.')
    throw new AppError('conflict', { detail: `This request is ${known.state.toLowerCase()} already.` })
  }

  const isOver = async (q: Queryable, actor: Actor, hosts: number, limit: number): Promise<boolean> =>
    hosts + (await store.recentlyReleased(q, new Date(clock.now()), actor.userName)) > limit

  return {
    /**
     * Whether one person may release so many hosts alone: null, else the limit. What he released in the last quarter of
     * an hour counts too, so that many small steps are as much as a large one.
     */
    needsSecondPerson: async (actor: Actor, hosts: number): Promise<number | null> => {
      const limit = await secondPersonAbove()
      return limit !== null && hosts > 0 && (await isOver(db, actor, hosts, limit)) ? limit : null
    },

    /** The same, and notes the release where it is allowed: to be called right before it is carried out. */
    release: async (actor: Actor, hosts: number): Promise<number | null> => {
      const limit = await secondPersonAbove()
      if (limit === null || hosts === 0) return null
      return db.transaction(async (tx) => {
        await store.lockReleases(tx, actor.userName)
        if (await isOver(tx, actor, hosts, limit)) return limit
        await store.noteRelease(tx, new Date(clock.now()), actor.userName, hosts)
        return null
      })
    },

    /** Files what one person may not do alone, and refuses it. */
    refuse: async (
      actor: Actor,
      action: ChangeRequest['action'],
      hosts: number,
      limit: number,
      change: Change,
    ): Promise<never> => {
      const id = await file(actor, action, hosts, change)
      throw new AppError('second_person_required', { hosts, limit, id })
    },

    /** Refuses, and files, settings by which a second person would be asked less often. */
    refuseSettings: async (actor: Actor, settings: PolicySettings): Promise<never> => {
      const id = await file(actor, 'settings', 0, { kind: 'settings', settings })
      throw new AppError('second_person_required', {
        detail: `Asking a second person less often needs one: request ${id} waits for the approval of another Administrator.`,
      })
    },

    list: async (): Promise<{ data: ChangeRequest[] }> => ({
      data: await store.recent(new Date(clock.now()), listed),
    }),

    /** Approves a request and carries it out in the same transaction, by `carryOut`. */
    approve: (
      actor: Actor,
      id: string,
      carryOut: (tx: Tx, actor: Actor, change: Change) => Promise<void>,
    ): Promise<ChangeRequest> =>
      transactionAgain(db, async (tx) => {
        const request = await lock(tx, id)
        if (isOwn(request, actor))
          throw new AppError('forbidden_object', { detail: 'Another person has to approve this: you asked for it.' })
        if (request.action === 'settings' && actor.profile > administrator)
          throw new AppError('forbidden_object', { detail: 'An Administrator has to approve this.' })
        const made = actor.accountId === null ? undefined : await store.accountMade(tx, actor.accountId)
        if (made === undefined || made > request.requested_at)
          throw new AppError('forbidden_object', {
            detail: 'Your account was made after this was asked for: somebody who was there before has to approve it.',
          })
        if (!timingSafeEqual(sealOf(request), request.seal))
          throw new AppError('conflict', { detail: 'This request is not authentic: it was changed in the database.' })
        const now = new Date(clock.now())
        await store.decide(tx, now, id, 'Approved', actor.userName)
        await carryOut(
          tx,
          { ...actor, userName: `${request.requested_by}, approved by ${actor.userName}` },
          JSON.parse(request.body) as Change,
        )
        await audit.write(tx, actor, {
          action: 'change.approved',
          entity: request.title,
          details: `request ${id} of ${request.requested_by}`,
          severity: 4,
        })
        return (await store.one(tx, now, id)) as ChangeRequest
      }),

    /** Rejects a request; who asked for it may take it back so. */
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

export type ChangeRequests = ReturnType<typeof createChangeRequests>
