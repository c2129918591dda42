import type { FastifyRequest } from 'fastify'
import type { AnyOperation } from '../../contract/operation.ts'
import { AppError } from '../app-error.ts'
import { type Actor, assertPermission, assertProfile, systemActor } from './actor.ts'
import { credentialSeen } from './connections.ts'
import { assertFresh } from './fresh.ts'
import type { HttpOptions } from './http-options.ts'
import { isLocalCaller, isLocalProof } from './local-caller.ts'
import { isHead } from './our-request.ts'

/** Operations for an account that must change its password. */
const reachableBeforePasswordChange = new Set(['getProfile', 'getUserDetails', 'updateUserDetails', 'logout'])
/** Operations for an account that lacks a required second factor. */
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

const anonymous = ({ ip, id }: FastifyRequest): Actor => ({
  ...systemActor('anonymous'),
  profile: 30,
  permissions: new Set(),
  ip,
  requestId: id,
})

/** Identifies the caller and rejects callers without access, before anything of the body is read. */
export const createAuthorise = (
  options: Pick<HttpOptions, 'authenticate' | 'redeemTicket' | 'localAccess' | 'clock'>,
) => {
  return async function authorise(operation: AnyOperation, request: FastifyRequest): Promise<Actor> {
    const audience = operation.permission
    if (audience === 'public' || audience === 'agent') return anonymous(request)
    const header = request.headers.authorization
    const token = bearer.exec(header ?? '')?.[1]
    if (operation.openOnLoopback === true && isLocalCaller(request)) {
      const { isOpen, key } = options.localAccess
      if (header === undefined ? isOpen() : token !== undefined && isLocalProof(token, key, options.clock.now()))
        return anonymous(request)
    }
    // A ticket is valid for one download: a stream would outlive the check of its owner, and HEAD downloads nothing.
    const isDownload = header === undefined && operation.responseKind !== 'stream' && !isHead(request)
    const ticket = isDownload ? ticketOf(request) : undefined
    const actor =
      token !== undefined
        ? await options.authenticate(token, request.ip)
        : ticket !== undefined
          ? ((await options.redeemTicket?.(ticket, request.ip)) ?? null)
          : null
    if (actor === null) throw new AppError('unauthorized')
    if (actor.accountId !== null && actor.credentialId !== null)
      credentialSeen(request.raw.socket, { credential: actor.credentialId, account: actor.accountId })
    if (actor.mustChangePassword && !reachableBeforePasswordChange.has(operation.id))
      throw new AppError('password_change_required')
    if (
      actor.secondFactorDueAt !== null &&
      actor.secondFactorDueAt <= options.clock.now() &&
      !reachableBeforeSecondFactor.has(operation.id)
    )
      throw new AppError('second_factor_required')
    assertProfile(actor, audience)
    // Before the scope, because no scope gives a token access to these operations.
    if (operation.fresh === true) assertFresh(actor, options.clock.now())
    assertPermission(actor, audience)
    return { ...actor, requestId: request.id }
  }
}

export type Authorise = ReturnType<typeof createAuthorise>
