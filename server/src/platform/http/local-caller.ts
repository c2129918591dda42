import type { FastifyRequest } from 'fastify'

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
