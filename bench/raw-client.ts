/** A load generator that costs little: bytes made beforehand, one request at a time on each of many connections. */
import { connect, type Socket } from 'node:net'

/** One request and what its answer's body was; false ends this connection's work. */
export interface Work {
  /** The next request's bytes, or undefined when this connection is done. */
  next(): Buffer | undefined
  answered(status: number, body: string, milliseconds: number): void
}

/** Runs `work` over one connection until it has no more. */
const runConnection = (host: string, port: number, work: Work): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket: Socket = connect({ host, port, noDelay: true })
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
    socket.on('connect', send)
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
  })

/** Runs one work per connection, all at once. */
export const runRaw = async (url: string, works: readonly Work[]): Promise<void> => {
  const { hostname, port } = new URL(url)
  await Promise.all(works.map((work) => runConnection(hostname, Number(port), work)))
}
