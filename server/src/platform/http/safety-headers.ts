/** What keeps an answer from being more than it is in a browser: on every answer, also those that meet no route. */
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

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

/** Whether bytes of this connection are encrypted by this server. */
export const isEncrypted = (socket: Duplex): boolean => 'encrypted' in socket && socket.encrypted === true

/** Text of an answer without a body that is written past Node's own server. */
export const bareAnswer = (socket: Duplex, status: number): string =>
  [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'connection: close',
    'content-length: 0',
    ...Object.entries(safetyHeaders(isEncrypted(socket))).map(([name, value]) => `${name}: ${value}`),
    '\r\n',
  ].join('\r\n')

/** Answers what Node's parser refuses. */
export const answerUnreadable = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const status = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400
  if (socket.writable) socket.write(bareAnswer(socket, status))
  socket.destroy(error)
}
