import { createHmac, timingSafeEqual } from 'node:crypto'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import type { StoredRequest } from './change-requests.store.ts'
import { digestOf } from './shown-change.ts'

export type UnsealedRequest = Omit<StoredRequest, 'seal' | 'shown_seal'>

const notAuthentic = (): AppError =>
  new AppError('conflict', { detail: 'This request is not authentic. It was changed in the database.' })

const isSame = (seal: Buffer, expected: Buffer): boolean =>
  seal.length === expected.length && timingSafeEqual(seal, expected)

/** Seals requests. Write access to the database alone cannot change what is carried out, or what an approver reads. */
export const createRequestSeals = (sealKey: Secret<Buffer>) => {
  /** Returns a MAC over everything that is carried out. Write access to the database alone cannot swap the change. */
  const sealOf = (r: UnsealedRequest): Buffer =>
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
          // Without the ciphertext, which changes with the root key. It is bound to the id of the request.
          ...(r.sealed === null ? [] : ['sealed']),
          // The texts that the approver reads. Requests of older servers have no details.
          ...(r.details.length === 0 ? [] : [r.title, r.details]),
        ]),
      )
      .digest()

  /** Returns a MAC over everything that the approver reads. The seal, which earlier releases check, omits some titles. */
  const shownSealOf = (r: Omit<StoredRequest, 'shown_seal'>): Buffer =>
    createHmac('sha256', sealKey.reveal())
      .update(JSON.stringify(['shown', r.seal.toString('hex'), digestOf(r)]))
      .digest()

  function assertAuthentic(request: StoredRequest): void {
    if (!isSame(request.seal, sealOf(request))) throw notAuthentic()
    if (request.shown_seal === null)
      throw new AppError('conflict', {
        detail:
          'A server of an earlier release filed this request and may not show all of it. Reject it, and request the change again.',
      })
    if (!isSame(request.shown_seal, shownSealOf(request))) throw notAuthentic()
  }

  return {
    sealed: (request: UnsealedRequest): StoredRequest => {
      const sealed = { ...request, seal: sealOf(request) }
      return { ...sealed, shown_seal: shownSealOf(sealed) }
    },
    assertAuthentic,
  }
}
