import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { IssuedCertificate } from '../certificates.ts'
import type { Seen } from './https-peer.ts'

export type WebhookReply =
  | { status: number; headers?: Record<string, string>; body?: string }
  /** Never answers. */
  | 'hang'
  /** Resets the connection after the request. */
  | 'reset'
  /** Sends the head of a response with 200, but never ends it. */
  | 'slow'

export interface WebhookReceiverOptions {
  /** Without it, the receiver speaks plain HTTP, which the server allows only with `outboundAllow: ['127.0.0.0/8']`. */
  certificate?: IssuedCertificate
  /** Answers to the first requests. Further requests get 204. */
  replies?: readonly WebhookReply[]
  port?: number
}

/** Starts a webhook receiver on 127.0.0.1 that records its requests. `state.always` answers after the last reply. */
export const startWebhookReceiver = async ({ certificate, replies = [], port = 0 }: WebhookReceiverOptions = {}) => {
  const seen: Seen[] = []
  /** Sockets by client port. They are below TLS, which cannot reset a connection. */
  const raw = new Map<number, Socket>()
  const state: { next: WebhookReply[]; always: WebhookReply } = { next: [...replies], always: { status: 204 } }
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    seen.push({
      at: performance.now(),
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(parts).toString('utf8'),
    })
    const reply = state.next.shift() ?? state.always
    if (reply === 'hang') return
    if (reply === 'reset') raw.get(request.socket.remotePort ?? 0)?.resetAndDestroy()
    else if (reply === 'slow') response.writeHead(200).write('x')
    else response.writeHead(reply.status, reply.headers).end(reply.body)
  }
  const listener = (request: IncomingMessage, response: ServerResponse): void =>
    void handle(request, response).catch(() => response.destroy())
  const server = certificate === undefined ? createServer(listener) : createTlsServer(certificate, listener)
  server.on('connection', (socket: Socket) => {
    const { remotePort = 0 } = socket
    raw.set(remotePort, socket)
    socket.on('error', () => {})
    socket.on('close', () => raw.delete(remotePort))
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const listening = (server.address() as AddressInfo).port
  return {
    seen,
    state,
    port: listening,
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${listening}/hook`,
    close: async (): Promise<void> => {
      for (const socket of raw.values()) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
