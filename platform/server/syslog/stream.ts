import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Destination } from '#platform/server/destinations.ts'
import { acknowledged, endsOf } from '../tcp-table.ts'
import { SyslogError } from './syslog-error.ts'
import type { SendOptions } from './syslog-options.ts'

/** Bytes per write: single small messages would cost a system call each. */
const chunkBytes = 64 * 1024

/** Frames messages by octet counting (RFC 6587, 3.4.1; RFC 5425, 4.3), several per chunk. */
function* framed(messages: readonly Buffer[]): Generator<Buffer> {
  let parts: Buffer[] = []
  let size = 0
  for (const message of messages) {
    const length = Buffer.from(`${message.length} `)
    parts.push(length, message)
    size += length.length + message.length
    if (size < chunkBytes) continue
    yield Buffer.concat(parts, size)
    parts = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(parts, size)
}

const open = ({ address, ca }: SendOptions, { host, lookup }: Destination): Socket => {
  const where = { host, port: address.port, lookup, allowHalfOpen: true }
  if (address.protocol === 'tcp') return connect(where)
  return connectTls({
    ...where,
    // RFC 6066 forbids an address as server name; the certificate is still checked against it.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca.length === 0 ? {} : { ca: [...ca] }),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
  })
}

/** Writes as fast as the receiver reads. Resolves when the kernel has everything. */
const writeAll = (socket: Socket, messages: readonly Buffer[]): Promise<void> =>
  new Promise((written) => {
    const chunks = framed(messages)
    function write(): void {
      for (let next = chunks.next(); next.done !== true; next = chunks.next())
        if (!socket.write(next.value)) {
          socket.once('drain', write)
          return
        }
      socket.write('', () => written())
    }
    write()
  })

/**
 * Sends a batch over one connection. Syslog has no responses, so the end of the connection is the confirmation. All
 * data has reached the other kernel, our side is closed, and the receiver closes its side. A receiver with unread data
 * resets the connection; one that closes before our side does is not trusted.
 */
export const createStreamSend =
  (options: SendOptions) =>
  async (messages: readonly Buffer[]): Promise<void> => {
    const { address, timeouts, ending, resolve } = options
    const over = new AbortController()
    const { promise, resolve: succeed, reject: fail } = Promise.withResolvers<void>()
    const failing = (fault: 'unreachable' | 'timeout' | 'reset' | 'answered') => () =>
      fail(new SyslogError(fault, address))
    const whole = setTimeout(failing('timeout'), timeouts.wholeMs)
    let isConnected = false
    const connecting = setTimeout(() => failing(isConnected ? 'timeout' : 'unreachable')(), timeouts.connectMs)
    ending.addEventListener('abort', failing('reset'), { signal: over.signal })
    if (ending.aborted) failing('reset')()

    async function run(): Promise<void> {
      const destination = await resolve(address.host)
      if (over.signal.aborted) return
      const socket = open(options, destination)
      over.signal.addEventListener('abort', () => socket.destroy())
      socket.on('error', fail)
      socket.once('connect', () => {
        isConnected = true
      })
      // Another kind of service, such as a web server, reads everything, rejects it and closes as if it had accepted
      // it.
      socket.on('data', failing('answered'))
      const hasEnded = new Promise<void>((ended) => {
        socket.on('end', () => (socket.writableEnded ? ended() : failing('reset')()))
      })
      const hasFinished = new Promise<void>((finished) => void socket.on('finish', finished))
      await new Promise<void>((connected) => {
        socket.once(address.protocol === 'tcp' ? 'connect' : 'secureConnect', connected)
        socket.on('close', () => (socket.writableFinished && socket.readableEnded ? undefined : failing('reset')()))
      })
      clearTimeout(connecting)
      const ends = endsOf(socket)
      await writeAll(socket, messages)
      if (ends !== null) await acknowledged(ends, over.signal)
      socket.end()
      await Promise.all([hasEnded, hasFinished])
      succeed()
    }
    run().catch(fail)
    try {
      await promise
    } finally {
      clearTimeout(whole)
      clearTimeout(connecting)
      over.abort()
    }
  }
