import type { AnyOperation } from '@portcullis/contract'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../app-error.ts'
import { type Actor, assertPermission, assertProfile, systemActor } from './actor.ts'
import { assertFresh } from './fresh.ts'
import type { HttpOptions } from './http-options.ts'
import { isLocalCaller } from './local-caller.ts'
import { isHead } from './our-request.ts'

/** What an account that must change its password still reaches. */
const reachableBeforePasswordChange = new Set(['getProfile', 'getUserDetails', 'updateUserDetails', 'logout'])
/** What an account that lacks a required second factor still reaches. */
const reachableBeforeSecondFactor = new Set([
  ...reachableBeforePasswordChange,
  'getMfa',
  'startTotp',
  'confirmTotp',
  'startPasskey',
  'finishPasskey',
])

const ticketOf = (request: FastifyRequest): string | undefined =>
  request.method === 'GET' ? /[?&]_ticket=([\w-]{1,128})(?:&|$)/.exec(request.raw.url ?? '')?.[1] : undefined

const bearer = /^Bearer +([\w.~+/=-]{1,4096})$/i

const anonymous = (ip: string): Actor => ({
  ...systemActor('anonymous'),
  profile: 30,
  permissions: new Set(),
  ip,
})

/** Finds out who calls, and refuses callers that the operation is not for. Nothing of the body is read before. */
export const createAuthorise = (
  options: Pick<HttpOptions, 'authenticate' | 'redeemTicket' | 'trustedProxies' | 'clock'>,
) => {
  return async function authorise(operation: AnyOperation, request: FastifyRequest): Promise<Actor> {
    const audience = operation.permission
    if (audience === 'public' || audience === 'agent') return anonymous(request.ip)
    const header = request.headers.authorization
    // Behind a proxy of this machine everybody is local: some hand on nothing that shows it.
    const isOpen = operation.openOnLoopback === true && options.trustedProxies.length === 0
    if (isOpen && header === undefined && isLocalCaller(request)) return anonymous(request.ip)
    const token = bearer.exec(header ?? '')?.[1]
    // A ticket is for one download: nothing asks again whether its owner may go on reading a stream, and HEAD downloads
    // nothing.
    const isDownload = header === undefined && operation.responseKind !== 'stream' && !isHead(request)
    const ticket = isDownload ? ticketOf(request) : undefined
    const actor =
      token !== undefined
        ? await options.authenticate(token, request.ip)
        : ticket !== undefined
          ? ((await options.redeemTicket?.(ticket, request.ip)) ?? null)
          : null
    if (actor === null) throw new AppError('unauthorized')
    if (actor.mustChangePassword && !reachableBeforePasswordChange.has(operation.id))
      throw new AppError('password_change_required')
    if (
      actor.secondFactorDueAt !== null &&
      actor.secondFactorDueAt <= options.clock.now() &&
      !reachableBeforeSecondFactor.has(operation.id)
    )
      throw new AppError('second_factor_required')
    assertProfile(actor, audience)
    // Before the scope: no scope opens these operations to a token.
    if (operation.fresh === true) assertFresh(actor, options.clock.now())
    assertPermission(actor, audience)
    return actor
  }
}

export type Authorise = ReturnType<typeof createAuthorise>
