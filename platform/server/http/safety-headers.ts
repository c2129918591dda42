/** Security headers for browsers, on every response, with or without a route. */
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { hangUp } from './cut.ts'

const headers: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), usb=()',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
}
const headersOverTls: Readonly<Record<string, string>> = { ...headers, 'strict-transport-security': 'max-age=31536000' }

export const safetyHeaders = (isTls: boolean): Readonly<Record<string, string>> => (isTls ? headersOverTls : headers)

/** Returns whether this server encrypts the connection. */
export const isEncrypted = (socket: Duplex): boolean => 'encrypted' in socket && socket.encrypted === true

/** Returns the text of a response without a body, for writing past Node's own server. */
export const bareAnswer = (socket: Duplex, status: number): string =>
  [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'connection: close',
    'content-length: 0',
    ...Object.entries(safetyHeaders(isEncrypted(socket))).map(([name, value]) => `${name}: ${value}`),
    '\r\n',
  ].join('\r\n')

/** Answers requests that Node's parser rejects. */
export const answerUnreadable = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const status = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400
  hangUp(socket, bareAnswer(socket, status))
}
