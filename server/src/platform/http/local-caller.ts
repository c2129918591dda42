import type { FastifyRequest } from 'fastify'

/** 127.0.0.0/8, as such or as an IPv4-mapped address in the form that URLs have. */
const loopbackHost = /^(?:localhost\.?|127\.\d+\.\d+\.\d+|\[::1\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])$/

/**
 * Whether a Host header names this machine. Only names that never leave the machine count: with DNS rebinding, a web page
 * could make any other name resolve to it.
 */
const isLoopbackHost = (host: string): boolean => {
  if (!/^[\w.:[\]-]+$/.test(host)) return false
  try {
    return loopbackHost.test(new URL(`http://${host}`).hostname)
  } catch {
    return false
  }
}

const loopbackPeer = /^(?:::ffff:)?127\.|^::1$/
const forwardingHeaders = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

/** Whether the caller is on this machine, and no proxy here passed the request on: then the caller could be anywhere. */
export const isLocalCaller = ({ headers, raw }: FastifyRequest): boolean =>
  loopbackPeer.test(raw.socket.remoteAddress ?? '') &&
  isLoopbackHost(headers.host ?? '') &&
  forwardingHeaders.every((name) => headers[name] === undefined)
