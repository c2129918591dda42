/** Generates load at low cost: prepared bytes, and one request at a time on each of many connections. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectTls, createSecureContext } from 'node:tls'

/** Supplies the requests of one connection and receives the responses. */
export interface Work {
  /** Returns the bytes of the next request, or undefined when this connection is done. */
  next(): Buffer | undefined
  answered(status: number, body: string, milliseconds: number): void
}

/** Returns a function that opens connections, over TLS if a CA is given. */
const openerOf = (url: string, ca: string | undefined): (() => Promise<Socket>) => {
  const { hostname: host, port } = new URL(url)
  const target = { host, port: Number(port) }
  // Created once, because a context per connection would parse the CA hundreds of times.
  const secureContext = ca === undefined ? undefined : createSecureContext({ ca })
  return async () => {
    const socket =
      secureContext === undefined ? connect({ ...target, noDelay: true }) : connectTls({ ...target, secureContext })
    await once(socket, secureContext === undefined ? 'connect' : 'secureConnect')
    return socket
  }
}

/** Sends one request over a connection and returns the response. */
const askOnce = (socket: Socket, bytes: Buffer): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    let pending = ''
    const closed = (): void => reject(new Error('the server closed a connection that was in use'))
    const onData = (chunk: Buffer): void => {
      pending += chunk.toString('latin1')
      const answer = answerIn(pending)
      if (answer === undefined) return
      socket.off('data', onData).off('error', reject).off('close', closed)
      resolve(answer)
    }
    socket.on('data', onData).on('error', reject).on('close', closed)
    socket.write(bytes)
  })

/** Returns the first response in the received data, once it is complete. */
const answerIn = (text: string): { status: number; body: string } | undefined => {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const at = text.search(/content-length: /i)
  const length = at < 0 ? 0 : Number.parseInt(text.slice(at + 16, at + 26), 10)
  return text.length < head + 4 + length ? undefined : { status: Number(text.slice(9, 12)), body: text.slice(head + 4) }
}

/** Runs `work` over one connection until it has no more requests. */
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
      const answer = answerIn(pending)
      if (answer === undefined) return
      pending = ''
      work.answered(answer.status, answer.body, performance.now() - sentAt)
      send()
    })
    socket.on('error', reject)
    socket.on('close', () => {
      if (!isDone) reject(new Error('the server closed a connection that was in use'))
    })
    send()
  })

/**
 * Runs one work per connection, all at once, over TLS if a CA is given. Calls `ready` when every connection is open, so
 * that handshakes are not measured.
 */
export const runRaw = async (
  url: string,
  ca: string | undefined,
  works: readonly Work[],
  ready: () => void,
): Promise<void> => {
  const sockets = await Promise.all(works.map(openerOf(url, ca)))
  ready()
  await Promise.all(works.map((work, i) => runConnection(sockets[i] as Socket, work)))
}

/** Like `runRaw`, but opens a connection for each request. The time includes the connection and the handshake. */
export const runFresh: typeof runRaw = async (url, ca, works, ready) => {
  const open = openerOf(url, ca)
  ready()
  await Promise.all(
    works.map(async (work) => {
      for (let bytes = work.next(); bytes !== undefined; bytes = work.next()) {
        const startedAt = performance.now()
        const socket = await open()
        const { status, body } = await askOnce(socket, bytes)
        work.answered(status, body, performance.now() - startedAt)
        socket.destroy()
      }
    }),
  )
}

/**
 * Runs each work at a steady rate, `perSecond` requests over one connection. Times start when a request is due, so that a
 * stalled server does not receive fewer requests.
 */
export const runPaced = async (
  url: string,
  ca: string | undefined,
  works: readonly Work[],
  perSecond: number,
  seconds: number,
): Promise<void> => {
  const sockets = await Promise.all(works.map(openerOf(url, ca)))
  const startedAt = performance.now()
  await Promise.all(
    works.map(async (work, lane) => {
      const socket = sockets[lane] as Socket
      // Spread the start times.
      const offset = (lane / works.length / perSecond) * 1_000
      for (let n = 0; n < perSecond * seconds; n++) {
        const dueAt = startedAt + offset + (n / perSecond) * 1_000
        const wait = dueAt - performance.now()
        if (wait > 0) await pause(wait)
        const bytes = work.next()
        if (bytes === undefined) break
        const { status, body } = await askOnce(socket, bytes)
        work.answered(status, body, performance.now() - dueAt)
      }
      socket.destroy()
    }),
  )
}
