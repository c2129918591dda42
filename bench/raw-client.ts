/** A load generator that costs little: bytes made beforehand, one request at a time on each of many connections. */
import { connect, type Socket } from 'node:net'
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls'

/** One request and what its answer's body was; false ends this connection's work. */
export interface Work {
  /** The next request's bytes, or undefined when this connection is done. */
  next(): Buffer | undefined
  answered(status: number, body: string, milliseconds: number): void
}

const open = (host: string, port: number, secureContext: SecureContext | undefined): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket: Socket =
      secureContext === undefined ? connect({ host, port, noDelay: true }) : connectTls({ host, port, secureContext })
    socket.once('error', reject)
    socket.once(secureContext === undefined ? 'connect' : 'secureConnect', () => {
      socket.removeListener('error', reject)
      resolve(socket)
    })
  })

/** Runs `work` over one connection until it has no more. */
const runConnection = (socket: Socket, work: Work): Promise<void> =>
  new Promise((resolve, reject) => {
    let sentAt = 0
    let pending = ''
    let isDone = false
    const send = (): void => {
      const bytes = work.next()
      if (bytes === undefined) {
        isDone = true
        socket.end()
        resolve()
        return
      }
      sentAt = performance.now()
      socket.write(bytes)
    }
    socket.on('data', (chunk: Buffer) => {
      pending = pending === '' ? chunk.toString('latin1') : pending + chunk.toString('latin1')
      const head = pending.indexOf('\r\n\r\n')
      if (head < 0) return
      const at = pending.search(/content-length: /i)
      const length = at < 0 ? 0 : Number.parseInt(pending.slice(at + 16, at + 26), 10)
      if (pending.length < head + 4 + length) return
      const status = Number(pending.slice(9, 12))
      const body = pending.slice(head + 4)
      pending = ''
      work.answered(status, body, performance.now() - sentAt)
      send()
    })
    socket.on('error', reject)
    socket.on('close', () => {
      if (!isDone) reject(new Error('the server closed a connection that was in use'))
    })
    send()
  })

/**
 * Runs one work per connection, all at once; over TLS when a CA is given. `ready` is called when every connection stands,
 * so that handshakes are not measured.
 */
export const runRaw = async (
  url: string,
  ca: string | undefined,
  works: readonly Work[],
  ready: () => void,
): Promise<void> => {
  const { hostname, port } = new URL(url)
  // Made once: a context per connection would parse the CA hundreds of times.
  const secureContext = ca === undefined ? undefined : createSecureContext({ ca })
  const sockets = await Promise.all(works.map(() => open(hostname, Number(port), secureContext)))
  ready()
  await Promise.all(works.map((work, i) => runConnection(sockets[i] as Socket, work)))
}
