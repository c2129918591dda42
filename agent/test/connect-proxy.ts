import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Answer of the proxy to CONNECT. Without one, it opens the tunnel. */
export type ProxyAnswer =
  | { status: number; headers?: Record<string, string> }
  /** Accepts the request and never answers. */
  | 'hang'
  | 'cut'
  | 'garbage'
  /** Opens the tunnel and sends bytes of its own first. */
  | 'early-data'

export interface ConnectProxyOptions {
  /** `user:password` that it requires. */
  credentials?: string
  /** Where a target leads instead, by `host:port`. */
  routes?: Readonly<Record<string, string>>
}

/** Starts an HTTP proxy that supports only CONNECT (RFC 9110, section 9.3.6) and fails where a test requests it. */
export const startConnectProxy = async ({ credentials, routes = {} }: ConnectProxyOptions = {}) => {
  const asked: { target: string; authorization: string | undefined }[] = []
  const sockets = new Set<Socket>()
  let answer: ProxyAnswer | undefined
  const server = createServer((_request, response) => response.writeHead(400).end())
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('connect', (request, stream, head) => {
    const socket = stream as Socket
    socket.on('error', () => {})
    const target = request.url ?? ''
    const authorization = request.headers['proxy-authorization']
    asked.push({ target, authorization })
    const refuse = (status: number, headers: Record<string, string> = {}) =>
      socket.end(
        `HTTP/1.1 ${status} Refused\r\n${Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join('')}Content-Length: 0\r\n\r\n`,
      )
    if (answer === 'hang') return
    if (answer === 'cut') return void socket.destroy()
    if (answer === 'garbage') return void socket.end('SSH-2.0-OpenSSH_9.2\r\n')
    if (answer === 'early-data') return void socket.write('HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n')
    if (answer !== undefined) return void refuse(answer.status, answer.headers)
    if (credentials !== undefined && authorization !== `Basic ${Buffer.from(credentials).toString('base64')}`)
      return void refuse(407, { 'Proxy-Authenticate': 'Basic realm="proxy"' })
    const url = new URL(`http://${routes[target] ?? target}`)
    const upstream = connect(Number(url.port), url.hostname.replace(/^\[|\]$/g, ''), () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.write(head)
      socket.pipe(upstream).pipe(socket)
    })
    sockets.add(upstream)
    upstream.on('error', () => refuse(502))
    upstream.on('close', () => socket.destroy())
    socket.on('close', () => upstream.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  function cut(): void {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    cut()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    /** Sets the answer to the following requests. */
    answerWith(next: ProxyAnswer | undefined): void {
      answer = next
    },
    /** Ends all connections, as a proxy that restarts. */
    cut,
  }
}
