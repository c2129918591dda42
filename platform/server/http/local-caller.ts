import { createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Secret } from '../secret.ts'

/** Access of callers on this machine to operations that are open on loopback. */
export interface LocalAccess {
  /** Returns whether they need no token, because everything that reaches the server is from this machine. */
  isOpen(): boolean
  /** Key of the proofs by which programs with access to the key file are admitted otherwise. */
  key: Secret<Buffer>
}

/** Purpose of `LocalAccess.key`. */
export const localAccessPurpose = 'local access'

const proofMs = 60_000

/** Returns a bearer token that proves access to the key file for the current and the next minute. */
export const localProof = (key: Secret<Buffer>, now: number): string =>
  `local.${createHmac('sha256', key.reveal())
    .update(String(Math.floor(now / proofMs)))
    .digest('hex')}`

/** Returns whether a bearer token proves access to the key file. */
export const isLocalProof = (token: string, key: Secret<Buffer>, now: number): boolean => {
  const given = Buffer.from(token)
  return [now, now - proofMs].some((at) => {
    const wanted = Buffer.from(localProof(key, at))
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  })
}

/** Returns whether a server that listens on this host is reachable only from this machine. */
export const isLoopbackHost = (host: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)

/**
 * Host headers that name this machine. Only names that always resolve locally count: with DNS rebinding, a web page
 * could make any other name resolve to it. No client needs other spellings of loopback addresses.
 */
const loopbackHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i

const loopbackPeer = /^(?:::ffff:)?127\.|^::1$/
const forwardingHeaders = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

/** Returns whether the caller is on this machine and no local proxy forwarded the request from elsewhere. */
export const isLocalCaller = ({ headers, raw }: FastifyRequest): boolean =>
  loopbackPeer.test(raw.socket.remoteAddress ?? '') &&
  loopbackHost.test(headers.host ?? '') &&
  forwardingHeaders.every((name) => headers[name] === undefined)
