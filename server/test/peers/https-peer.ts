import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { IssuedCertificate } from '../certificates.ts'

export interface Seen {
  /** Milliseconds of a monotonic clock. */
  at: number
  method: string
  /** With the query. */
  path: string
  headers: IncomingMessage['headers']
  body: string
}

export interface Reply {
  status: number
  type?: string
  headers?: Record<string, string>
  body?: string
}

/** Behaviour of a peer: normal, a proxy page, failing, silent, redirecting, or an endless response. */
export type PeerMode = 'ok' | 'page' | 'failing' | 'silent' | 'redirect' | 'flood'

const page = '<!DOCTYPE html><html><head><title>Sign in</title></head><body>Welcome</body></html>'

/** Starts a TLS server that records its requests. */
export const startHttpsPeer = async (
  certificate: IssuedCertificate,
  answer: (seen: Seen) => Reply | Promise<Reply>,
  port = 0,
) => {
  const seen: Seen[] = []
  const sockets = new Set<Socket>()
  const state: { mode: PeerMode } = { mode: 'ok' }

  const send = (response: ServerResponse, { status, type, headers, body }: Reply): void => {
    response.writeHead(status, { ...(type === undefined ? {} : { 'content-type': type }), ...headers })
    response.end(body)
  }
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const one: Seen = {
      at: performance.now(),
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(parts).toString('utf8'),
    }
    seen.push(one)
    if (state.mode === 'silent') return
    if (state.mode === 'page') return send(response, { status: 200, type: 'text/html;charset=utf-8', body: page })
    if (state.mode === 'failing') return send(response, { status: 503, type: 'text/html', body: page })
    if (state.mode === 'redirect') return send(response, { status: 302, headers: { location: 'https://localhost:1/' } })
    if (state.mode === 'flood')
      return send(response, { status: 200, type: 'application/json', body: 'x'.repeat(5_000_000) })
    send(response, await answer(one))
  }
  const server = createServer(certificate, (request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  server.on('secureConnection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const listening = (server.address() as AddressInfo).port
  return {
    seen,
    state,
    port: listening,
    url: `https://localhost:${listening}`,
    close: async (): Promise<void> => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

export const isBasic = (header: string | undefined, user: string, password: string): boolean =>
  header === `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
